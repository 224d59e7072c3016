"""A saved run verifies; an altered one does not, even if every digest in it is recomputed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.support.forgery import seal

from diagnosis_harness.audit.verification.result import CheckName, CheckResult, FlawCode
from diagnosis_harness.audit.verification.verify import is_unaltered, verify
from diagnosis_harness.guards.verdict import FindingCode
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.report.document import root_digest

Saved = Callable[..., Any]
Change = Callable[[dict[str, Any]], None]

WHITESPACE = b" \t\n\r"


def write(content: dict[str, Any]) -> bytes:
    """A document in its one byte form, whatever it states of itself."""
    return json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"


def codes(data: bytes) -> set[str]:
    """Everything that verifying objects to."""
    return {flaw.code.value for check in verify(data, file="run.json").checks for flaw in check.flaws}


def holds(data: bytes) -> bool:
    """Whether nothing is objected to; what is not a run document does not hold either."""
    try:
        return verify(data, file="run.json").verified
    except InvalidInput:
        return False


def keeps_every_byte(data: bytes) -> bool:
    """Whether the file is byte for byte what was saved."""
    try:
        return is_unaltered(data, file="run.json")
    except InvalidInput:
        return False


@pytest.mark.parametrize(
    "wanted",
    [
        ("cpu",),
        ("cpu", "--lang", "zh"),
        ("network-delay",),
        ("errors-after-deploy",),
        ("none",),
        ("none", "--lang", "zh"),
        ("cpu", "--deadline", "0.001"),
    ],
    ids=" ".join,
)
def test_a_saved_run_verifies(saved: Saved, wanted: tuple[str, ...]) -> None:
    """Whatever its end and its language; every check was made."""
    verification = verify(saved(*wanted).data, file="run.json")

    assert {check.name: check.flaws for check in verification.checks if check.flaws} == {}
    assert {check.result for check in verification.checks} == {CheckResult.HOLDS}
    assert [check.name for check in verification.checks] == list(CheckName)
    assert verification.verified


def test_sealing_an_unaltered_run_gives_the_same_bytes(saved: Saved) -> None:
    """The forger of these tests adds no flaw of his own."""
    assert seal(json.loads(saved().data)) == saved().data


@pytest.mark.proof
@pytest.mark.parametrize("part", range(4))
def test_every_flipped_byte_is_detected(saved: Saved, part: int, scale: float) -> None:
    """At every position, by turns: the lowest bit, the bit of upper case, the bit that is no ASCII."""
    data: bytes = saved().data
    step = round(1 / scale)
    masks = (0x01, 0x20, 0x80)
    missed = [
        (place, mask)
        for turn, place in enumerate(range(part * step, len(data), 4 * step))
        if keeps_every_byte(
            data[:place] + bytes([data[place] ^ (mask := masks[turn % len(masks)])]) + data[place + 1 :]
        )
    ]

    assert missed == []


@pytest.mark.proof
def test_no_other_value_of_a_byte_goes_unseen(saved: Saved, scale: float) -> None:
    """All 255 other values, at places spread over the file."""
    data: bytes = saved().data
    missed = [
        (place, value)
        for place in range(0, len(data), round(333 / scale))
        for value in range(256)
        if value != data[place] and keeps_every_byte(data[:place] + bytes([value]) + data[place + 1 :])
    ]

    assert missed == []


@pytest.mark.proof
def test_another_layout_is_another_file(saved: Saved, scale: float) -> None:
    """White space means nothing to JSON, and still none of it can be exchanged, added or removed."""
    data: bytes = saved().data
    blanks = [place for place, value in enumerate(data) if value in WHITESPACE]
    missed = [
        (place, other)
        for place in blanks[:: round(100 / scale)]
        for other in (b"", b"  ", b"\t", b"\n", b"\r", b" ")
        if other != data[place : place + 1] and keeps_every_byte(data[:place] + other + data[place + 1 :])
    ]

    assert missed == []
    assert not keeps_every_byte(data + b"\n")
    assert not keeps_every_byte(json.dumps(json.loads(data)).encode())
    assert not keeps_every_byte(data.replace(b'"quotes":', b'"quotes": [],\n"quotes":', 1))


def test_an_altered_file_does_not_verify(saved: Saved) -> None:
    """What `is_unaltered` sees is among the checks that `verify` lists."""
    data: bytes = saved().data
    assert codes(data.replace(b'"limit_s": 120.0', b'"limit_s": 121.0')) == {"ROOT_DIGEST_DIFFERS"}
    assert codes(data.replace(b'"limit_s": 120.0', b'"limit_s":  120.0')) == {"OTHER_BYTES"}
    assert codes(data.replace(b'"limit_s": 120.0', b'"limit_s": "long"')) == {
        "ROOT_DIGEST_DIFFERS",
        "NOT_OF_THE_SCHEMA",
    }


def test_checks_that_cannot_be_made_are_said_to_be_unmade(saved: Saved) -> None:
    """A document that cannot be read holds nothing else to look at; nothing of it counts as held."""
    content = json.loads(saved().data)
    content["run"]["more"] = 1

    verification = verify(seal(content), file="run.json")

    results = {check.name: check.result for check in verification.checks}
    assert results.pop(CheckName.ROOT_DIGEST) is CheckResult.HOLDS
    assert results.pop(CheckName.SCHEMA) is CheckResult.FAILS
    assert set(results.values()) == {CheckResult.NOT_CHECKED}
    assert not verification.verified


def test_record_digests_computed_again_do_not_help(saved: Saved) -> None:
    """If stored text is altered and its digest and size recomputed, the root digest still shows it."""
    content = json.loads(saved().data)
    stated = content["root_digest"]
    stored = content["records"][3]["stored"]
    content["records"][3]["stored"] = re.sub(
        r'(?<="looked_at":)\d', lambda digit: str(9 - int(digit[0])) if digit[0] != "9" else "1", stored
    )
    seal(content)
    content["root_digest"] = stated

    assert codes(write(content)) == {FlawCode.ROOT_DIGEST_DIFFERS.value}


def _claim(content: dict[str, Any], predicate: str) -> Any:
    return next(claim for claim in content["report"]["claims"] if claim["predicate"] == predicate)


def _in_claim(predicate: str, field: str, value: object) -> Change:
    return lambda held: _claim(held, predicate).__setitem__(field, value)


def _in(path: str, value: object) -> Change:
    def change(content: dict[str, Any]) -> None:
        *steps, last = (int(step) if step.isdigit() else step for step in path.split("."))
        inner: Any = content
        for step in steps:
            inner = inner[step]
        inner[last] = value(inner[last]) if callable(value) else value

    return change


def _exchange_stored(content: dict[str, Any]) -> None:
    """Two answers of one tool, each under the other's question."""
    one, other = (record for record in content["records"] if record["tool"] == "inspect_signal")
    one["stored"], other["stored"] = other["stored"], one["stored"]


def _weaken_record(content: dict[str, Any]) -> None:
    """A number in the stored bytes that a claim rests on."""
    claim = _claim(content, "CHANGED")
    record = next(r for r in content["records"] if r["tool_call_id"] == claim["refs"][0]["tool_call_id"])
    stored = json.loads(record["stored"])
    item = next(each for each in stored["items"] if each["item_id"] == claim["refs"][0]["item_id"])
    item["value"] /= 2
    record["stored"] = json.dumps(stored, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (_in_claim("CHANGED", "value", 12.5), FindingCode.VALUE_NOT_SUPPORTED),
        (_in_claim("CHANGED", "baseline", 12.5), FindingCode.BASELINE_NOT_SUPPORTED),
        (_in_claim("CHANGED", "unit", "B"), FindingCode.VALUE_NOT_SUPPORTED),
        (_in_claim("CHANGED", "entity", "payments-db"), FindingCode.ENTITY_NOT_SUPPORTED),
        (_in_claim("CHANGED", "signal", "disk_io"), FindingCode.SIGNAL_NOT_SUPPORTED),
        (_in_claim("CHANGED", "direction", "DOWN"), FindingCode.DIRECTION_NOT_SUPPORTED),
        (_in_claim("CHANGED", "predicate", "SLOWED"), FindingCode.PREDICATE_NOT_SUPPORTED),
        (_in_claim("CAUSED", "affected", "somebody-else"), FindingCode.AFFECTED_NOT_SUPPORTED),
        (_in_claim("BEGAN", "onset_at", "2024-01-01T00:00:00Z"), FindingCode.ONSET_NOT_SUPPORTED),
        (
            _in_claim("CHANGED", "window", {"start": "2024-01-01T00:00:00Z", "end": "2024-01-02T00:00:00Z"}),
            FindingCode.WINDOW_NOT_SUPPORTED,
        ),
        (_in("report.claims.1.quotes.0.text", "it rose"), FindingCode.QUOTE_NOT_VERBATIM),
        (_in("report.claims.1.quotes.0.ref.item_id", "s999"), FindingCode.QUOTE_NOT_CITED),
        (_in("report.claims.1.refs.0.item_id", "s999"), FindingCode.ITEM_UNKNOWN),
        (_in("report.claims.1.refs.0.tool_call_id", "t1"), FindingCode.ITEM_UNKNOWN),
        (_in("report.claims.1.refs.0.tool_call_id", "t99"), FlawCode.NOT_OF_THE_SCHEMA),
        (_in("report.claims", lambda claims: [*claims, claims[-1]]), FindingCode.CLAIM_ID_TWICE),
        (_in("report.claims.1.sentence", "All is well."), FlawCode.SENTENCE_DIFFERS),
        (_in("report.claims.1.more", 1), FlawCode.NOT_OF_THE_SCHEMA),
        (_in("report.causes.0.entity", "somebody-else"), FindingCode.CAUSE_WITHOUT_CLAIM),
        (_in("report.causes.0.fault_kind", "TRAFFIC"), FindingCode.FAULT_KIND_NOT_SUPPORTED),
        (_in("report.causes.0.region", "the cellar"), FindingCode.REGION_NOT_SUPPORTED),
        (_in("report.causes.0.score", 99.0), FlawCode.SCORE_NOT_CITED),
        (_in("report.causes.0.claim_ids", lambda ids: ids[:1]), FindingCode.CAUSE_WITHOUT_DIRECT_EVIDENCE),
        (_in("report.causes", []), FlawCode.SUMMARY_DIFFERS),
        (_in("report.summary.0", "Nobody is the cause."), FlawCode.SUMMARY_DIFFERS),
        (_in("report.next_checks", ["Go home."]), FlawCode.NEXT_CHECKS_DIFFER),
        (_in("report.window.start", "2024-01-01T00:00:00Z"), FlawCode.WINDOW_OF_NO_RECORD),
        (_in("report.window.start", "yesterday"), FlawCode.NOT_OF_THE_SCHEMA),
        (_in("report.coverage.asked", lambda asked: asked[1:]), FlawCode.COVERAGE_DIFFERS),
        (_in("report.coverage.asked", lambda asked: [*asked, asked[0]]), FlawCode.COVERAGE_DIFFERS),
        (_in("report.coverage.asked.0.items", 99), FlawCode.COVERAGE_DIFFERS),
        (_in("report.coverage.never_asked", ["rank_causes"]), FlawCode.COVERAGE_DIFFERS),
        (_in("report.candidates.0.score", 99.0), FlawCode.CANDIDATE_NOT_SUPPORTED),
        (_in("report.candidates.0.fault_kind", "TRAFFIC"), FlawCode.CANDIDATE_NOT_SUPPORTED),
        (_in("report.candidates.0.evidence_for.0.item_id", "c99"), FlawCode.CANDIDATE_NOT_SUPPORTED),
        (_exchange_stored, FlawCode.STORED_FOR_ANOTHER_CALL),
        (_weaken_record, FindingCode.VALUE_NOT_SUPPORTED),
        (_in("records.3.stored", lambda stored: stored + " "), FlawCode.STORED_BYTES_INVALID),
        (_in("records.3.stored", None), FlawCode.RECORD_INCOMPLETE),
        (_in("records.3.scope", '{"entity":"cart"}'), FlawCode.STORED_FOR_ANOTHER_CALL),
        (_in("records.3.scope", "{ }"), FlawCode.RECORD_IMPOSSIBLE),
        (_in("records.3.tool", "search_logs"), FlawCode.STORED_FOR_ANOTHER_CALL),
        (_in("records.3.evidence_status", "NO_EVIDENCE"), FlawCode.RECORD_IMPOSSIBLE),
        (_in("records", lambda records: [*records, records[0]]), FlawCode.RECORD_TWICE),
        (_in("run.state", "TIMED_OUT"), FlawCode.NOT_IN_THE_TABLE),
        (_in("run.termination.reason", "USER_REQUESTED"), FlawCode.REASON_DOES_NOT_FIT),
        (_in("release.failure", "It failed."), FlawCode.FAILURE_DOES_NOT_FIT),
        (_in("run.usage.1.used", 2), FlawCode.COUNTED_TOO_LITTLE),
        (_in("run.usage.1.used", 61), FlawCode.OVER_THE_LIMIT),
        (_in("run.usage", []), FlawCode.COUNTED_TOO_LITTLE),
        (_in("run.duration_s", 90.0), FlawCode.DURATION_DIFFERS),
        (_in("run.termination.at", "2020-01-01T00:00:00Z"), FlawCode.OUT_OF_ORDER),
        (_in("records.0.started_at", "2020-01-01T00:00:00Z"), FlawCode.OUT_OF_ORDER),
        (_in("records.0.duration_s", 1e6), FlawCode.OUT_OF_ORDER),
        (_in("trace.5.at", "2020-01-01T00:00:00Z"), FlawCode.OUT_OF_ORDER),
        (_in("trace.5.at", "noon"), FlawCode.NOT_OF_THE_SCHEMA),
    ],
)
def test_what_the_records_do_not_support_is_named_although_digests_match(
    saved: Saved, change: Change, code: FlawCode | FindingCode
) -> None:
    """All digests are right again; the checks of the run itself are made again and object."""
    content = json.loads(saved().data)
    change(content)

    assert code.value in codes(seal(content))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (_in("report.claims.0.predicate", "AFFECTED"), FindingCode.NOT_CONCLUDED),
        (_in("release.fallback_type", "MISSING_REQUIRED_CONTEXT"), FlawCode.NOT_IN_THE_TABLE),
        (_in("release.fallback_type", None), FlawCode.NOT_OF_THE_SCHEMA),
        (_in("report.missing_info", ["any source"]), FlawCode.MISSING_OF_NO_RECORD),
        (_in("report.missing_names", ["ledger"]), FlawCode.MISSING_OF_NO_RECORD),
        (_in("report.candidates", lambda ranked: ranked[::-1]), FlawCode.CANDIDATE_NOT_SUPPORTED),
        (_in("report.summary.1", "No doubt about it."), FlawCode.SUMMARY_DIFFERS),
        (_in("report.next_checks.0", "Look at the weather."), FlawCode.NEXT_CHECKS_DIFFER),
    ],
)
def test_a_fallback_cannot_be_dressed_up(saved: Saved, change: Change, code: FlawCode | FindingCode) -> None:
    """No conclusion in it, no other type, no other words."""
    content = json.loads(saved("none", "--seed", "1").data)
    change(content)

    assert code.value in codes(seal(content))


def test_two_digests_exchanged_are_seen(saved: Saved) -> None:
    """The digest of one record under another, and the root digest computed over that."""
    content = json.loads(saved().data)
    one, other = content["records"][:2]
    one["digest"], other["digest"] = other["digest"], one["digest"]
    one["size_bytes"], other["size_bytes"] = other["size_bytes"], one["size_bytes"]
    content["root_digest"] = root_digest(content)

    assert codes(write(content)) == {"RECORD_DIGEST_DIFFERS", "RECORD_SIZE_DIFFERS", "TRACE_DIFFERS"}


NOTHING_ELSE_VOUCHES = re.compile(
    r"""trace\.\d+\.at|schema_version|root_digest|.*\.(digest|size_bytes)
    |run\.(session_id|run_id|limit_s|started_at|usage\.\d+\.limit)
    |records\.\d+\.(caller|started_at)
    |inquiry\.inventory\.(entities\.\d+\..*|calls\.\d+\..*|omitted)
    |report\.coverage\.(never_asked\.\d+|(not_used|not_compared)\.\d+\.\w+)""",
    re.VERBOSE,
)
"""Fields that only the root digest protects: no record states them (docs/explain/verify.md lists them)."""


def _leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(inner, (*path, key))
    elif value is not None:
        yield path


def _other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 3_600  # a record may take as long as its run, so a second more may be true
    if re.match(r"\d{4}-\d\d-\d\dT", value):
        return re.sub(r"T\d\d", lambda hour: "T01" if hour[0] != "T01" else "T02", value)
    return f"{value}x"


@pytest.mark.proof
@pytest.mark.parametrize("fault", ["cpu", "none"])
def test_every_field_that_a_record_vouches_for_is_checked(saved: Saved, fault: str, scale: float) -> None:
    """Each single value altered under a new seal; the only ones that pass are those no record states."""
    data = saved(fault).data
    every = _leaves(json.loads(data))
    paths = [path for path in every if not NOTHING_ELSE_VOUCHES.fullmatch(".".join(map(str, path)))]
    missed = []
    for path in paths[:: round(1 / scale)]:
        content = json.loads(data)
        inner: Any = content
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = _other(inner[path[-1]])
        if holds(seal(content)):
            missed.append(path)

    assert len(paths) > 200
    assert missed == []


def test_a_forgery_of_everything_is_consistent_and_only_its_root_digest_differs(saved: Saved) -> None:
    """The limit of any check without a signature: records, quote, claim and sentence all forged alike."""
    content = json.loads(saved().data)
    before = content["root_digest"]
    claim = _claim(content, "CAUSED")
    text = json.dumps(content, ensure_ascii=False).replace(claim["entity"], "innocent")
    forged = seal(json.loads(text))

    verification = verify(forged, file="run.json")

    assert verification.verified
    assert verification.root_digest != before


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "not a run document"),
        (b"{}", "not a run document"),
        (b'{"schema_version": "1", "run": {}, "report": {}, "records": []}', "version 1"),
    ],
    ids=range(7),
)
def test_what_is_not_a_run_document_is_refused_in_one_sentence(data: bytes, problem: str) -> None:
    """That is bad input, and no verdict."""
    with pytest.raises(InvalidInput, match=problem):
        verify(data, file="run.json")
