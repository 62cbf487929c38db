"""`ctxsift init HOST`: puts our entry into the settings of an agent's program, and takes it out again."""

from __future__ import annotations

from ctxsift.cli.parser import Parser
from ctxsift.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ctxsift.cli.host_settings import Host, Settings
    from ctxsift.cli.signals import Signals

SUBCOMMAND = "init"
EXIT_REFUSED = 1
_KNOWN = ("claude", "codex", "gemini")

_EPILOG = """\
examples:
  ctxsift init claude
  ctxsift init claude --dry-run
  ctxsift init codex --project
  ctxsift init claude --uninstall

Adds one entry that calls this ctxsift by its absolute path. Running the command again does not add a second entry. The
file is
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
    from ctxsift.cli.host_settings import HOSTS, alone, command_for, entry, read_settings, settings_path
    from ctxsift.terminal import show, show_json

    host = HOSTS[options.host]
    if options.printed:
        show_json({"hooks": {host.event: [entry(host, command_for(host))]}})
        return
    path = settings_path(host, project=options.project)
    if options.dry_run or (options.uninstall and not path.parent.is_dir()):
        show(_changed(read_settings(host, path), host, options))
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with alone(path.parent):
        show(_changed(read_settings(host, path), host, options))


def _changed(settings: Settings, host: Host, options: argparse.Namespace) -> str:
    """Change settings, unless that is only to be told; return what there is to say."""
    from ctxsift.cli.host_settings import add_entry, command_for, remove_entries

    would = "would be " if options.dry_run else ""
    if options.uninstall:
        if not settings.ours:
            return f"{settings.path}: no entry of ours is there"
        if not options.dry_run:
            remove_entries(settings)
        return f"{settings.path}: {would}removed: {', '.join(settings.commands)}"
    command = command_for(host)
    if settings.commands == [command]:
        return f"{settings.path}: our entry is there already: {command}"
    if not options.dry_run:
        add_entry(settings, command)
    instead = f", in place of {', '.join(settings.commands)}" if settings.ours else ""
    return f"{settings.path}: {would}added, for {host.title} after each command of its shell: {command}{instead}"
