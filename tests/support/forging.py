"""Forgeries of saved runs: one change each, after which every digest is computed anew.

A forger has the document and this program, so no digest and no size stops him. Each forgery here leaves the
document at odds with itself somewhere else, which is what anybody can check without a key.
"""

from __future__ import annotations

import json

import numpy as np
from tests.support import forged_account, forged_result, forged_trace
from tests.support.forgery import Forgery, seal

FORGERIES: dict[str, Forgery] = {
    name: made
    for module in (forged_account, forged_trace, forged_result)
    for name, made in vars(module).items()
    if callable(made) and made.__module__ == module.__name__ and not name.startswith("_")
}
"""Every forgery by its name."""


def forge(data: bytes, name: str, seed: int) -> bytes | None:
    """A saved run, forged and sealed anew; None where this forgery has nothing to change in it."""
    content = json.loads(data)
    return seal(content) if FORGERIES[name](content, np.random.default_rng(seed)) else None
