"""Which source a notification is about that names none: the one that is set, else the only one there is."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.support.live_service import settings_for

from diagnosis_harness.bootstrap.service import open_service
from diagnosis_harness.kernel.errors import InvalidSetting
from diagnosis_harness.settings import Settings


def _settings(folder: Path, *names: str, source: str = "") -> Settings:
    """Settings with sources of these names, all of them the same folder."""
    settings = settings_for(folder, alerts={"source": source})
    shop = settings.sources["shop"]
    return settings.model_copy(update={"sources": dict.fromkeys(names, shop)})


async def _source_of(settings: Settings) -> str | None:
    async with open_service(settings, accept_background_runs=False) as service:
        return service.alerts.source_of(None)


@pytest.mark.parametrize(
    ("names", "source", "meant"),
    [
        ((), "", None),
        (("shop",), "", "shop"),
        (("bank", "shop"), "", None),  # refused, naming both
        (("bank", "shop"), "shop", "shop"),
    ],
)
def test_a_notification_without_a_source_is_about_the_one_that_is_meant(
    names: tuple[str, ...], source: str, meant: str | None, tmp_path: Path
) -> None:
    """An Alertmanager whose URL names none never got through where several are configured."""
    assert asyncio.run(_source_of(_settings(tmp_path, *names, source=source))) == meant


def test_a_source_of_alerts_that_is_not_configured_is_refused_at_start(tmp_path: Path) -> None:
    """Not at the first alert, because nobody would see the refusal."""
    with pytest.raises(InvalidSetting, match=r"alerts\.source: it is not configured; name one that is: shop"):
        asyncio.run(_source_of(_settings(tmp_path, "shop", source="pub")))

    assert not (tmp_path / "runs.db").exists()
