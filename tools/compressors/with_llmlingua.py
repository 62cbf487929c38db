"""LLMLingua-2 has a Python API alone: `with_llmlingua.py RATE`, request as JSON on stdin.

Its weights come from the hub.
"""

from __future__ import annotations

import json
import sys

_WEIGHTS = "microsoft/llmlingua-2-bert-base-multilingual-cased-meetingbank"


def main() -> None:
    """Print the compressed output."""
    from llmlingua import PromptCompressor

    told = json.load(sys.stdin)
    compressor = PromptCompressor(_WEIGHTS, use_llmlingua2=True, device_map="cpu")
    found = compressor.compress_prompt([told["output"]], rate=float(sys.argv[1]), question=told["instruction"])
    sys.stdout.write(found["compressed_prompt"])


if __name__ == "__main__":
    main()
