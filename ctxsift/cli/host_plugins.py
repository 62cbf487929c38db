"""Plug-ins for programs whose results no command can replace: one file each, in the program's plug-in folder.

A file begins with a line that says it is ours and holds the hash of the rest, so that what a person has changed since
is neither written over nor deleted.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from ctxsift.cli.host_settings import placed, told_program
from ctxsift.errors import InputError
from ctxsift.files import read_bytes, write_atomically

_SOURCES = Path(__file__).with_name("plugins")
_SHARED = "ask.js"
_FILE = "ctxsift.js"
_MOST_MB = 1
_MARK = re.compile(rb"// Written by `ctxsift init ([a-z]+)`; `--uninstall` deletes it\. sha256: ([0-9a-f]{64})\n")
# Placeholders of the sources, which are code that runs as it is.
_PROGRAM, _COMPACTS = 'PROGRAM = "CTXSIFT";', "COMPACTS = false;"
_PROGRAM_OF = re.compile(r"^const PROGRAM = (.*);$", re.MULTILINE)
_BY_HAND = "move it away, then retry; `ctxsift init HOST --print` prints the plug-in"


@dataclass(frozen=True)
class PluginHost:
    """A program that loads our plug-in.

    Attributes:
        name: as `ctxsift hook` takes it; also how the program is started.
        variable: of the environment, that names a folder, and what in there the program's own is.
        folder: the program's own, in the home folder.
        of_project: the same in a project.
        plugins: where plug-ins are, in that folder.
        compacts: the program takes a summary of ours at a compaction.

    """

    name: str
    title: str
    variable: str
    within: str
    folder: str
    of_project: str
    plugins: str
    compacts: bool = False


PLUGIN_HOSTS = {
    host.name: host
    for host in (
        PluginHost("pi", "Pi", "PI_CODING_AGENT_DIR", "", ".pi/agent", ".pi", "extensions", compacts=True),
        PluginHost("opencode", "OpenCode", "XDG_CONFIG_HOME", "opencode", ".config/opencode", ".opencode", "plugins"),
    )
}


@dataclass(frozen=True)
class Installed:
    """What is at the place of a plug-in.

    Attributes:
        path: of the file itself, no link.
        content: of the file; None where there is none.

    """

    host: PluginHost
    path: Path
    content: bytes | None

    @property
    def is_ours(self) -> bool:
        """Whether we wrote it, for this program, and nobody changed it since."""
        return _rest(self.host, self.content or b"") is not None

    @property
    def program(self) -> str | None:
        """The path of the ctxsift that it calls; None where it is not ours."""
        found = _PROGRAM_OF.search((_rest(self.host, self.content or b"") or b"").decode(errors="replace"))
        return str(json.loads(found[1])) if found else None

    @property
    def compacts(self) -> bool:
        """Whether it makes summaries."""
        return b"\nconst COMPACTS = true;\n" in (self.content or b"")


def plugin_path(host: PluginHost, *, project: bool, to_write: bool = True) -> Path:
    """Return where our plug-in is, for this project (the working folder) or for all.

    Args:
        host: the program.
        project: for this project alone.
        to_write: so that a link may not lead elsewhere.

    Raises:
        InputError: the file is elsewhere; or there is no home folder.

    """

    def place() -> tuple[Path, Path]:
        if project:
            return Path.cwd(), Path(host.of_project, host.plugins, _FILE)
        given = os.environ.get(host.variable)
        return Path(given) / host.within if given else Path.home() / host.folder, Path(host.plugins, _FILE)

    return placed(place, host.title, "folder", to_write=to_write)


def read_plugin(host: PluginHost, path: Path) -> Installed:
    """Return what is at a place. Raises InputError where that is no file, or is too large."""
    return Installed(host, path, read_bytes(path, _BY_HAND, most_mb=_MOST_MB) if os.path.lexists(path) else None)


def plugin_text(host: PluginHost, *, compacts: bool) -> bytes:
    """Return the whole plug-in, which calls this ctxsift by its whole path. Raises InputError where that has none."""
    shared, own = ((_SOURCES / name).read_text() for name in (_SHARED, f"{host.name}.js"))
    text = f"{shared}\n{own}".replace(_PROGRAM, f"PROGRAM = {json.dumps(told_program())};", 1)
    if compacts:
        text = text.replace(_COMPACTS, "COMPACTS = true;", 1)
    rest = text.encode()
    mark = f"// Written by `ctxsift init {host.name}`; `--uninstall` deletes it. sha256: {_digest(rest)}\n"
    return mark.encode() + rest


def refuse_foreign(installed: Installed) -> None:
    """Raise InputError where a file is there that is not ours, or no longer."""
    if installed.content is not None and not installed.is_ours:
        problem = "was changed since ctxsift wrote it" if _MARK.match(installed.content) else "is not ours"
        raise InputError(str(installed.path), f"{problem}; it stays as it is", _BY_HAND)


def add_plugin(installed: Installed, text: bytes) -> None:
    """Write a plug-in in place of ours. Raises OSError; InputError as `refuse_foreign` does."""
    refuse_foreign(installed)
    write_atomically(installed.path, text)


def remove_plugin(installed: Installed) -> None:
    """Delete our plug-in. Raises OSError; InputError as `refuse_foreign` does."""
    refuse_foreign(installed)
    installed.path.unlink()


def _rest(host: PluginHost, content: bytes) -> bytes | None:
    """Return what follows the first line, if that is ours and nothing was changed."""
    mark = _MARK.match(content)
    if mark is None or mark[1].decode() != host.name:
        return None
    rest = content[mark.end() :]
    return rest if _digest(rest) == mark[2].decode() else None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
