"""Measures models at compressing command output; touches a model only through `ctxsift`."""

import sys

_show = sys.excepthook


def _show_interruption(kind, error, trace):  # type: ignore[no-untyped-def]  # typing would take its time
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("interrupted\n")
    else:
        _show(kind, error, trace)


# `python -m benchmark.NAME`: a person may interrupt it while its modules are imported.
if sys.argv[:1] == ["-m"]:
    sys.excepthook = _show_interruption
