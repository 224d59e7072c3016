"""Diagnose incidents from evidence; nothing leaves that the evidence does not bear out."""

from __future__ import annotations

__version__ = "0.1.0"
