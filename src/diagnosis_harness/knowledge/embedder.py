"""The port that turns texts into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Texts to vectors: a pure function, for documents (there is no run then) and for questions."""

    @property
    def name(self) -> str:
        """The name and version of the embedder; vectors of another one are recomputed."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of length 1 for each text; the same text gives the same row."""
        ...
