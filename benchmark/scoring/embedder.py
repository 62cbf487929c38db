"""Static embeddings and token counts: one tokenizer for all models."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from ctxsift.errors import InputError

# An answer longer than this is a dump; what follows cannot make it better.
MAX_CHARS = 20_000


class Embedder:
    """Static embeddings (WordLlama, 256 dimensions) from the files its wheel ships; no network, no torch.

    Raises:
        InputError: the package or its files are missing. There is no fallback: scores would not be comparable.

    """

    def __init__(self) -> None:
        try:
            from safetensors import safe_open
            from tokenizers import Tokenizer

            root = files("wordllama")
            tokenizer = str(root / "tokenizers" / "l2_supercat_tokenizer_config.json")
            weights = str(root / "weights" / "l2_supercat_256.safetensors")
            self._tokenizer = Tokenizer.from_file(tokenizer)
            with safe_open(weights, "np") as opened:
                self._table: npt.NDArray[np.float16] = opened.get_tensor("embedding.weight")
        except Exception as error:  # the libraries raise bare exceptions
            raise InputError(
                "scoring", f"the embeddings of the package wordllama cannot be read ({error})", "reinstall wordllama"
            ) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._embed = lru_cache(maxsize=8192)(self._embed_uncached)
        self._count = lru_cache(maxsize=8192)(self._count_uncached)

    def cosine(self, left: str, right: str) -> float:
        """Return the cosine of the two texts' mean embeddings, in [-1, 1]; 0 when one has no token."""
        return float(self._embed(left) @ self._embed(right))

    def count_tokens(self, text: str) -> int:
        """Return the length of `text` in tokens of this tokenizer (Llama 2's)."""
        return self._count(text)

    def _count_uncached(self, text: str) -> int:
        return len(self._encode(text))

    def _encode(self, text: str) -> list[int]:
        # Half of a character that JSON escaped (a lone surrogate) is not Unicode text.
        whole = text.encode("utf-8", "replace").decode()
        ids: list[int] = self._tokenizer.encode(whole, add_special_tokens=False).ids
        return ids

    def _embed_uncached(self, text: str) -> npt.NDArray[np.float32]:
        # Case is for anchors and words to judge.
        ids = self._encode(text[:MAX_CHARS].lower())
        if not ids:
            return np.zeros(self._table.shape[1], dtype=np.float32)
        mean: npt.NDArray[np.float32] = self._table[ids].mean(axis=0, dtype=np.float32)
        norm = float(np.linalg.norm(mean))
        return mean / norm if norm else mean
