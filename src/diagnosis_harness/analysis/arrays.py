"""Array types used by the statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.signedinteger[Any]]
"""Integers that index something, such as rows or names; stored in the smallest type that fits."""
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
