"""Prints lines picked by rule of an output that has been read, when there is no model to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxsift.cli.parser import PACKAGED_MODEL
from ctxsift.cli.passing import give_back, problem_with, told, write, write_text
from ctxsift.cli.signals import SignalledError, Signals
from ctxsift.contracts import ContractKind, contract_of
from ctxsift.extract import extract, shows_failure
from ctxsift.intents import Intent

if TYPE_CHECKING:
    import argparse

    from ctxsift.cli.source import InputSource


def extracted(options: argparse.Namespace, source: InputSource, signals: Signals) -> int:
    """Print the extract of what was read, or, where a shape is wanted, the original; return the exit code."""
    if contract_of(Intent(options.intent)).kind is not ContractKind.PLAIN:
        why = f"--intent {options.intent} needs a model: name one, e.g. --model {PACKAGED_MODEL}, or set CTXSIFT_MODEL"
        return give_back(source, why, as_json=options.json)
    text = source.data.decode("utf-8", errors="replace").replace("\x00", "")
    try:
        picked = signals.interruptible(lambda: extract(text, options.wanted).text)
    except SignalledError:
        return give_back(source, problem_with(source, signals), as_json=options.json)
    except Exception as error:  # the output must not be lost over it
        return give_back(source, told(error), as_json=options.json)
    if len(picked) >= len(text.rstrip()):
        return give_back(source, "no line of it can be left out" if options.json else None, as_json=options.json)
    if source.known_exit_code and not any(map(shows_failure, picked.split("\n"))):
        why = f"exit code {source.known_exit_code}, and no line that can be selected shows why"
        return give_back(source, why, as_json=options.json)
    if options.json:
        from ctxsift.cli.compress_json import PrintedCompression, as_json

        ratio, code = len(picked) / len(text), source.known_exit_code
        printed = PrintedCompression(
            answer=picked, answer_is="extract", fallback=None, exit_code=code, compression_ratio=ratio
        )
        write(as_json(printed))
    else:
        write_text(picked)
    return source.exit_code
