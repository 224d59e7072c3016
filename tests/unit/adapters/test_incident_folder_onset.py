"""An onset or an alert outside the data is refused, with the range of the data as the remedy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput

RefuseFolder = Callable[[Mapping[str, str | bytes]], InvalidInput]
WriteFolder = Callable[[Mapping[str, str | bytes]], Path]

GOOD = "time,entity,signal,value\n" + "".join(
    f"{1_700_000_000 + 60 * minute},checkout,latency_ms,{minute}\n" for minute in range(10)
)


@pytest.mark.parametrize("onset_s", [1_699_999_000.0, 1_700_009_999.0, float("nan"), float("inf"), -1e300])
def test_an_onset_outside_the_data_is_refused_with_the_range(
    write_folder: WriteFolder, onset_s: float
) -> None:
    """The range of the data is the remedy."""
    with pytest.raises(InvalidInput) as caught:
        open_incident_folder(write_folder({"metrics.csv": GOOD}), onset_s=onset_s)
    assert caught.value.place == "--onset"
    assert "2023-11-14T22:13:20Z to 2023-11-14T22:22:20Z" in caught.value.problem


def test_an_onset_of_the_settings_outside_the_data_is_refused(refuse_folder: RefuseFolder) -> None:
    """The place is the settings file then."""
    refused = refuse_folder(
        {"metrics.csv": GOOD, "incident.toml": "[incident]\nonset = 2024-06-01T00:00:00Z\n"}
    )
    assert refused.place == "incident.toml (incident.onset)"


def test_an_onset_at_the_last_time_is_inside(write_folder: WriteFolder, ctx: RunContext) -> None:
    """The window of the data contains its last instant."""
    sources = open_incident_folder(write_folder({"metrics.csv": GOOD}), onset_s=1_700_000_540.0)
    assert sources.summary.summary(ctx).onset_s == 1_700_000_540.0


def test_an_alert_far_outside_the_data_is_refused(refuse_folder: RefuseFolder) -> None:
    """Its clock is another one."""
    refused = refuse_folder({"metrics.csv": GOOD, "incident.toml": "[alert]\ntime = 2023-11-15T06:20:00Z\n"})
    assert "lies more than an hour outside the data" in refused.problem
