"""A folder of one's own incidents in small: one with everything, a false alarm, and normal operation."""

from __future__ import annotations

from pathlib import Path

from diagnosis_harness.bench.datasets.own import OwnIncidents

METRICS = "ts,entity,signal,value\n2024-01-01 14:00:00,payments-db,connections,12\n"
SETTINGS_TEXT = """
[incident]
name = "payments-db-is-full"
zone = "Asia/Shanghai"
onset = "2024-01-01T14:05:00"

[baseline]
folder = "../a-quiet-day"

[units]
"latency ms" = "ms"

[instances]
payments-7d9f4-x2x = "payments"

[files."metrics.csv"]
time = "ts"
shift_s = 0.5
ignore = false
"""
TRUTH_TEXT = """
entities = ["payments-db"]
fault_kind = "pool"
kinds = ["LATENCY"]
region = "reports"
level = "EXPLAINED"
trigger = ["v2.14.0"]
scope = ["payments"]
decoys = ["v7.0.1"]
decoy_entities = ["reports"]
mechanism = [["pool", "connections"], ["exhausted"]]
forbidden = ["dns"]
"""
OTHER_TRUTH_TEXT = """
entities = ["POISON"]
fault_kind = "POISON"
"""


def make_own(root: Path) -> OwnIncidents:
    """Three folders: an incident, a false alarm, and the normal operation of the first."""
    files = {
        "payments-db-is-full/metrics.csv": METRICS,
        "payments-db-is-full/alert.json": '{"entity": "payments", "time": "2024-01-01T06:07:00Z"}',
        "payments-db-is-full/incident.toml": SETTINGS_TEXT,
        "payments-db-is-full/truth.toml": TRUTH_TEXT,
        "payments-db-is-full/.notes.csv": "it was the pool",
        "all-was-well/metrics.csv": METRICS,
        "all-was-well/truth.toml": "nothing_wrong = true\n",
        "a-quiet-day/metrics.csv": METRICS,
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return OwnIncidents(root)


def poison_own(root: Path) -> None:
    """Another truth about the same incidents."""
    for name in ("payments-db-is-full", "all-was-well"):
        (root / name / "truth.toml").write_text(OTHER_TRUTH_TEXT, encoding="utf-8")


def mislead_own(root: Path) -> None:
    """The two incidents swap their truths."""
    one, other = (root / name / "truth.toml" for name in ("payments-db-is-full", "all-was-well"))
    first, second = one.read_text(encoding="utf-8"), other.read_text(encoding="utf-8")
    one.write_text(second, encoding="utf-8")
    other.write_text(first, encoding="utf-8")
