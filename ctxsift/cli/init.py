"""`ctxsift init HOST`: puts our entry, or a plug-in, where an agent's program looks for it, and takes it out again."""

from __future__ import annotations

from ctxsift.cli.parser import CommandParser
from ctxsift.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ctxsift.cli.host_plugins import Installed
    from ctxsift.cli.host_settings import HookEntry, Host, HostSettings
    from ctxsift.cli.signals import Signals

SUBCOMMAND = "init"
EXIT_REFUSED = 1
_PLUGINS = ("pi", "opencode")
_KNOWN = ("claude", "codex", "gemini", *_PLUGINS)

_DESCRIPTION = "Add a hook that runs ctxsift to the settings of a coding agent (HOST)."
_EPILOG = """\
examples:
  ctxsift init claude
  ctxsift init claude --lost
  ctxsift init claude --dry-run
  ctxsift init codex --project
  ctxsift init pi --compact
  ctxsift init claude --uninstall

Adds a hook entry that calls this ctxsift by its absolute path, and with --lost a second entry. Running the command
again does not add an entry twice. --uninstall removes both entries. The entries go into
  claude  ~/.claude/settings.json (or in $CLAUDE_CONFIG_DIR, if set); with --project: .claude/settings.json
  codex   ~/.codex/hooks.json (or in $CODEX_HOME, if set); with --project: .codex/hooks.json
  gemini  ~/.gemini/settings.json; with --project: .gemini/settings.json
The rest of the file stays unchanged, byte for byte. A copy of the previous file is saved as FILE.ctxsift.bak.

Pi and OpenCode load a plug-in instead, from a separate file:
  pi        ~/.pi/agent/extensions/ctxsift.js (or extensions/ctxsift.js in $PI_CODING_AGENT_DIR, if set);
            with --project: .pi/extensions/ctxsift.js
  opencode  ~/.config/opencode/plugins/ctxsift.js (or opencode/plugins/ctxsift.js in $XDG_CONFIG_HOME, if set);
            with --project: .opencode/plugins/ctxsift.js
If you change this file, ctxsift neither replaces nor deletes it.

exit code: 0 success, or there was nothing to do; 2 the arguments are wrong
  1  nothing was changed, because the file is not valid JSON, contains comments, is a link to a
     location outside its folder, has hooks in an unknown format, is no longer the plug-in that ctxsift
     wrote, or could not be written to
"""


def add_parser(commands: argparse._SubParsersAction[CommandParser]) -> None:
    """Add this subcommand."""
    one = commands.add_parser(
        SUBCOMMAND, help="add the ctxsift hook to an agent", description=_DESCRIPTION, epilog=_EPILOG
    )
    one.set_defaults(handler=run)
    one.add_argument("host", choices=_KNOWN, metavar="HOST", help=", ".join(_KNOWN))
    one.add_argument("--project", action="store_true", help="change only the settings of the project in this folder")
    what = one.add_mutually_exclusive_group()
    what.add_argument(
        "--print",
        action="store_true",
        dest="printed",
        help="print the hook entry or plug-in so that you can add it by hand",
    )
    what.add_argument("--uninstall", action="store_true", help="remove what ctxsift added")
    one.add_argument(
        "--lost",
        action="store_true",
        help="claude: also add the hook entry that tells the agent what each compaction dropped (ctxsift lost --hook)",
    )
    one.add_argument(
        "--compact",
        action="store_true",
        help="pi: also write the summary at each compaction by rules, as ctxsift compact does",
    )
    one.add_argument("--dry-run", action="store_true", help="show what would change, without changing anything")


def run(options: argparse.Namespace, command: list[str], signals: Signals) -> int:
    """Change the settings; return the exit code that the help tells."""
    from ctxsift.cli.passing import note

    del command, signals
    try:
        _run_plugin(options) if options.host in _PLUGINS else _run(options)
    except InputError as error:
        note(str(error))
        return EXIT_REFUSED
    except OSError as error:
        note(f"{error.filename or 'the settings'}: cannot be written ({error.strerror or error}); nothing is changed")
        return EXIT_REFUSED
    return 0


def _run(options: argparse.Namespace) -> None:
    from ctxsift.cli.host_settings import HOSTS, alone, command_for, read_settings, settings_path
    from ctxsift.terminal import show_json

    host = HOSTS[options.host]
    if options.compact:
        raise InputError("--compact", f"{host.title} does not accept another program's summary", "leave it out")
    entries = _entries(host, lost=options.lost)
    if options.printed:
        show_json({"hooks": {each.event: [each.with_command(command_for(each))] for each in entries}})
        return
    path = settings_path(host, project=options.project)
    if options.dry_run or (options.uninstall and not path.parent.is_dir()):
        _say(_changed(read_settings(host, path), entries, options))
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with alone(path.parent):
        _say(_changed(read_settings(host, path), entries, options))


def _run_plugin(options: argparse.Namespace) -> None:
    from ctxsift.cli.host_plugins import PLUGIN_HOSTS, plugin_path, plugin_text, read_plugin
    from ctxsift.cli.host_settings import alone
    from ctxsift.terminal import show

    host = PLUGIN_HOSTS[options.host]
    if options.lost:
        raise InputError("--lost", f"{host.title} cannot ask what a compaction dropped", "leave it out")
    if options.compact and not host.compacts:
        raise InputError("--compact", f"{host.title} does not accept another program's summary", "leave it out")
    if options.printed:
        show(plugin_text(host, compacts=options.compact).decode().removesuffix("\n"))
        return
    path = plugin_path(host, project=options.project)
    if options.dry_run or (options.uninstall and not path.parent.is_dir()):
        _say(_changed_plugin(read_plugin(host, path), options))
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with alone(path.parent):
        _say(_changed_plugin(read_plugin(host, path), options))


def _changed_plugin(installed: Installed, options: argparse.Namespace) -> list[str]:
    """Change a plug-in, unless that is only to be told; return what there is to say, line by line."""
    from ctxsift.cli.host_plugins import add_plugin, plugin_text, refuse_foreign, remove_plugin

    would, path = "would be " if options.dry_run else "", installed.path
    refuse_foreign(installed)
    if options.uninstall:
        if installed.content is None:
            return [f"{path}: ctxsift's plug-in is not there"]
        if not options.dry_run:
            remove_plugin(installed)
        return [f"{path}: {would}removed"]
    text = plugin_text(installed.host, compacts=options.compact or installed.compacts)
    if installed.content == text:
        return [f"{path}: the plug-in is already installed"]
    if not options.dry_run:
        add_plugin(installed, text)
    summaries = " and at each compaction" if options.compact or installed.compacts else ""
    instead = ", in place of an older one" if installed.content is not None else ""
    title = installed.host.title
    added = f"{path}: {would}added, for {title} after each command of its shell{summaries}{instead}"
    return [added, f"{title} loads its plug-ins when it starts; restart it"]


def _say(lines: list[str]) -> None:
    from ctxsift.terminal import in_line, show

    for line in lines:
        # A path may hold a line break.
        show(in_line(line, limit=len(line)))


def _entries(host: Host, *, lost: bool) -> list[HookEntry]:
    """Return the entries that are asked for. Raises InputError where one of them cannot be."""
    if not lost:
        return [host.hook]
    if host.lost is None:
        raise InputError("--lost", f"{host.title} cannot ask what a compaction dropped", "leave it out")
    if not has_command(host.lost.words[0]):
        raise InputError(
            "--lost", "this ctxsift has no command `lost`", "install ctxsift-bench, which brings it, or leave it out"
        )
    return [host.hook, host.lost]


def has_command(name: str) -> bool:
    """Say whether an installed package brings a subcommand of this name."""
    from importlib.metadata import entry_points

    from ctxsift.cli.main import GROUP

    return bool(entry_points(group=GROUP, name=name))


def _changed(settings: HostSettings, entries: list[HookEntry], options: argparse.Namespace) -> list[str]:
    """Change settings, unless that is only to be told; return what there is to say, line by line."""
    from ctxsift.cli.host_settings import add_entries, command_for, remove_entries

    would = "would be " if options.dry_run else ""
    if options.uninstall:
        if not settings.ours:
            return [f"{settings.path}: no hook of ctxsift is installed"]
        if not options.dry_run:
            remove_entries(settings)
        return [f"{settings.path}: {would}removed: {', '.join(place.command for place in settings.ours)}"]
    wanted = {each: command_for(each) for each in entries}
    new = {each: command for each, command in wanted.items() if not settings.has(each, command)}
    if new and not options.dry_run:
        add_entries(settings, new)
    told = [_told(settings, each, command, would, new=each in new) for each, command in wanted.items()]
    return [*told, *(settings.host.after if new else ())]


def _told(settings: HostSettings, entry: HookEntry, command: str, would: str, *, new: bool) -> str:
    if not new:
        return f"{settings.path}: the hook is already installed: {command}"
    instead = f", in place of {', '.join(settings.commands(entry))}" if settings.commands(entry) else ""
    return f"{settings.path}: {would}added, for {settings.host.title} {entry.says}: {command}{instead}"
