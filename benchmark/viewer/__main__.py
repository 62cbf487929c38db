"""Results as one page: `python -m benchmark.viewer --open results/`."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from benchmark.results import write_atomically
from benchmark.run.journal import SUFFIX
from benchmark.stored import iterate_results
from benchmark.viewer.gather import Gathered, gather
from ctxsift.errors import InputError
from ctxsift.terminal import one_line

_EXAMPLES = """\
examples:
  python -m benchmark.viewer --open results/
  python -m benchmark.viewer results/ ../other-machine/results/ -o both.html
  python -m benchmark.viewer results/ --png pictures/      (no browser needed)

The page is one file without any request to a network: it works from disk, by e-mail, as a CI artifact.
exit codes: 0 built, 2 bad usage or input
"""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of this command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmark.viewer",
        description="Show results as one self-contained HTML page, or its pictures as files.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="results tree, run folder or result file")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="default: viewer.html in the first PATH, or beside that file"
    )
    pictures = parser.add_mutually_exclusive_group()
    pictures.add_argument("--png", type=Path, metavar="DIR", help="write the pictures as PNG instead of the page")
    pictures.add_argument("--svg", type=Path, metavar="DIR", help="write the pictures as SVG instead of the page")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 on bad usage or input."""
    parser = build_parser()
    options = parser.parse_args(argv)
    if (options.png or options.svg) and (options.open or options.output):
        parser.error("--png and --svg write pictures, no page: leave out --open and -o, or run it twice")
    try:
        _run(options)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        target = options.png or options.svg or _target(options)
        print(f"error: {target}: cannot be written ({error.strerror or error}); name another", file=sys.stderr)
        return 2
    return 0


def _run(options: argparse.Namespace) -> None:
    skipped: list[InputError] = []
    gathered = gather(iterate_results(options.paths, skip=skipped.append))
    skipped += _without_result(options.paths)
    for error in skipped:
        print(f"skipped: {one_line(str(error))}", file=sys.stderr)
    if not gathered.shown:
        names = " ".join(map(str, options.paths))
        raise InputError(names, "no result file that can be shown", "run a benchmark first: make bench")
    if options.png or options.svg:
        _draw(gathered, options)
        return
    from benchmark.viewer.page import build_page

    target = _target(options)
    page = build_page(gathered, skipped, title=f"CtxSift Bench: {_count(len(gathered.shown), 'result')}")
    write_atomically(target, page)
    cases = sum(len(result.cases) for result in gathered.results)
    size = target.stat().st_size / 1e6
    print(f"{target}: {_count(len(gathered.shown), 'result')}, {_count(cases, 'answer')}, {size:.1f} MB")
    if options.open and not webbrowser.open(target.resolve().as_uri()):
        print(f"no browser could be started; open {target.resolve().as_uri()}", file=sys.stderr)


def _without_result(paths: Sequence[Path]) -> list[InputError]:
    """Return a word on each run below `paths` that ended without a result."""
    journals = [journal for path in paths if path.is_dir() for journal in sorted(path.rglob(f"*{SUFFIX}"))]
    cut = [
        journal for journal in journals if not journal.with_name(f"{journal.name.removesuffix(SUFFIX)}.json").exists()
    ]
    mend = "go on with it: python -m benchmark.runner --resume"
    return [InputError(str(journal), "is of a run without a result", f"{mend} {journal.parent}") for journal in cut]


def _draw(gathered: Gathered, options: argparse.Namespace) -> None:
    from benchmark.viewer.charts import write_pictures

    for file in write_pictures(gathered, options.png or options.svg, "png" if options.png else "svg"):
        print(file)


def _target(options: argparse.Namespace) -> Path:
    first: Path = options.paths[0]
    return options.output or (first if first.is_dir() else first.parent) / "viewer.html"


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


if __name__ == "__main__":
    sys.exit(main())
