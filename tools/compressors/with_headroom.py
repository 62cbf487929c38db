"""headroom-ai has no command for one text: `with_headroom.py {crusher,router,log}`, request as JSON on stdin."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable

# Its part of the text that is kept by the crusher.
_KEPT = 0.2


def _crusher(text: str, question: str) -> str:
    from headroom.transforms.text_crusher import TextCrusher

    return str(TextCrusher().compress(text, question, _KEPT).compressed)


def _router(text: str, question: str) -> str:
    from headroom.transforms import ContentRouter

    return str(ContentRouter().compress(text, context=question, question=question).compressed)


def _log(text: str, _: str) -> str:
    from headroom.transforms import LogCompressor

    return str(LogCompressor().compress(text).compressed)


MODES: dict[str, Callable[[str, str], str]] = {"crusher": _crusher, "router": _router, "log": _log}


def main() -> None:
    """Compress what stdin asks for."""
    os.environ["HEADROOM_OFFLINE"] = "1"
    told = json.load(sys.stdin)
    sys.stdout.write(MODES[sys.argv[1]](told["output"], told["instruction"]))


if __name__ == "__main__":
    main()
