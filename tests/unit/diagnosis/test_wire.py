"""The wire: what is written comes back, what does not fit is refused, sizes are bounded."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.diagnosis.answer_size import ANSWER_TEXT_MAX
from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, FaultKind, Predicate, Quote
from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft, Hypothesis, SetAside, SetAsideReason
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.policy import (
    AskTools,
    GiveDraft,
    PolicyAnswer,
    PolicyView,
    Refused,
    WantedCall,
)
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.diagnosis.wire import decode_answer, encode_answer, view_json
from diagnosis_harness.diagnosis.wire_fields import LIST_MAX, SIZE_MAX_BYTES
from diagnosis_harness.diagnosis.wire_schema import answer_schema
from diagnosis_harness.kernel.errors import MalformedAnswer
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.testing.evidence import (
    ONSET_S,
    WINDOW,
    change_item,
    error_record,
    ready_record,
)
from diagnosis_harness.tools.evidence import Direction
from diagnosis_harness.tools.spec import Parameter, ParameterKind, ToolSpec

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(str.strip)
ID = st.from_regex(r"[A-Za-z0-9._-]{1,12}", fullmatch=True)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
SECONDS = st.floats(min_value=0, max_value=4e9)
REF = st.builds(EvidenceRef, ID, TEXT)
WINDOWS = st.tuples(SECONDS, SECONDS).map(lambda ends: TimeWindow(min(ends), max(ends)))
MAYBE = st.none


def few(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    """Up to two."""
    return st.lists(strategy, max_size=2).map(tuple)


CLAIM = st.builds(
    Claim,
    claim_id=ID, predicate=st.sampled_from(Predicate), entity=TEXT, refs=few(REF),
    quotes=few(st.builds(Quote, REF, TEXT)), affected=MAYBE() | TEXT, signal=MAYBE() | TEXT,
    value=MAYBE() | NUMBER, baseline=MAYBE() | NUMBER, unit=MAYBE() | TEXT,
    direction=MAYBE() | st.sampled_from(Direction), window=MAYBE() | WINDOWS, onset_s=MAYBE() | SECONDS,
    wording=MAYBE() | TEXT,
)  # fmt: skip
ASSESSMENTS = few(st.builds(Assessment, ID, st.sampled_from(InformationGain), few(CLAIM)))
CAUSE = st.builds(Cause, TEXT, st.sampled_from(FaultKind), few(TEXT), MAYBE() | TEXT, MAYBE() | NUMBER)
HYPOTHESIS = st.builds(
    Hypothesis, TEXT, st.sampled_from(FaultKind), NUMBER, few(REF), few(REF), MAYBE() | TEXT
)
CLAIMS = st.lists(CLAIM, max_size=2, unique_by=lambda claim: claim.claim_id).map(tuple)
SET_ASIDE = st.builds(SetAside, ID, st.sampled_from(SetAsideReason))
DRAFT = st.builds(
    DiagnosisDraft, few(CAUSE), CLAIMS, few(HYPOTHESIS), few(st.sampled_from(MissingInfo)), MAYBE() | WINDOWS,
    few(TEXT), few(SET_ASIDE),
)  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
CALL = st.builds(WantedCall, ID, TEXT, st.dictionaries(TEXT, JSON, max_size=2))
ANSWER = st.builds(AskTools, few(CALL), ASSESSMENTS) | st.builds(GiveDraft, MAYBE() | DRAFT, ASSESSMENTS)
SCHEMA = jsonschema.Draft202012Validator(answer_schema())

FULL = encode_answer(
    GiveDraft(
        DiagnosisDraft(
            conclusion=(Cause("payment", FaultKind.CPU, ("k0",), "charge", 9.0),),
            claims=(
                Claim(
                    "k0", Predicate.CHANGED, "payment", (EvidenceRef("t1", "i1"),),
                    (Quote(EvidenceRef("t1", "i1"), "payment rose"),), "checkout", "latency", 3.2, 0.2, "s",
                    Direction.UP, WINDOW, ONSET_S, "it rose",
                ),
            ),
            hypotheses=(Hypothesis("cart", FaultKind.CPU, 1.0, (EvidenceRef("t1", "i2"),)),),
            missing_info=(MissingInfo.LOGS,),
            missing_names=("billing",),
            set_aside=(SetAside("t9", SetAsideReason.FEWER_KINDS),),
            window=WINDOW,
        ),
        (Assessment("t1", InformationGain.GAINED),),
    )
)  # fmt: skip


@given(ANSWER)
def test_what_is_written_comes_back(answer: PolicyAnswer) -> None:
    """Every answer survives its way over the wire, to the last bit of every number, and fits the schema."""
    text = encode_answer(answer)
    assert decode_answer(text) == answer
    assert SCHEMA.is_valid(json.loads(text))


def test_a_call_without_arguments_has_none() -> None:
    """`arguments` may be left out."""
    answer = decode_answer('{"calls": [{"tool_call_id": "t1", "tool": "look"}]}')
    assert answer == AskTools((WantedCall("t1", "look", {}),))


def _places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, entry in inner for place in _places(entry, (*path, key)))]


PLACES = _places(json.loads(FULL))
STRANGE = [None, True, 7, "x", "", [], {}, {"x": 1}, ["x"], "2024-01-01", "t 1", -1.5, "x" * 2001]


@given(st.sampled_from(PLACES), st.sampled_from(STRANGE), st.sampled_from(["put", "drop", "add"]))
def test_reader_and_schema_refuse_the_same(place: tuple[str | int, ...], strange: Any, how: str) -> None:
    """One strange value at one place: what the schema refuses is refused, and the other way round."""
    value: Any = {"": json.loads(FULL)}
    at = value
    for key in ("", *place)[:-1]:
        at = at[key]
    last = ("", *place)[-1]
    if how == "drop" and place:
        del at[last]
    elif how == "add" and isinstance(at[last], dict):
        at[last]["unheard_of"] = strange
    else:
        at[last] = strange
    beyond = "start" in place or "end" in place or "onset" in place  # a schema cannot tell a time from a text
    try:
        decode_answer(json.dumps(value[""]))
    except MalformedAnswer:
        assert beyond or not SCHEMA.is_valid(value[""])
    else:
        assert SCHEMA.is_valid(value[""])


CALLS = '{"calls": []}'
REFUSED = [
    ("", "answer: expected JSON, found an error at line 1, column "),
    ("Sure! Here is my draft: {}", "answer: expected JSON, found an error at line 1, column "),
    ("```json\n{}\n```", "answer: expected JSON, found an error at line 1, column "),
    (CALLS + "x", "answer: expected JSON, found an error at line 1, column "),
    ("[]", "answer: expected an object, found a list"),
    ("null", "answer: expected an object, found null"),
    ("{}", "answer: expected either 'calls' or 'draft', found "),
    ('{"calls": [], "draft": null}', "answer: expected either 'calls' or 'draft', found "),
    ('{"calls": [], "calls": []}', "answer: expected each name once in an object, found 'calls' twice"),
    ('{"calls": [], "thoughts": "x"}', "answer: expected only known fields, found field 'thoughts'"),
    ('{"calls": {}}', "answer.calls: expected a list, found an object"),
    ('{"calls": [7]}', "answer.calls[0]: expected an object, found a number"),
    ('{"calls": [{"tool": "x"}]}', "answer.calls[0]: expected field 'tool_call_id', found an object without"),
    ('{"calls": [{"tool_call_id": "a:b", "tool": "x"}]}', "calls[0].tool_call_id: expected 1 to 128 of"),
    ('{"calls": [{"tool_call_id": "a", "tool": "x", "caller": "root"}]}', "fields, found field 'caller'"),
    ('{"calls": [{"tool_call_id": "a", "tool": "x", "arguments": null}]}', "arguments: expected an object"),
    ('{"calls": [{"tool_call_id": "a", "tool": "x", "arguments": {"a": NaN}}]}', "a JSON number, found NaN"),
    ('{"calls": [{"tool_call_id": "a", "tool": "\\ud800"}]}', "answer: expected whole characters"),
    (FULL.replace("3.2", '"3.2"', 1), "answer.draft.claims[0].value: expected a number, found a text"),
    (FULL.replace("3.2", "true", 1), "answer.draft.claims[0].value: expected a number, found true or false"),
    (FULL.replace("3.2", "1e999", 1), "answer: expected a number that a computer can hold, found"),
    (FULL.replace("3.2", "9" * 400, 1), "answer: expected a number of at most 300 digits, found"),
    (FULL.replace("3.2", "9" * 9000, 1), "answer: expected a number of at most 300 digits, found"),
    (FULL.replace("CHANGED", "changed", 1), "answer.draft.claims[0].predicate: expected one of CHANGED, "),
    (FULL.replace('"wording"', '"confidence":1,"wording"', 1), "only known fields, found field 'confidence'"),
    (FULL.replace('"t1"', '"t:1"', 1), "answer.assessments[0].tool_call_id: expected 1 to 128 of"),
    (FULL.replace("2023-11-14T22:13:20Z", "yesterday", 1), "claims[0].window.start: expected an ISO 8601"),
    (FULL.replace("2023-11-14T22:13:20Z", "2024-11-14T22:13:20Z", 1), "window: expected an end at"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "says"), REFUSED)
def test_what_does_not_fit_is_refused_with_its_place(text: str, says: str) -> None:
    """One clause, which names the path."""
    with pytest.raises(MalformedAnswer) as caught:
        decode_answer(text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_two_claims_of_one_id_are_refused() -> None:
    """An id names one claim."""
    content = json.loads(FULL)
    content["draft"]["claims"] *= 2
    with pytest.raises(MalformedAnswer, match="two claims of one claim_id"):
        decode_answer(json.dumps(content))


def test_a_draft_of_ten_megabytes_is_refused_before_it_is_parsed() -> None:
    """Size comes first: this text is not even JSON, and the objection is its size."""
    with pytest.raises(MalformedAnswer, match=f"at most {SIZE_MAX_BYTES} bytes, found more"):
        decode_answer("{" * 10_000_000)
    with pytest.raises(MalformedAnswer, match=f"at most {SIZE_MAX_BYTES} bytes, found more"):
        decode_answer('"' + "延" * (SIZE_MAX_BYTES // 3) + '"')


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 40_000, '{"calls": [{"arguments": ' + "[" * 20])
def test_what_is_nested_too_deep_is_refused_before_it_is_parsed(text: str) -> None:
    """Depth is looked at without recursion."""
    with pytest.raises(MalformedAnswer, match="at most 16 levels of nesting, found more"):
        decode_answer(text)


def test_brackets_in_texts_are_not_depth() -> None:
    """Only structure counts."""
    text = json.dumps({"calls": [{"tool_call_id": "t", "tool": "x", "arguments": {"q": '[{"\\' * 40}}]})
    assert isinstance(decode_answer(text), AskTools)


def test_lists_and_texts_are_bounded() -> None:
    """One more than the limit is refused."""
    call = {"tool_call_id": "t", "tool": "x"}
    with pytest.raises(MalformedAnswer, match=f"at most {LIST_MAX} in the list, found more"):
        decode_answer(json.dumps({"calls": [call] * (LIST_MAX + 1)}))
    with pytest.raises(MalformedAnswer, match=f"1 to {ANSWER_TEXT_MAX} characters"):
        decode_answer(json.dumps({"calls": [{**call, "tool": "x" * (ANSWER_TEXT_MAX + 1)}]}))


@given(
    st.text(max_size=80)
    | st.binary(max_size=80).map(lambda data: data.decode("latin-1"))
    | JSON.map(json.dumps)
)
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text raises anything else."""
    try:
        decode_answer(text)
    except MalformedAnswer:
        return


def test_a_view_says_everything_that_a_policy_sees() -> None:
    """Question, tools, records as stored, refusals, what is due; all of it JSON."""
    spec = ToolSpec("look", "Looks.", (Parameter("n", ParameterKind.INTEGER, "How many.", least=1, most=9),))
    view = PolicyView(
        "why?", ONSET_S, (spec,), (ready_record(change_item()), error_record("t2")),
        (Refused("t3", "rm", "UNKNOWN_TOOL", "no"),), frozenset({"t1"}), stop_required=False,
    )  # fmt: skip
    value: Any = json.loads(json.dumps(view_json(view)))
    assert (value["question"], value["onset"], value["due"]) == ("why?", "2023-11-14T22:13:20Z", ["t1"])
    assert value["records"][0]["found"]["items"][0]["line"] == change_item().line
    assert (value["records"][1]["error_code"], value["records"][1]["found"]) == ("EXECUTION_FAILED", None)
    assert value["tools"][0]["parameters"][0]["most"] == 9
    assert value["refused"][0]["code"] == "UNKNOWN_TOOL"
