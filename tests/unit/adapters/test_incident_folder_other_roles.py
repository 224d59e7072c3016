"""Topology, logs, changes and the alert."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.ports import AlertInfo, CallEdge, Recording, Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
RefuseFolder = Callable[[Mapping[str, str | bytes]], InvalidInput]

FIRST = 1_700_000_000
METRICS = "time,entity,signal,value\n" + "".join(f"{FIRST + 60 * i},shop,latency_ms,{i}\n" for i in range(10))
LOGS = (
    "time,entity,level,message\n"
    f'{FIRST},shop,INFO,"started, all well"\n{FIRST + 60},pay,ERROR,Timeout calling bank\n'
    f"{FIRST + 120},pay,ERROR,timeout calling BANK again\n{FIRST + 180},,WARN,\x1b[31mred\n"
)


def test_edges_and_owners_are_distinguished_by_their_relation(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """`part_of` says instance and service; what is neither is left out and named."""
    content = (
        "caller,callee,relation\nshop,pay,calls\nshop,pay,\npay-1,pay,part_of\npay,pay,calls\na,b,likes\n"
    )
    sources = open_folder({"metrics.csv": METRICS, "topology.csv": content})
    assert sources.topology is not None
    assert sources.topology.edges(ctx) == (CallEdge("shop", "pay"),)
    assert dict(sources.topology.owners(ctx)) == {"pay-1": "pay"}
    (note,) = (note.note for note in sources.summary.summary(ctx).files if note.role == "topology")
    assert "2 rows left out" in note
    assert "'likes'" in note


def test_a_matrix_says_that_its_row_calls_its_columns(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Empty and zero cells are not calls; no entity calls itself."""
    content = "name,shop,pay,bank\nshop,0,1,\npay,,0,1.0\nbank,0,0,1\n"
    sources = open_folder({"metrics.csv": METRICS, "topology.csv": content})
    assert sources.topology is not None
    assert sources.topology.edges(ctx) == (CallEdge("pay", "bank"), CallEdge("shop", "pay"))


def test_instances_of_the_settings_win(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Over what a topology file says."""
    content = "caller,callee,relation\npod-1,pay,part_of\n"
    toml = '[instances]\n"pod-1" = "shop"\n"pod-2" = "pay"\n'
    sources = open_folder({"metrics.csv": METRICS, "topology.csv": content, "incident.toml": toml})
    assert sources.topology is not None
    assert dict(sources.topology.owners(ctx)) == {"pod-1": "shop", "pod-2": "pay"}


def test_a_topology_of_unknown_columns_is_refused(refuse_folder: RefuseFolder) -> None:
    """Neither pairs nor a matrix."""
    assert "no caller and callee columns" in str(refuse_folder({"topology.csv": "one,two\nshop,pay\n"}))


def test_log_lines_are_counted_and_found_whatever_their_case(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """Plain text, not a pattern."""
    sources = open_folder({"logs.csv": LOGS})
    assert sources.logs is not None
    page = sources.logs.search(ctx, Recording.INCIDENT, text="TIMEOUT", entities=None, window=None, limit=1)
    assert (page.matching, page.searched, len(page.lines)) == (2, 4, 1)
    assert page.lines[0].message == "Timeout calling bank"
    for text in ("time.ut", "%", "_", "'"):
        page = sources.logs.search(ctx, Recording.INCIDENT, text=text, entities=None, window=None, limit=9)
        assert page.matching == 0


def test_log_lines_are_searched_by_entity_and_window(open_folder: OpenFolder, ctx: RunContext) -> None:
    """`searched` counts what was looked through."""
    sources = open_folder({"logs.csv": LOGS})
    assert sources.logs is not None
    window = TimeWindow(FIRST + 100.0, FIRST + 200.0)
    page = sources.logs.search(ctx, Recording.INCIDENT, text=None, entities=("pay",), window=window, limit=9)
    assert (page.matching, page.searched) == (1, 1)
    nobody = sources.logs.search(ctx, Recording.INCIDENT, text=None, entities=("x",), window=None, limit=9)
    assert (nobody.lines, nobody.searched) == ((), 0)


def test_log_text_comes_printable(open_folder: OpenFolder, ctx: RunContext) -> None:
    """A log line may be written by an attacker."""
    sources = open_folder({"logs.csv": LOGS})
    assert sources.logs is not None
    page = sources.logs.search(ctx, Recording.INCIDENT, text="red", entities=None, window=None, limit=9)
    assert page.lines[0].message == "\\x1b[31mred"
    assert page.lines[0].entity is None


def test_the_note_of_logs_counts_lines_and_names_the_time_column(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """What was understood of the file."""
    note = open_folder({"logs.csv": LOGS}).summary.summary(ctx).files[0]
    assert (note.role, note.rows) == ("logs", 4)
    assert "4 lines, time column 'time'" in note.note


def test_logs_without_a_message_are_refused(refuse_folder: RefuseFolder) -> None:
    """A time alone is no log."""
    assert "no message column" in str(refuse_folder({"logs.csv": f"time,entity\n{FIRST},shop\n"}))


def test_changes_are_listed_by_time(open_folder: OpenFolder, ctx: RunContext) -> None:
    """A change may lie well before the recording; a window narrows them."""
    content = f"time,kind,summary,entity\n{FIRST + 60},deploy,v2,pay\n{FIRST - 86400},flag,on,\n"
    sources = open_folder({"metrics.csv": METRICS, "changes.csv": content})
    assert sources.changes is not None
    assert [change.kind for change in sources.changes.changes(ctx, window=None)] == ["flag", "deploy"]
    (deploy,) = sources.changes.changes(ctx, window=TimeWindow(FIRST, FIRST + 600.0))
    assert (deploy.entity, deploy.summary) == ("pay", "v2")


ALERT = AlertInfo("shop", "latency", "p90", FIRST + 300.0, "up", "slow")
RECORD = {"time": FIRST + 300, "entity": "shop", "signal": "latency", "statistic": "p90", "direction": "up"}
OTHER_NAMES = {"ts": FIRST + 300, "service": "shop", "metric": "latency", "stat": "p90", "direction": "UP"}
ALERTS = {
    "csv": (
        "alert.csv",
        f"time,entity,signal,statistic,direction,summary\n{FIRST + 300},shop,latency,p90,up,slow\n",
    ),
    "other names": ("alert.json", json.dumps([OTHER_NAMES | {"description": "slow"}])),
    "one object": ("alert.json", json.dumps(RECORD | {"summary": "slow"}, indent=2)),
    "toml": (
        "incident.toml",
        "".join(
            ["[alert]\n", *(f"{k} = {json.dumps(v)}\n" for k, v in RECORD.items()), 'summary = "slow"\n']
        ),
    ),
}


@pytest.mark.parametrize(("name", "content"), ALERTS.values(), ids=ALERTS.keys())
def test_the_alert_is_read_from_a_file_or_the_settings(
    open_folder: OpenFolder, ctx: RunContext, name: str, content: str
) -> None:
    """Whatever its form."""
    sources = open_folder({"metrics.csv": METRICS, name: content})
    assert sources.summary.summary(ctx).alert == ALERT


def test_the_settings_complete_an_alert_file_and_win(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Key by key."""
    sources = open_folder(
        {
            "metrics.csv": METRICS,
            "alert.csv": "entity,signal\nshop,latency\n",
            "incident.toml": '[alert]\nentity = "pay"\n',
        }
    )
    assert sources.summary.summary(ctx).alert == AlertInfo(entity="pay", signal="latency")


def test_the_first_of_several_alerts_is_the_alert(open_folder: OpenFolder, ctx: RunContext) -> None:
    """The others are said to be left out."""
    content = f"time,entity\n{FIRST + 300},pay\n{FIRST + 60},shop\n"
    summary = open_folder({"metrics.csv": METRICS, "alert.csv": content}).summary.summary(ctx)
    assert summary.alert.entity == "shop"
    assert "1 later rows left out" in summary.files[0].note


def test_an_alert_of_an_unknown_direction_is_refused(refuse_folder: RefuseFolder) -> None:
    """Up or down."""
    content = "entity,direction\nshop,sideways\n"
    assert "'sideways' is not known" in str(refuse_folder({"alert.csv": content}))


def test_an_alert_shortly_after_the_data_is_noted(open_folder: OpenFolder, ctx: RunContext) -> None:
    """It is often raised later than the last instant."""
    toml = f"[alert]\ntime = {FIRST + 900}\n"
    summary = open_folder({"metrics.csv": METRICS, "incident.toml": toml}).summary.summary(ctx)
    assert any("lies outside the data" in note.note for note in summary.files)
    assert summary.alert.time_s == FIRST + 900


def test_a_kind_of_telemetry_without_rows_is_absent(open_folder: OpenFolder, ctx: RunContext) -> None:
    """None, so that a tool says it is absent; its file is listed all the same."""
    sources = open_folder({"metrics.csv": METRICS, "logs.csv": "time,message\n", "changes.json": "[]"})
    assert (sources.logs, sources.changes, sources.spans, sources.topology) == (None, None, None, None)
    assert [(note.role, note.rows) for note in sources.summary.summary(ctx).files] == [
        ("changes", 0),
        ("logs", 0),
        ("metrics", 10),
    ]
