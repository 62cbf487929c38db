"""`ctxsift init HOST`: puts our entry into the settings of an agent's program, and takes it out again."""

from __future__ import annotations

from ctxsift.cli.parser import Parser
from ctxsift.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ctxsift.cli.host_settings import Entry, Host, Settings
    from ctxsift.cli.signals import Signals

SUBCOMMAND = "init"
EXIT_REFUSED = 1
_KNOWN = ("claude", "codex", "gemini")

_EPILOG = """\
examples:
  ctxsift init claude
  ctxsift init claude --lost
  ctxsift init claude --dry-run
  ctxsift init codex --project
  ctxsift init claude --uninstall

Adds one entry that calls this ctxsift by its absolute path; with --lost, two. Running the command again does not add an
entry twice. --uninstall removes both. The file is
  claude  ~/.claude/settings.json ($CLAUDE_CONFIG_DIR), with --project .claude/settings.json
  codex   ~/.codex/hooks.json ($CODEX_HOME), with --project .codex/hooks.json
  gemini  ~/.gemini/settings.json, with --project .gemini/settings.json
The rest of the file stays unchanged, byte for byte. A copy of the previous file is saved as FILE.ctxsift.bak.

exit code: 0 done, or nothing to do; 2 the arguments are wrong
  1  nothing was changed, because the file is not valid JSON, has comments, is a link that leads
     outside its folder, has hooks in an unknown shape, or cannot be written
"""


def add_parser(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add this subcommand."""
    one = commands.add_parser(SUBCOMMAND, help="add ctxsift hook to the settings of an agent", epilog=_EPILOG)
    one.set_defaults(handler=run)
    one.add_argument("host", choices=_KNOWN, metavar="HOST", help=", ".join(_KNOWN))
    one.add_argument("--project", action="store_true", help="change the settings of the project in this folder only")
    what = one.add_mutually_exclusive_group()
    what.add_argument(
        "--print", action="store_true", dest="printed", help="print the entry so that you can add it by hand"
    )
    what.add_argument("--uninstall", action="store_true", help="remove the entry that ctxsift added")
    one.add_argument(
        "--lost",
        action="store_true",
        help="claude: also add the entry that tells the agent what each compaction dropped (ctxsift lost --hook)",
    )
    one.add_argument("--dry-run", action="store_true", help="show what would change, without changing anything")


def run(options: argparse.Namespace, command: list[str], signals: Signals) -> int:
    """Change the settings; return the exit code that the help tells."""
    from ctxsift.cli.passing import note

    del command, signals
    try:
        _run(options)
    except InputError as error:
        note(str(error))
        return EXIT_REFUSED
    except OSError as error:
        note(f"{error.filename or 'the settings'}: cannot be written ({error.strerror or error}); nothing is changed")
        return EXIT_REFUSED
    return 0


def _run(options: argparse.Namespace) -> None:
    from ctxsift.cli.host_settings import HOSTS, alone, command_for, read_settings, settings_path
    from ctxsift.terminal import show, show_json

    host = HOSTS[options.host]
    entries = _entries(host, lost=options.lost)
    if options.printed:
        show_json({"hooks": {each.event: [each.with_command(command_for(each))] for each in entries}})
        return
    path = settings_path(host, project=options.project)
    if options.dry_run or (options.uninstall and not path.parent.is_dir()):
        show(_changed(read_settings(host, path), entries, options))
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with alone(path.parent):
        show(_changed(read_settings(host, path), entries, options))


def _entries(host: Host, *, lost: bool) -> list[Entry]:
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


def _changed(settings: Settings, entries: list[Entry], options: argparse.Namespace) -> str:
    """Change settings, unless that is only to be told; return what there is to say."""
    from ctxsift.cli.host_settings import add_entries, command_for, remove_entries

    would = "would be " if options.dry_run else ""
    if options.uninstall:
        if not settings.ours:
            return f"{settings.path}: no entry of ours is there"
        if not options.dry_run:
            remove_entries(settings)
        return f"{settings.path}: {would}removed: {', '.join(place.command for place in settings.ours)}"
    wanted = {each: command_for(each) for each in entries}
    new = {each: command for each, command in wanted.items() if settings.commands(each) != [command]}
    if new and not options.dry_run:
        add_entries(settings, new)
    return "\n".join(_told(settings, each, command, would, new=each in new) for each, command in wanted.items())


def _told(settings: Settings, entry: Entry, command: str, would: str, *, new: bool) -> str:
    if not new:
        return f"{settings.path}: our entry is there already: {command}"
    instead = f", in place of {', '.join(settings.commands(entry))}" if settings.commands(entry) else ""
    return f"{settings.path}: {would}added, for {settings.host.title} {entry.says}: {command}{instead}"
