"""The tool that weighs changes, over memory and over a folder with commits."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tests.support.small_incident import ERROR_FAULT, ONSET_S, small_incident
from tests.unit.toolbox.test_tools import call

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.testing.sources import InMemorySources
from diagnosis_harness.toolbox.ports import ChangeEvent, LogLine
from diagnosis_harness.tools.evidence import ItemKind

COMMIT = ChangeEvent(
    ONSET_S - 5_000.0,
    None,
    "commit",
    "Read the coupon from the voucher table",
    sha="abcdef1234567890",
    files=("services/checkout/coupon.go",),
    diff="-  legacyCoupon(id)\n+  voucherTable.lookup(id)",
    author="dev",
)
DEPLOY = ChangeEvent(ONSET_S - 120.0, "checkout", "deploy", "version 7", sha="abcdef1234567890")
INNOCENT = ChangeEvent(
    ONSET_S - 60.0, "checkout", "commit", "Colour of the button", sha="99", files=("web/theme.css",)
)
LATE = ChangeEvent(ONSET_S + 400.0, "checkout", "deploy", "voucher table lookup coupon", sha=None)


def checkout_failure(
    *changes: ChangeEvent, message: str = "panic: voucher table has no coupon"
) -> InMemorySources:
    """A checkout that fails with a new line in its log."""
    lines = [LogLine(ONSET_S - 10.0 * k, "checkout", "INFO", "order placed") for k in range(1, 60)]
    lines += [LogLine(ONSET_S + 10.0 * k, "checkout", "ERROR", message) for k in range(1, 40)]
    return replace(small_incident(ERROR_FAULT), change_events=changes, log_lines=tuple(lines))


def test_a_commit_ranks_first_at_the_time_and_the_service_of_its_deploy(ctx: RunContext) -> None:
    """Its words are those that are new; the last change before is not it."""
    found = call(ctx, checkout_failure(INNOCENT, COMMIT, DEPLOY, LATE), "weigh_changes", onset=ONSET_S)
    first = found.items[0]
    assert (first.kind, first.entity, first.onset_s) == (ItemKind.CHANGE_EVENT, "checkout", ONSET_S - 120.0)
    assert first.attributes["verdict"] == "candidate"
    assert "voucher" in str(first.attributes["matched"])
    assert first.attributes["commit"] == "abcdef1234567890"
    assert [item.attributes["verdict"] for item in found.items[1:]] == ["no-match", "after-the-onset"]
    assert found.note is None


def test_nothing_is_named_if_nothing_fits(ctx: RunContext) -> None:
    """With how many were weighed."""
    found = call(
        ctx,
        checkout_failure(COMMIT, DEPLOY, message="dial tcp: no such host"),
        "weigh_changes",
        onset=ONSET_S,
    )
    assert found.note == "none of the 1 changes fits in time, place and words"
    assert {item.attributes["verdict"] for item in found.items} == {"no-match"}


def test_a_change_off_the_path_is_ruled_out(ctx: RunContext) -> None:
    """Whatever its words say."""
    sources = checkout_failure(replace(COMMIT, entity="catalog", time_s=ONSET_S - 60.0))
    (item,) = call(ctx, sources, "weigh_changes", onset=ONSET_S, alert_entity="checkout").items
    assert item.attributes["verdict"] == "not-on-the-path"


def test_commits_of_a_folder_keep_sha_files_and_diff(ctx: RunContext, tmp_path: Path) -> None:
    """As an export of a repository holds them."""
    row = {
        "time": "2026-01-05T10:00:00Z",
        "kind": "commit",
        "sha": "abcdef1234567890",
        "author": "dev",
        "summary": "Read the coupon",
        "files": ["services/checkout/coupon.go", "go.mod"],
        "diff": "-a\n+b",
    }
    (tmp_path / "changes.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    changes = open_incident_folder(tmp_path).changes
    assert changes is not None
    (event,) = changes.changes(ctx, window=None)
    assert (event.sha, event.author, event.diff) == ("abcdef1234567890", "dev", "-a\n+b")
    assert event.files == ("services/checkout/coupon.go", "go.mod")
