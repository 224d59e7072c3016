"""Whom client spans call, as exporters write it, and what the ranking makes of a callee without spans."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.compare_spans import CompareSpans
from diagnosis_harness.toolbox.ports import Recording, Sources, SpanTable
from diagnosis_harness.toolbox.rank_causes import RankCauses
from diagnosis_harness.toolbox.span_peers import PeerReader
from diagnosis_harness.toolbox.views import Views

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]

FIRST = 1_700_000_000
ONSET = FIRST + 1_800


def spans(sources: Sources, ctx: RunContext) -> SpanTable:
    """The spans of a folder that has some."""
    assert sources.spans is not None
    return sources.spans.spans(ctx, Recording.INCIDENT)


def callees(table: SpanTable) -> list[str | None]:
    """Whom each span calls, by its own words."""
    if table.peer is None:
        return [None] * len(table)
    return [table.peers[at] if at >= 0 else None for at in table.peer.tolist()]


def of_columns(columns: str, cells: str) -> str:
    """One span with some more columns."""
    head = "trace_id,span_id,parent_id,entity,operation,start,duration_ms"
    return f"{head},{columns}\nt,a,,shop,GET /,{FIRST},10,{cells}\n"


@pytest.mark.parametrize(
    ("columns", "cells", "called"),
    [
        ("kind,peer.service", "CLIENT,accounts", "accounts"),
        ("span_kind,peer_service", "SPAN_KIND_CLIENT,accounts", "accounts"),
        ("Kind,attributes.peer.service", "3,accounts", "accounts"),
        ("kind,server.address", "client,pay.example.com:443", "pay.example.com"),
        ("kind,net.peer.name", "client,10.0.0.7", None),
        ("kind,server.address,db.system", "client,orders-db.shop.svc:5432,postgresql", "orders-db.shop.svc"),
        ("kind,server.address,db.system", "client,10.0.0.7,postgresql", "shop-postgresql"),
        ("db.system", "redis", "shop-redis"),
        ("kind,messaging.destination.name", "producer,orders", "orders"),
        ("kind,peer.service", "server,browser", None),
        ("kind,server.address", "SPAN_KIND_SERVER,shop", None),
        ("server.address", "shop.example.com", None),
        ("kind,peer.service", "spot,accounts", "accounts"),
        ("kind,peer.service", "client,", None),
    ],
)
def test_a_span_names_its_callee(
    open_folder: OpenFolder, ctx: RunContext, columns: str, cells: str, called: str | None
) -> None:
    """What it serves it does not call, and without a kind an address may be its own."""
    assert callees(spans(open_folder({"traces.csv": of_columns(columns, cells)}), ctx)) == [called]


def test_kinds_that_are_not_kinds_of_spans_say_nothing(open_folder: OpenFolder, ctx: RunContext) -> None:
    """A column may be named so by chance."""
    folder = open_folder({"traces.csv": of_columns("kind", "spot")})
    assert spans(folder, ctx).client is None
    folder = open_folder({"traces.csv": of_columns("kind", "internal")})
    assert spans(folder, ctx).client is not None


def otlp() -> str:
    """A client span of OpenTelemetry."""
    attributes = [
        {"key": "peer.service", "value": {"stringValue": "accounts"}},
        {"key": "db.system", "value": {"stringValue": "mysql"}},
    ]
    span = {
        "traceId": "t", "spanId": "a", "name": "SELECT", "kind": 3, "attributes": attributes,
        "startTimeUnixNano": f"{FIRST}000000000", "endTimeUnixNano": f"{FIRST}010000000",
    }  # fmt: skip
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]})


def jaeger() -> str:
    """The same of Jaeger."""
    tags = [{"key": "span.kind", "value": "client"}, {"key": "peer.service", "value": "accounts"}]
    span = {
        "traceID": "t", "spanID": "a", "operationName": "SELECT", "references": [], "tags": tags,
        "startTime": FIRST * 1_000_000, "duration": 10_000, "processID": "p",
    }  # fmt: skip
    return json.dumps(
        {"data": [{"traceID": "t", "spans": [span], "processes": {"p": {"serviceName": "shop"}}}]}
    )


def zipkin() -> str:
    """The same of Zipkin."""
    span = {
        "traceId": "t", "id": "a", "name": "select", "kind": "CLIENT", "timestamp": FIRST * 1_000_000,
        "duration": 10_000, "localEndpoint": {"serviceName": "shop"},
        "remoteEndpoint": {"serviceName": "accounts"},
    }  # fmt: skip
    return json.dumps([span])


@pytest.mark.parametrize("content", [otlp(), jaeger(), zipkin()])
def test_exports_keep_the_kind_and_the_callee(open_folder: OpenFolder, ctx: RunContext, content: str) -> None:
    """Of all three formats."""
    table = spans(open_folder({"spans.json": content}), ctx)
    assert callees(table) == ["accounts"]
    assert table.client is not None
    assert table.client.tolist() == [True]


def test_a_window_keeps_the_callees(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Rows and names stay together."""
    sources = open_folder({"traces.csv": of_columns("kind,peer.service", "client,accounts")})
    assert sources.spans is not None
    inside = sources.spans.spans(ctx, Recording.INCIDENT, window=TimeWindow(FIRST - 1, FIRST + 1))
    assert callees(inside) == ["accounts"]
    outside = sources.spans.spans(ctx, Recording.INCIDENT, window=TimeWindow(FIRST + 1, FIRST + 2))
    assert callees(outside) == []


@pytest.mark.parametrize(
    ("peer", "entity"),
    [
        ("orders", "orders"),
        ("orders-7f-x2", "orders"),
        ("orders.shop", "orders"),
        ("orders.shop.svc.cluster.local", "orders"),
        ("orders.internal", "orders"),
        ("orders.stripe.com", "orders.stripe.com"),
        ("bank.shop.svc", "bank.shop.svc"),
        ("unheard-of", "unheard-of"),
    ],
)
def test_an_address_inside_the_cluster_is_its_service(peer: str, entity: str) -> None:
    """A provider whose address begins alike is not."""
    reader = PeerReader(frozenset({"orders", "shop"}), {"orders-7f-x2": "orders"})
    assert reader.entity_of(peer) == entity


def payments(*, peer: str, kind: str = "client", slow: float = 1.0, failing: float = 0.0) -> Iterator[str]:
    """Web calls payments, which calls somebody who writes no spans, slower and failing from the onset on."""
    rng = np.random.default_rng(5)
    yield "trace_id,span_id,parent_id,entity,operation,start,duration_s,kind,peer.service,status\n"
    for trace in range(400):
        start = FIRST + 9.0 * trace
        late = start >= ONSET
        call_s = 0.05 * float(rng.lognormal(0.0, 0.1)) * (slow if late else 1.0)
        status = "error" if late and rng.random() < failing else "ok"
        served = f"{start + 0.003},{call_s + 0.004},server,,{status}"
        yield f"t{trace},a,,web,GET /pay,{start},{call_s + 0.02},server,,{status}\n"
        yield f"t{trace},b,a,web,POST,{start + 0.001},{call_s + 0.01},client,payments,{status}\n"
        yield f"t{trace},c,b,payments,POST /payments,{served}\n"
        yield f"t{trace},d,c,payments,call,{start + 0.005},{call_s},{kind},{peer},{status}\n"


INCIDENT = f"[incident]\nonset = {ONSET}\n"


@pytest.mark.parametrize(("slow", "failing"), [(8.0, 0.0), (1.0, 0.4)])
def test_a_callee_without_spans_is_charged_with_the_calls_to_it(
    open_folder: OpenFolder, ctx: RunContext, slow: float, failing: float
) -> None:
    """Slow or failing: it has a name, a place in the graph, and no evidence of its own origin."""
    content = "".join(payments(peer="accounts", slow=slow, failing=failing))
    views = Views(open_folder({"traces.csv": content, "incident.toml": INCIDENT}))
    items = RankCauses(views).run(ctx, {}).items
    assert items[0].entity == "accounts"
    assert items[0].attributes["path"] == "known"
    assert items[0].attributes["origin"] == ""
    assert items[0].attributes["fault_kind"] == "DEPENDENCY"
    findings = [item for item in CompareSpans(views).run(ctx, {}).items if item.entity == "accounts"]
    assert {item.peer for item in findings} == {"payments"}


def test_time_of_no_call_is_still_the_callers_own(open_folder: OpenFolder, ctx: RunContext) -> None:
    """An internal span is not a call."""
    content = "".join(payments(peer="", kind="internal", slow=8.0))
    items = (
        RankCauses(Views(open_folder({"traces.csv": content, "incident.toml": INCIDENT}))).run(ctx, {}).items
    )
    assert items[0].entity == "payments"
    assert items[0].attributes["origin"] == "own_time"


def test_an_operation_may_name_a_callee_that_the_topology_knows(
    open_folder: OpenFolder, ctx: RunContext
) -> None:
    """Many tracers write no address."""
    content = "".join(payments(peer="", slow=8.0)).replace(",call,", ",GET accounts/charge,")
    topology = "caller,callee\nweb,payments\npayments,accounts\n"
    folder = {"traces.csv": content, "incident.toml": INCIDENT, "topology.csv": topology}
    items = RankCauses(Views(open_folder(folder))).run(ctx, {}).items
    assert items[0].entity == "accounts"
