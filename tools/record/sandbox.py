"""Runs commands where a recording takes place: in namespaces whose paths, user and host name are the same everywhere.

/home, /tmp and the names of users and hosts are those of the recording; what would give the machine away is covered.
Every command has processes of its own: what it leaves in the background ends with it.
"""

from __future__ import annotations

import os
import selectors
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxsift.errors import InputError

HOME, USER, HOST = "/home/dev", "dev", "devbox"
MOST_BYTES = 30_000
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_ENVIRONMENT = {
    "HOME": HOME,
    "USER": USER,
    "LOGNAME": USER,
    "SHELL": "/bin/bash",
    "TERM": "dumb",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_AUTHOR_NAME": "Dev",
    "GIT_AUTHOR_EMAIL": "dev@example.invalid",
    "GIT_COMMITTER_NAME": "Dev",
    "GIT_COMMITTER_EMAIL": "dev@example.invalid",
}
_ETC = {
    "passwd": f"root:x:0:0:root:/:/bin/sh\n{USER}:x:1000:1000:{USER}:{HOME}:/bin/bash\n",
    "group": f"root:x:0:\n{USER}:x:1000:\n",
    "hosts": f"127.0.0.1 localhost\n::1 localhost\n127.0.1.1 {HOST}\n",
    "hostname": f"{HOST}\n",
}
# A recorder that is killed leaves nothing behind.
_NAMESPACES = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--user", "--map-user=1000", "--map-group=1000", "--keep-caps", "--mount", "--propagation=private"),
    *("--uts", "--pid", "--fork", "--kill-child", "--mount-proc", "bash"),
)
_READY = b"ready\n"


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a command.

    Attributes:
        output: of both streams, in the order in which it was written; its middle is left out where it is long.
        exit_code: of bash; None if its time was over.
        seconds: of wall time.
        folder: in which the shell ended; None if it did not say.

    """

    output: str
    exit_code: int | None
    seconds: float
    folder: str | None


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A place to run commands in.

    Attributes:
        root: holds `home`, `tmp` and `etc`, which stand in for those of the machine.
        environment: variables besides the usual ones.
        tools: folders of the machine, by the path below HOME where commands find them.
        search: folders below HOME that come first in PATH.
        covered: folders of the machine that commands see empty.

    """

    root: Path
    environment: Mapping[str, str]
    tools: Mapping[str, str]
    search: Sequence[str]
    covered: Sequence[str]

    def prepare(self) -> None:
        """Make the folders and files that stand in for those of the machine. Raises OSError."""
        for folder in (f"home/{USER}", "tmp", "etc", *(f"home/{USER}/{target}" for target in self.tools)):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        for name, text in _ETC.items():
            (self.root / "etc" / name).write_text(text)

    def outside(self, path: str) -> Path | None:
        """Return where a path of the sandbox lies on the machine; None for one that is not the recording's own."""
        resolved = os.path.normpath(path)
        if not resolved.startswith((f"{HOME}/", "/tmp/")):
            return None
        own, found = self.root.resolve(), (self.root / resolved[1:]).resolve()
        return found if found.is_relative_to(own) else None

    def run(self, command: str, folder: str, time_limit: float) -> Ran:
        """Run a command with bash.

        Args:
            command: source for bash.
            folder: where it begins, as the sandbox names it.
            time_limit: seconds, after which it is ended.

        Raises:
            InputError: the sandbox cannot be made on this machine.

        """
        began = time.monotonic()
        told, tell = os.pipe()
        try:
            with subprocess.Popen(
                _NAMESPACES,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(tell,),
                env={"PATH": _SYSTEM_PATH},
                start_new_session=True,
            ) as process:
                try:
                    os.close(tell)
                    assert process.stdin is not None
                    process.stdin.write(self._script(command, folder, tell).encode())
                    process.stdin.close()
                    output, ended = _collected(process, began + time_limit)
                finally:
                    # Whatever is left in the namespaces goes with it.
                    process.kill()
            with os.fdopen(os.dup(told), "rb") as pipe:
                said = pipe.read()
        except OSError as error:
            raise InputError("unshare", f"cannot be started ({error})", "install util-linux 2.38 or newer") from error
        finally:
            os.close(told)
        if not said.startswith(_READY):
            problem = f"namespaces cannot be made ({output.strip()})"
            raise InputError("unshare", problem, "allow user namespaces to this user")
        after = said.removeprefix(_READY).decode().removesuffix("\n") or None
        seconds = round(time.monotonic() - began, 3)
        return Ran(output, process.returncode if ended else None, seconds, after)

    def _script(self, command: str, folder: str, tell: int) -> str:
        variables = _ENVIRONMENT | {"PATH": self._path()} | dict(self.environment)
        told = " ".join(shlex.quote(f"{name}={value}") for name, value in variables.items())
        inner = f'trap "pwd >&{tell}" EXIT; __command=$1; shift; eval "$__command"'
        drop = "setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all"
        return "\n".join(
            (
                "set -e",
                *(f"mount --rbind {shlex.quote(source)} {target}" for source, target in self._mounts()),
                *(f"mount -t tmpfs none {shlex.quote(each)}" for each in self.covered),
                f"hostname {HOST}",
                f"cd {shlex.quote(folder)}",
                f"printf 'ready\\n' >&{tell}",
                "set +e",
                f"env -i {told} {drop} bash -c {shlex.quote(inner)} bash {shlex.quote(command)} </dev/null",
                "exit $?",
            )
        )

    def _mounts(self) -> Iterator[tuple[str, str]]:
        for target, source in self.tools.items():
            yield source, shlex.quote(str(self.root / "home" / USER / target))
        yield from ((str(self.root / "etc" / name), f"/etc/{name}") for name in _ETC)
        # The one that covers the root of the recording itself comes last.
        for own in sorted(("/home", "/tmp"), key=lambda each: self.root.resolve().is_relative_to(each)):
            yield f"{self.root}{own}", own

    def _path(self) -> str:
        return ":".join((*(f"{HOME}/{each}" for each in self.search), _SYSTEM_PATH))


def _collected(process: subprocess.Popen[bytes], deadline: float) -> tuple[str, bool]:
    """Return the output of a process, and whether it ended before the deadline (by time.monotonic)."""
    assert process.stdout is not None
    half = MOST_BYTES // 2
    head, tail, total = bytearray(), bytearray(), 0
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if not selector.select(left):
                continue
            part = os.read(process.stdout.fileno(), 1 << 16)
            if not part:
                process.wait()
                return _cut(head, tail, total), True
            total += len(part)
            room = half - len(head)
            head += part[:room]
            tail += part[room:]
            del tail[:-half]
    return _cut(head, tail, total), False


def _cut(head: bytes | bytearray, tail: bytes | bytearray, total: int) -> str:
    left_out = total - len(head) - len(tail)
    if not left_out:
        return (head + tail).decode("utf-8", "replace")
    middle = f"\n\n[... {left_out} bytes of output left out ...]\n\n"
    return head.decode("utf-8", "replace") + middle + tail.decode("utf-8", "replace")
