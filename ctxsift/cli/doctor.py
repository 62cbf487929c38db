"""`ctxsift doctor`: whether output would be shortened here, and where not, why not."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from ctxsift.cli.parser import SWITCH, CommandParser
from ctxsift.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import Any

    from ctxsift.cli.host_plugins import PluginHost
    from ctxsift.cli.host_settings import Host
    from ctxsift.cli.signals import Signals

SUBCOMMAND = "doctor"
EXIT_PROBLEM = 1

_EPILOG = f"""\
The command checks
  the version and path of ctxsift, and whether {SWITCH}=0 switches it off here
  whether full outputs can be stored, by writing a file to their folder and deleting it
  each agent: whether it is installed, whether its settings (for all projects, and for the project in this folder)
  contain the ctxsift entry, and whether the program that the entry calls exists
  whether ctxsift hook works, by calling it once for each agent with a test output that is not stored

A dash marks what is missing; agents that are not installed on this machine share one line. ctxsift doctor does not
change any settings, and does not run the command in any entry.

exit code: 0 no problem found, even if no agent has the entry; 2 the arguments are wrong
  1  something is wrong; the line marked WRONG says what
"""


@dataclass(frozen=True)
class DoctorFinding:
    """What was found out about something.

    Attributes:
        ok: nothing is wrong with it.
        absent: it is not there, which is no fault.
        agent: the program that it is about; empty where it is about ctxsift itself.
        is_test: it is what our hook answered.
        values: for who reads JSON.

    """

    about: str
    ok: bool
    says: str
    values: dict[str, Any] = field(default_factory=dict)
    absent: bool = False
    agent: str = ""
    is_test: bool = False

    @property
    def mark(self) -> str:
        """For a person."""
        return "WRONG" if not self.ok else "-" if self.absent else "ok"


# Said behind the title of an agent.
_AWAY = " is not on the PATH"


def add_parser(commands: argparse._SubParsersAction[CommandParser]) -> None:
    """Add this subcommand."""
    one = commands.add_parser(SUBCOMMAND, help="check whether ctxsift works here", epilog=_EPILOG)
    one.set_defaults(handler=run)
    one.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(options: argparse.Namespace, command: list[str], signals: Signals) -> int:
    """Print what is found; return the exit code that the help tells."""
    from ctxsift.terminal import show_columns, show_json

    del command
    found = list(_findings(signals))
    ok = all(each.ok for each in found)
    if options.json:
        found_values = [{"about": each.about, "ok": each.ok, "says": each.says} | each.values for each in found]
        show_json({"ok": ok, "findings": found_values})
    else:
        show_columns([(each.about, each.mark, each.says) for each in _for_people(found)])
    return 0 if ok else EXIT_PROBLEM


def _for_people(found: Sequence[DoctorFinding]) -> Iterator[DoctorFinding]:
    """Yield findings; agents of which nothing is here, and with which nothing is wrong, share the last line."""
    of_agents: dict[str, list[DoctorFinding]] = {}
    for each in found:
        if each.agent:
            of_agents.setdefault(each.agent, []).append(each)
        else:
            yield each
    away = []
    for findings in of_agents.values():
        # A hook that answers says nothing about whether its agent is here.
        if all(each.ok and (each.absent or each.is_test) for each in findings):
            away.append(findings[0])
        else:
            yield from findings
    if away:
        names = ", ".join(each.says.removesuffix(_AWAY).partition(":")[0] for each in away)
        passed = " (their self-tests passed)" if any(each.is_test for each in found) else ""
        says = f"not on the PATH, and without settings of ctxsift: {names}{passed}"
        yield DoctorFinding("other agents", True, says, absent=True)


def _findings(signals: Signals) -> Iterator[DoctorFinding]:
    from ctxsift.cli.host_plugins import PLUGIN_HOSTS
    from ctxsift.cli.host_settings import HOSTS

    yield _program()
    off = os.environ.get(SWITCH) == "0"
    says = "is set: ctxsift shortens nothing" if off else "is not set"
    yield DoctorFinding("switch", True, f"{SWITCH}=0 {says}", {"off": off})
    yield _store()
    hosts: list[Host | PluginHost] = [*HOSTS.values(), *PLUGIN_HOSTS.values()]
    for host in hosts:
        yield _host(host)
        yield from _settings(host)
        if signals.first is None:
            yield _self_test(host)


def _program() -> DoctorFinding:
    from ctxsift import __version__
    from ctxsift.cli.host_settings import own_program

    try:
        path = str(own_program())
    except InputError as error:
        return DoctorFinding("ctxsift", False, f"{__version__}; {error}", {"version": __version__, "path": None})
    return DoctorFinding("ctxsift", True, f"{__version__}, {path}", {"version": __version__, "path": path})


def _store() -> DoctorFinding:
    from ctxsift import raw_store

    try:
        folder = str(raw_store.folder())
    except OSError as error:
        return DoctorFinding("store", False, f"has no place ({error.strerror or error}); no output is shortened")
    try:
        raw_store.check()
        found = raw_store.entries()
    except OSError as error:
        says = f"{folder} cannot be written to ({error.strerror or error}); no output is shortened"
        return DoctorFinding("store", False, says, {"folder": folder})
    size = sum(each.size for each in found)
    says = f"{folder} can be written to; it holds {len(found):,} of {raw_store.MOST_FILES} outputs, {size:,} bytes"
    return DoctorFinding("store", True, says, {"folder": folder, "outputs": len(found), "bytes": size})


def _host(host: Host | PluginHost) -> DoctorFinding:
    import shutil

    path = shutil.which(host.name)
    says = f"{host.title}: {path}" if path else f"{host.title}{_AWAY}"
    return DoctorFinding(host.name, True, says, {"path": path}, absent=path is None, agent=host.name)


def _settings(host: Host | PluginHost) -> Iterator[DoctorFinding]:
    """Yield what each file of a program's settings, or place of a plug-in, holds of ours."""
    from ctxsift.cli.host_plugins import PluginHost, plugin_path
    from ctxsift.cli.host_settings import settings_path

    seen = set()
    for about, project in ((f"{host.name} settings", False), (f"{host.name} project", True)):
        init = f"ctxsift init {host.name}{' --project' if project else ''}"
        try:
            if isinstance(host, PluginHost):
                path = plugin_path(host, project=project, to_write=False)
                ok, says, commands = _plugin(host, path, init)
            else:
                path = settings_path(host, project=project, to_write=False)
                ok, says, commands = _entry(host, path, init)
            if path not in seen:
                values = {"settings": str(path), "commands": commands}
                absent = ok and not commands
                yield DoctorFinding(about, ok, f"{path}: {says}", values, absent=absent, agent=host.name)
            seen.add(path)
        except InputError as error:
            yield DoctorFinding(about, False, str(error), agent=host.name)


def _plugin(host: PluginHost, path: Path, init: str) -> tuple[bool, str, list[str]]:
    """Return whether all is well with our plug-in, in words too, and what it calls. Raises InputError."""
    import shutil

    from ctxsift.cli.host_plugins import plugin_text, read_plugin

    installed = read_plugin(host, path)
    if installed.content is None:
        return True, "there is no such file", []
    if not installed.is_ours:
        return True, "the file is not ours, or was changed; ctxsift leaves it as it is", []
    program = installed.program or ""
    if shutil.which(program) is None:
        return False, f"the plug-in calls a program that does not exist: {program}; run {init}", [program]
    if installed.content != plugin_text(host, compacts=installed.compacts):
        return (
            True,
            f"the plug-in is installed, but of another version or for another ctxsift; {init} replaces it",
            [program],
        )
    return True, f"the plug-in is installed{', with compaction' if installed.compacts else ''}: {program}", [program]


def _entry(host: Host, path: Path, init: str) -> tuple[bool, str, list[str]]:
    """Return whether all is well with our entry in a file, in words too, and its commands. Raises InputError."""
    from ctxsift.cli.host_settings import program_in, read_settings
    from ctxsift.cli.init import has_command

    settings = read_settings(host, path)
    commands = [place.command for place in settings.ours]
    if settings.content is None:
        return True, "there is no such file", commands
    if not commands:
        return True, "no hook is installed", commands
    for entry in host.entries:
        found = settings.commands(entry)
        remedy = f"{init} --lost" if entry == host.lost else init
        if len(found) > 1:
            return False, f"the hook is installed {len(found)} times; {remedy} makes it one", commands
        if found and program_in(found[0]) is None:
            return False, f"the hook calls a command that does not exist: {found[0]}; run {remedy}", commands
        if found and not (settings.has(entry, found[0]) and found[0].endswith(entry.otherwise)):
            return False, f"the hook is not the one that this release adds; run {remedy}", commands
    if host.lost is not None and settings.commands(host.lost) and not has_command(host.lost.words[0]):
        return False, "the hook calls ctxsift lost, which is not installed", commands
    if settings.root.get("disableAllHooks") is True:
        return False, "the hook is installed, but disableAllHooks switches it off", commands
    return True, f"the hook is installed: {', '.join(commands)}", commands


def _self_test(host: Host | PluginHost) -> DoctorFinding:
    from ctxsift.cli.self_test import answer_time

    try:
        took = answer_time(host.name)
    except (OSError, ValueError) as error:
        return DoctorFinding(f"{host.name} self-test", False, f"failed: {error}", agent=host.name, is_test=True)
    says, values = f"passed in {took:.2f} s", {"seconds": round(took, 3)}
    return DoctorFinding(f"{host.name} self-test", True, says, values, agent=host.name, is_test=True)
