"""The site of the documentation holds every page and loads nothing from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONFIG = (ROOT / "dev" / "site.yml").read_text(encoding="utf-8")


def test_every_page_can_be_found() -> None:
    """Nobody reads a page that is in no menu; the decisions are listed when the site is built."""
    listed = set(re.findall(r": (\S+\.md)$", CONFIG, re.MULTILINE))
    pages = {str(page.relative_to(ROOT)) for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))}

    assert listed == {page for page in pages if not page.startswith("docs/decisions/")}


def test_fonts_and_scripts_come_with_the_site() -> None:
    """A reader's browser asks no other host."""
    assert "font: false" in CONFIG
    assert "extra_javascript" not in CONFIG
    assert not re.search(r"https?://", CONFIG)
