"""`python -m benchmark.corpus check`: the proofs of the corpus."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmark.corpus.loader import DEFAULT_CORPUS, load_corpus
from ctxsift.errors import InputError


def main(argv: list[str] | None = None) -> int:
    """Run the command; return 0 when all is well, 1 with findings, 2 on bad input."""
    parser = argparse.ArgumentParser(prog="python -m benchmark.corpus", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="prove every case: anchors, rules, gold at 1.0, controls kept low")
    check.add_argument("--dataset", type=Path, default=DEFAULT_CORPUS, help="corpus folder (default: the packaged one)")
    options = parser.parse_args(argv)
    try:
        return _check(options.dataset)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _check(path: Path) -> int:
    from benchmark.corpus.check import check_corpus
    from benchmark.scoring import Embedder

    corpus = load_corpus(path)
    findings = check_corpus(corpus.cases, Embedder())
    for finding in findings:
        print(f"{finding.where}: {finding.problem}")
    captures = len({case.capture.name for case in corpus.cases})
    print(f"{len(corpus.cases)} cases on {captures} captures: {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
