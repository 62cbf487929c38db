"""Results as one page: `python -m benchmark.viewer --open results/`."""

from __future__ import annotations

import argparse
import sys
import threading
import webbrowser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmark.analysis.retention import RetentionBoard, RetentionJudge, retention_boards
from benchmark.cli.command import (
    EXIT_OK,
    EXIT_USAGE,
    PACKAGED_RESULTS,
    PUBLISHED_RESULTS,
    BenchmarkParser,
    add_shown_results,
    command_parser,
    run_command,
    settle_shown_results,
)
from benchmark.matrix import Track
from benchmark.record.paths import journals_below, result_beside
from benchmark.record.read import ForeignFileError, iterate_results
from benchmark.record.status import RunState, StatusReader
from benchmark.record.validity import MEASURED, Validity
from benchmark.render.figures import counted
from benchmark.viewer.compaction_data import is_probe_file, read_runs
from benchmark.viewer.page_data import Gathered, gather
from benchmark.viewer.publishing import PAGE, checked_url, description, head_of, publish, refuse_foreign
from benchmark.viewer.stress_data import is_stress_file, read_stress_files, write_stress_charts
from benchmark.viewer.validity_data import recorded
from ctxsift.errors import InputError
from ctxsift.files import exists, refuse_input, write_atomically
from ctxsift.terminal import show, tell

_OFFER = "run a benchmark first (make bench), or show the runs that ship with it: python -m benchmark.viewer --open"
_EXAMPLES = """\
  python -m benchmark.viewer --open                        (results/, or the runs that ship with the benchmark)
  python -m benchmark.viewer --open results/
  python -m benchmark.viewer results/ ../other-machine/results/ -o both.html
  python -m benchmark.viewer results/ --png charts/        (writes the charts as files; no browser needed)
  python -m benchmark.viewer --open published              (the 28 published results)
  python -m benchmark.viewer --open results/probes.json    (compaction methods, measured by probes)
  python -m benchmark.viewer results/ --publish site/      (a folder for a web server, with a preview image)
  python -m benchmark.viewer --watch --open results/       (while runs are in progress, until Ctrl-C)

The page is one self-contained file and does not make any network requests. It works from disk, as an e-mail attachment
or as a CI artifact.
"""


def build_parser() -> BenchmarkParser:
    """Return the parser of this command."""
    parser = command_parser(
        "viewer",
        "Show results as one self-contained HTML page, or write its charts as files.",
        examples=_EXAMPLES,
        exit_codes="0 success, 1 stdout could not be written to, 2 bad usage or input, or a result is left out",
    )
    add_shown_results(parser)
    parser.add_argument("--open", action="store_true", help="open the page in your browser")
    parser.add_argument(
        "--watch",
        action="store_true",
        help="serve the page on this machine only, with the state of all runs, and rebuild it when a result arrives",
    )
    parser.add_argument("--port", type=int, metavar="N", help="with --watch: listen on port N; default: any free one")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write the page to FILE; default: viewer.html in the first PATH, or next to it if that PATH is a file "
        "(in the current folder for results that ship with the benchmark)",
    )
    pictures = parser.add_mutually_exclusive_group()
    pictures.add_argument(
        "--png", type=Path, metavar="DIR", help="write the charts as PNG files to DIR instead of a page"
    )
    pictures.add_argument(
        "--svg", type=Path, metavar="DIR", help="write the charts as SVG files to DIR instead of a page"
    )
    pictures.add_argument(
        "--publish",
        type=Path,
        metavar="DIR",
        help="write the page to DIR/index.html for a web server, with an image and text for link previews; DIR must "
        "be new or empty, or contain a page written by --publish",
    )
    parser.add_argument(
        "--url",
        metavar="URL",
        help="with --publish: the URL at which DIR will be served, e.g. https://example.org/bench/; most link "
        "previews show the image only if they get its full URL",
    )
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 on bad usage or input, a result that was left out included."""
    return run_command(build_parser(), _run, argv, on_os_error=_cannot_write)


def _cannot_write(options: argparse.Namespace, error: OSError) -> tuple[str, int]:
    target = options.png or options.svg or options.publish or _target(options)
    return f"{target}: cannot be written ({error.strerror or error}); name another file or folder", EXIT_USAGE


def _check(options: argparse.Namespace) -> None:
    """Raise InputError for options that make no sense together."""
    if (options.png or options.svg) and (options.open or options.output):
        raise InputError("--png and --svg", "write charts instead of a page", "leave out --open and -o")
    if options.url is not None and options.publish is None:
        raise InputError("--url", "needs --publish", "add --publish DIR, or leave out --url")
    if options.publish and options.output:
        raise InputError("--publish", "writes a folder", "leave out -o")
    if options.port is not None and not options.watch:
        raise InputError("--port", "needs --watch", "add --watch, or leave out --port")


def _run(options: argparse.Namespace) -> int:
    _check(options)
    url = options.url and checked_url(options.url)
    settle_shown_results(options)
    if options.watch:
        return _watch(options)
    if options.publish:
        refuse_foreign(options.publish)
    skipped: list[InputError] = []
    unread: list[InputError] = []
    gathered = _gathered(options.paths, skipped, unread)
    damaged = any(not isinstance(error, ForeignFileError) for error in skipped)
    skipped += _unfinished(options.paths) + unread
    for error in skipped:
        tell(f"skipped: {error}")
    drawn = gathered.shown or gathered.stressed
    if not drawn and (options.png or options.svg or not gathered.probed):
        raise _nothing(options.paths)
    if options.png or options.svg:
        _draw(gathered, options)
    else:
        _build(gathered, skipped, options, url or "")
    return EXIT_USAGE if damaged else EXIT_OK


def _not_of_runs(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Return which paths are results of probes, and which are files of stress experiments."""
    files = [path for path in paths if path.is_file()]
    return [file for file in files if is_probe_file(file)], [file for file in files if is_stress_file(file)]


def _gathered(paths: Sequence[Path], skipped: list[InputError], unread: list[InputError]) -> Gathered:
    """Return what paths hold, results of probes and files of stress experiments included.

    Args:
        paths: results trees, run folders, results of any kind.
        skipped: what is wrong with files that are left out is added to it.
        unread: the same of the measurement of the scorer.

    """
    probes, stress = _not_of_runs(paths)
    refused: list[InputError] = []
    others = [path for path in paths if path not in (*probes, *stress)]
    gathered = gather(iterate_results(others, skip=refused.append), _measured(unread))
    # Only what is no ordinary result is looked at once more.
    foreign = _not_of_runs([Path(error.where) for error in refused if isinstance(error, ForeignFileError)])
    probes, stress = probes + foreign[0], stress + foreign[1]
    # A folder of nothing else is no empty one.
    told = {str(each) for path in (*probes, *stress) for each in (path, *path.parents)}
    skipped += [error for error in refused if error.where not in told]
    return replace(gathered, probed=read_runs(probes, skipped), stressed=read_stress_files(stress, skipped))


def _nothing(paths: Sequence[Path]) -> InputError:
    names = " ".join(map(str, paths))
    return InputError(names, "contains no result file that can be shown", _OFFER)


def _watch(options: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    from benchmark.viewer.watching import Watcher, WatchServer

    if options.png or options.svg or options.output or options.publish:
        raise InputError("--watch", "writes no file", "leave out -o, --png, --svg and --publish")
    watcher = Watcher(tuple(options.paths), lambda: _page_now(options.paths), tell)
    try:
        server = WatchServer(watcher, options.port or 0)
    except (OSError, OverflowError) as error:
        problem = f"cannot be listened on ({getattr(error, 'strerror', None) or error})"
        raise InputError(f"--port {options.port}", problem, "name another port, or leave it out") from error
    with server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        show(f"{server.address}  (this machine only; Ctrl-C ends it)")
        sys.stdout.flush()
        if options.open and not webbrowser.open(server.address):
            tell(f"no browser could be started; open {server.address}")
        try:
            watcher.watch()
        except KeyboardInterrupt:
            server.shutdown()
    return EXIT_OK


def _page_now(paths: Sequence[Path]) -> str:
    """Return the page of what there is now. Raises InputError while there is nothing to show."""
    skipped: list[InputError] = []
    gathered = _gathered(paths, skipped, skipped)
    if not gathered.shown and not gathered.probed and not gathered.stressed:
        raise _nothing(paths)
    return _page(gathered, skipped, paths)


def _page(gathered: Gathered, skipped: Sequence[InputError], paths: Sequence[Path], url: str | None = None) -> str:
    """Return the page; with an address (empty if it is not known), one that link previews can read."""
    from benchmark.viewer.page import build_page

    whole = replace(gathered, retention=_retention(gathered, paths))
    title = f"CtxSift Bench: {_content(gathered)}"
    head = "" if url is None else head_of(title, description(gathered), url, has_picture=bool(gathered.boards))
    return build_page(whole, skipped, title=title, head=head)


def _measured(unread: list[InputError]) -> Validity | None:
    """Return how far scores can be trusted, None where nobody knows; a damaged measurement goes to `unread`."""
    try:
        return recorded(MEASURED)
    except InputError as error:
        unread.append(error)
        return None


def _retention(gathered: Gathered, paths: Sequence[Path]) -> tuple[RetentionBoard, ...]:
    """Return what each result keeps of the output, where one is of a program: that is what programs are for."""
    if all(result.track is not Track.COMMAND for result in gathered.results):
        return ()
    from benchmark.scoring import Embedder

    # What cannot be read was told of before.
    results = iterate_results(paths, skip=lambda _: None)
    return tuple(retention_boards(gathered.boards, results, RetentionJudge(Embedder())))


def _unfinished(paths: Sequence[Path]) -> list[InputError]:
    """Return a word on each run below `paths` that ended without a result."""
    # Of folders that cannot be read, the results have told.
    journals = [
        journal for path in paths if path.is_dir() for journal in journals_below(path, unreadable=lambda _: None)
    ]
    return [_why_unfinished(journal) for journal in journals if not exists(result_beside(journal))]


def _why_unfinished(journal: Path) -> InputError:
    hint = f"resume it with: python -m benchmark.runner --resume {journal.parent}"
    try:
        run = StatusReader().status(journal)
    except InputError:
        return InputError(str(journal), "the run has no result yet", hint)
    so_far = f"{run.answered} of {counted(run.planned, 'answer')}"
    problem = f" ({run.problem})" if run.problem else ""
    if run.state is RunState.INTERRUPTED:
        problem = " (its process ended without a message: it was killed, or the machine stopped)"
    is_running = run.state is RunState.RUNNING
    return InputError(
        str(journal),
        f"the run has no result yet: {run.state} after {so_far}{problem}",
        "reload the page when it has ended" if is_running else hint,
    )


def _content(gathered: Gathered) -> str:
    """Return how much a page shows, in words."""
    parts = [counted(len(gathered.shown), "result")] if gathered.shown else []
    parts += [counted(len(gathered.probed), "probe run")] if gathered.probed else []
    parts += [counted(len(gathered.stressed), "stress experiment")] if gathered.stressed else []
    return ", ".join(parts)


def _build(gathered: Gathered, skipped: Sequence[InputError], options: argparse.Namespace, url: str) -> None:
    target = options.publish / PAGE if options.publish else _target(options)
    refuse_input(target, options.paths)
    if options.publish:
        from benchmark.viewer.charts import preview

        publish(
            options.publish,
            _page(gathered, skipped, options.paths, url),
            preview(gathered) if gathered.boards else None,
        )
    else:
        write_atomically(target, _page(gathered, skipped, options.paths))
    told = _content(gathered)
    if gathered.shown:
        told += f", {counted(sum(len(result.cases) for result in gathered.results), 'answer')}"
    show(f"{target}: {told}, {target.stat().st_size / 1e6:.1f} MB")
    if options.open and not webbrowser.open(target.resolve().as_uri()):
        tell(f"no browser could be started; open {target.resolve().as_uri()}")


def _draw(gathered: Gathered, options: argparse.Namespace) -> None:
    from benchmark.viewer.charts import write_pictures

    folder, form = options.png or options.svg, "png" if options.png else "svg"
    for file in [*write_pictures(gathered, folder, form), *write_stress_charts(gathered.stressed, folder, form)]:
        show(str(file))


def _target(options: argparse.Namespace) -> Path:
    first: Path = options.paths[0]
    if first in (PACKAGED_RESULTS, PUBLISHED_RESULTS):
        return options.output or Path("viewer.html")
    return options.output or (first if first.is_dir() else first.parent) / "viewer.html"


if __name__ == "__main__":
    sys.exit(main())
