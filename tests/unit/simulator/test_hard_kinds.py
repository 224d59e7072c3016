"""What every hard kind keeps: one seed, one world; no truth in the folder; the product reads it."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from tests.support.hard_worlds import SEED, hard_world

from diagnosis_harness.adapters.sources.incident_folder.opening import open_incident_folder
from diagnosis_harness.harness.budget import RunBudgetLimits
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.simulator.faults import FaultKind
from diagnosis_harness.simulator.folder import simulate_folder
from diagnosis_harness.simulator.hard.catalog import HARD_KINDS
from diagnosis_harness.simulator.hard.kind import Origin
from diagnosis_harness.simulator.hard.play import HardWorld, simulate_hard
from diagnosis_harness.simulator.hard.scene import TruthLevel
from diagnosis_harness.simulator.hard.writing import hard_folder_name, write_hard_folder
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.toolbox.ports import AlertInfo

TELLTALE = (b"fault", b"ground", b"truth", b"inject", b"simulat", b"leak", b"decoy", b"localised")
DIGESTS = Path(__file__).with_name("hard_kinds_digests.json")
"""For every kind the digests of the worlds of seeds 0 and 1. `python -m tests.unit.simulator.test_hard_kinds`
writes them; that is right only before any figure was published."""
OWN_RECORDING = [kind.name for kind in HARD_KINDS.values() if kind.recorded]
UNREAD = frozenset({"states.csv"})


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module", params=list(HARD_KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind in turn, for all tests of it: its world is made and written once."""
    return str(request.param)


@pytest.fixture(scope="module")
def folder(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a kind's world."""
    folder = tmp_path_factory.mktemp("world") / hard_folder_name(kind, SEED)
    write_hard_folder(hard_world(kind), folder)
    return folder


def digest_of(world: HardWorld, parent: Path, seed: int = SEED) -> str:
    """A digest over the files of a world, which it writes, and its truth."""
    folder = parent / hard_folder_name(world.kind.name, seed)
    write_hard_folder(world, folder)
    return digest_of_folder(world, folder)


def digest_of_folder(world: HardWorld, folder: Path) -> str:
    """A digest over the files of a written world and its truth."""
    digest = sha256()
    for name, data in contents(folder).items():
        digest.update(name.encode() + b"\0" + data)
    truth = world.truth
    truths = [truth.entities, truth.fault, sorted(truth.kinds), truth.region, truth.level.value]
    digest.update(json.dumps([*truths, truth.scope, truth.trigger, truth.decoys]).encode())
    return digest.hexdigest()[:16]


def test_a_kind_is_frozen(folder: Path, kind: str) -> None:
    """Figures of two dates compare only if the worlds are the same to the byte, on every interpreter."""
    frozen = json.loads(DIGESTS.read_text(encoding="utf-8"))

    assert digest_of_folder(hard_world(kind), folder) == frozen[kind][0]


def test_the_first_kinds_are_as_they_always_were(tmp_path: Path) -> None:
    """What the hard kinds need of the simulator changes no byte of the worlds that came before them."""
    digest = sha256()
    for kind in FaultKind:
        folder = simulate_folder(kind, seed=0, parent=tmp_path).folder
        for name, data in contents(folder).items():
            digest.update(name.encode() + data)

    assert digest.hexdigest() == "95a6e46cf38f3d3c93579da665ae0221480265e42e36e6f79468eb7493267322"


@pytest.mark.proof
def test_worlds_of_the_published_seeds_are_frozen(tmp_path: Path, scale: float) -> None:
    """One odd seed of every kind as well, and the table holds these kinds and no other."""
    frozen = json.loads(DIGESTS.read_text(encoding="utf-8"))
    kinds = list(HARD_KINDS)

    assert list(frozen) == kinds
    for kind in kinds[: round(len(kinds) * scale)]:
        world = simulate_hard(HARD_KINDS[kind], seed=1)
        assert digest_of(world, tmp_path, 1) == frozen[kind][1]


def test_the_table_holds_the_kinds_of_the_review_and_more() -> None:
    """36 of the review, at least ten from the field, and three ways to ask about a healthy system."""
    origins = [kind.origin for kind in HARD_KINDS.values()]

    assert origins.count(Origin.REVIEW) == 36
    assert origins.count(Origin.FIELD) >= 10
    assert origins.count(Origin.HEALTHY) == 3


def test_the_folder_does_not_hold_the_truth(folder: Path, kind: str) -> None:
    """No file, and no file name, has a word that says how the system was broken."""
    for name, data in contents(folder).items():
        lower = data.lower()
        assert [word for word in TELLTALE if word in lower] == [], name
        if kind.encode() in data:  # a plain search passes over megabytes faster than the expression
            assert not re.search(rb"(?<![\w-])" + kind.encode() + rb"(?![\w-])", data), name
    assert re.fullmatch(r"incident-[0-9a-f]{12}", folder.name)


def test_truth_and_alert_fit_the_kind(kind: str) -> None:
    """Whoever is at fault is a part or a machine of this world; a sound world has a level of none."""
    world = hard_world(kind)
    scene, truth, alert = world.play.scene, world.truth, world.telemetry.alert
    known = {part.name for part in scene.system.services} | set(scene.nodes.values())

    assert set(truth.entities) <= known
    assert bool(truth.entities) == (kind == "two-faults" or truth.fault not in {"none", "traffic"})
    assert truth.entities or truth.level is TruthLevel.NOTHING
    assert truth.trigger is None or truth.trigger in {c.summary for c in world.telemetry.changes}
    assert (truth.level is TruthLevel.TRIGGER) == (truth.trigger is not None)
    assert truth.trigger not in truth.decoys
    if alert is not None and kind != "began-before":
        assert alert.time_s is not None
        assert scene.onset_s < alert.time_s <= scene.time_s[-1]


@pytest.mark.parametrize("kind", ["two-faults", "replaced-pods", "histograms", "oom-loop", "queue-backlog"])
def test_the_same_seed_gives_the_same_hard_world(tmp_path: Path, kind: str) -> None:
    """Two simulations write equal files and name equal answers; another seed gives another world."""
    again, other = (simulate_hard(HARD_KINDS[kind], seed=seed) for seed in (SEED, SEED + 2))

    one, two, three = (
        digest_of(world, tmp_path / name)
        for world, name in ((hard_world(kind), "one"), (again, "two"), (other, "three"))
    )

    assert one == two
    assert one != three


@pytest.mark.parametrize("kind", [*OWN_RECORDING, "noisy-host", "oom-loop", "queue-backlog"])
def test_the_product_reads_hard_folders(tmp_path: Path, kind: str) -> None:
    """Every series, span, line and change is read, and a platform's events as lines; its states are not."""
    seen = hard_world(kind).telemetry
    folder = tmp_path / "incident-0"
    write_hard_folder(hard_world(kind), folder)
    limits = RunBudgetLimits(
        llm_calls=1,
        tool_calls=1,
        tool_calls_per_tool=1,
        input_tokens=1,
        output_tokens=1,
        total_tokens=1,
        run_bytes=1,
    )
    core = DiagnosisHarnessCore(clock=ManualClock(), ids=CountingIds())
    ctx = core.start_run(session_id="s1", timeout_s=60, limits=limits)

    summary = open_incident_folder(folder).summary.summary(ctx)

    lines = len(seen.logs) + len(seen.events)  # events of a platform are read as lines
    assert (summary.spans, summary.log_lines) == (len(seen.spans), lines)
    assert (summary.edges, summary.changes) == (len(seen.calls), len(seen.changes))
    assert summary.metric_series == sum(len(series.value) > 0 for series in seen.metrics)
    alert, stated = summary.alert, seen.alert or AlertInfo()
    assert replace(alert, time_s=None) == replace(stated, time_s=None)
    assert alert.time_s == (None if stated.time_s is None else pytest.approx(stated.time_s, abs=0.001))
    assert {note.file for note in summary.files if note.role is None} <= UNREAD
    incident = tomllib.loads((folder / "incident.toml").read_text(encoding="utf-8"))["incident"]
    assert ("onset" in incident) == (seen.onset_s is not None)


def main() -> None:
    """Write the digests of all kinds as they are now."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as parent:
        digests = {
            kind: [digest_of(simulate_hard(row, seed=seed), Path(parent), seed) for seed in (0, 1)]
            for kind, row in HARD_KINDS.items()
        }
    DIGESTS.write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
