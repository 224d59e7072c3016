"""Log lines as tools print them: whose each is, its time, its level, and what an access log measures."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import numpy as np
import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.ports import UNNAMED_ENTITY, LogLine, Recording, Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
START_S = datetime(2026, 5, 6, 8, 40, tzinfo=UTC).timestamp()


def lines_of(sources: Sources, ctx: RunContext) -> list[LogLine]:
    """All lines, by time."""
    assert sources.logs is not None
    page = sources.logs.search(ctx, Recording.INCIDENT, text=None, entities=None, window=None, limit=1000)
    return list(page.lines)


@pytest.mark.parametrize(
    ("line", "entity", "level", "message"),
    [
        ('<131>1 {t}.003Z web-1 cart 71 ID47 [a@1 b="\\]"][c@1] no pool', "cart", "ERROR", "no pool"),
        ("<134>1 {t}.003Z web-1 - - - - ready", "web-1", "INFO", "ready"),
        ("cart-db-1  | {t}.5Z ERROR: no space", "cart-db", "ERROR", "ERROR: no space"),
        ("\x1b[36mcart_2   |\x1b[0m {t}Z [error] no pool", "cart", "error", "[error] no pool"),
        ("{t}+0000 web-1 cart[71]: ERROR no pool", "cart", "ERROR", "ERROR no pool"),
        ("{t}+00:00 web-1 kernel: Out of memory", "kernel", None, "Out of memory"),
        (
            "[Wed May 06 08:40:00.123456 2026] [proxy:error] [pid 7] refused",
            None,
            "error",
            "[proxy:error] [pid 7] refused",
        ),
        ("{t}Z ERROR Pool[3]: none left", None, "ERROR", "ERROR Pool[3]: none left"),
    ],
)
def test_the_beginning_of_a_line_says_whose_it_is(
    line: str, entity: str | None, level: str | None, message: str, open_folder: OpenFolder, ctx: RunContext
) -> None:
    """And what stands there is no part of the message; a level before a bracket names no process."""
    text = "".join(line.replace("{t}", f"2026-05-06T08:40:0{at}") + "\n" for at in range(3))

    found = lines_of(open_folder({"messages.log": text}), ctx)

    assert [(one.entity, one.level, one.message) for one in found] == [(entity, level, message)] * 3
    assert int(found[0].time_s) == START_S


def test_a_stack_trace_stays_with_its_own_container(open_folder: OpenFolder, ctx: RunContext) -> None:
    """Lines of containers alternate, and each container writes times of its own form."""
    text = (
        "cart-1  | 2026-05-06 08:40:00,120 ERROR no pool\n"
        "db-1    | 2026-05-06 08:40:01.223 UTC [27] LOG:  checkpoint\n"
        "cart-1  |   at Pool.get(Pool.java:7)\n"
        "web-1   | 2026/05/06 08:40:02 [error] 31#31: refused\n"
    )

    found = lines_of(open_folder({"compose.log": text}), ctx)

    assert [(one.entity, one.message) for one in found] == [
        ("cart", r"ERROR no pool\x0a  at Pool.get(Pool.java:7)"),
        ("db", "[27] LOG:  checkpoint"),
        ("web", "[error] 31#31: refused"),
    ]
    assert [round(one.time_s - START_S, 3) for one in found] == [0.12, 1.223, 2]


def test_properties_fill_the_template_of_serilog(open_folder: OpenFolder, ctx: RunContext) -> None:
    """The exception follows the message; a level that is left out is Information."""
    lines = [
        {
            "@t": "2026-05-06T08:40:00.1234567Z",
            "@mt": "{User} paid {Sum:0.00} {Lost}",
            "User": "u1",
            "Sum": 7,
        },
        {"@t": "2026-05-06T08:40:01Z", "@m": "no pool", "@l": "Error", "@x": "TimeoutException\n   at A.B()"},
    ]

    found = lines_of(open_folder({"cart.clef": "\n".join(map(json.dumps, lines))}), ctx)

    assert [(one.entity, one.level, one.message) for one in found] == [
        ("cart", "Information", "u1 paid 7 {Lost}"),
        ("cart", "Error", r"no pool\x0aTimeoutException\x0a   at A.B()"),
    ]


NGINX = {"request": "GET /pay HTTP/1.1", "request_time": "0.250", "host": "cart"}
ENVOY = {"method": "GET", "path": "/pay", "duration": 250, "authority": "cart:8080"}
TRAEFIK = {
    "RequestMethod": "GET",
    "RequestPath": "/pay",
    "Duration": 250_000_000,
    "ServiceName": "cart@docker",
}
CADDY = {"request": {"method": "GET", "uri": "/pay", "host": "cart"}, "duration": 0.25}
OTHER = {"method": "GET", "path": "/pay", "duration": 250, "service": "cart"}


@pytest.mark.parametrize(
    ("record", "time", "status", "latency_s"),
    [
        (NGINX, "time_iso8601", "status", 0.25),
        (NGINX, "time_local", "status", 0.25),
        (ENVOY, "start_time", "response_code", 0.25),
        (TRAEFIK, "StartUTC", "DownstreamStatus", 0.25),
        (CADDY, "ts", "status", 0.25),
        (OTHER, "time", "status", None),
    ],
)
def test_an_access_log_as_json_measures_its_service(
    record: dict[str, object],
    time: str,
    status: str,
    latency_s: float | None,
    open_folder: OpenFolder,
    ctx: RunContext,
) -> None:
    """Rates, errors and latency by the minute; a duration whose unit nobody knows gives none."""

    def line(at_s: float) -> str:
        when = datetime.fromtimestamp(at_s, UTC)
        shown = {"time_local": f"{when:%d/%b/%Y:%H:%M:%S} +0000", "ts": at_s}.get(
            time, f"{when:%Y-%m-%dT%H:%M:%S}Z"
        )
        return json.dumps({**record, time: shown, status: 503 if at_s % 20 else 200})

    text = "\n".join(line(START_S + 10 * at) for at in range(24))
    sources = open_folder({"access.log": text})

    assert sources.metrics is not None
    series = {one.signal: one for one in sources.metrics.series(ctx, Recording.INCIDENT)}
    assert {one.entity for one in series.values()} == {"cart"}
    assert np.round(series["requests_per_second"].value, 3).tolist() == [0.1, 0.1]
    assert series["errors_5xx_ratio"].value.tolist() == [0.5, 0.5]
    assert ("latency_p95" in series) == (latency_s is not None)
    if latency_s is not None:
        assert series["latency_p95"].value.tolist() == [latency_s, latency_s]
    assert lines_of(sources, ctx)[1].message.startswith("GET /pay")


_COMMON_LINE = '10.0.0.7 - - [{t:%d/%b/%Y:%H:%M:%S} +0000] "GET /pay HTTP/1.1" 200 154 "-" "curl/8"'
_JSON_LINE = (
    '{{"time_iso8601": "{t:%Y-%m-%dT%H:%M:%S}+00:00", "remote_addr": "10.0.0.7", "request": "GET /pay",'
    ' "status": "200", "upstream_addr": "10.1.2.3:8080"}}'
)
_ENVOY_LINE = (
    '[{t:%Y-%m-%dT%H:%M:%S}.123Z] "GET /pay HTTP/1.1" 200 - 0 154 250 249 "-" "curl/8" "id-1" "{host}" '
    '"10.1.2.3:8080"'
)


@pytest.mark.parametrize(
    ("name", "line", "entity"),
    [
        ("access.log", _COMMON_LINE, None),
        ("access.json", _JSON_LINE, None),
        ("localhost_access_log.2026-05-06.txt", _COMMON_LINE, None),
        ("cart-access.log", _COMMON_LINE, "cart"),
        ("cart_access_log.20260506", _COMMON_LINE, "cart"),
        ("cart-access.json", _JSON_LINE, "cart"),
        ("other_vhosts_access.log", "cart.example.com:443 " + _COMMON_LINE, "cart.example.com"),
        (
            "access.log",
            _COMMON_LINE + " 322 0.250 [shop-cart-8080] [] 10.1.2.3:8080 154 0.249 200 a",
            "shop-cart",
        ),
        ("access.log", _ENVOY_LINE.replace("{host}", "cart.shop.svc.cluster.local:80"), "cart"),
        ("access.log", _ENVOY_LINE.replace("{host}", "10.1.2.3:8080"), None),
    ],
)
def test_requests_belong_to_the_host_in_their_line_or_to_the_service_that_names_the_file(
    name: str, line: str, entity: str | None, open_folder: OpenFolder, ctx: RunContext
) -> None:
    """What a file is called besides its owner names no service; then a note says what to do."""
    text = "\n".join(line.format(t=datetime.fromtimestamp(START_S + 20 * at, UTC)) for at in range(12))

    sources = open_folder({name: text})

    assert {one.entity for one in lines_of(sources, ctx)} == {entity}
    assert sources.metrics is not None
    series = {one.signal: one for one in sources.metrics.series(ctx, Recording.INCIDENT)}
    assert {one.entity for one in series.values()} == {entity or UNNAMED_ENTITY}
    note = next(one.note for one in sources.summary.summary(ctx).files if one.file == name)
    assert ("name the file after its service" in note) == (entity is None)
    if "latency_mean" in series:
        assert series["latency_mean"].value.tolist() == [0.25, 0.25]
    assert ("latency_mean" in series) == (" 0.250 " in line or " 250 " in line)
