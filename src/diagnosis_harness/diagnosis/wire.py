"""The policy's view and answer as JSON, for policies outside this process.

`encode_view` writes what a policy sees; `decode_answer` reads what it answers. Reading is strict: nothing is
guessed, repaired or left out, and an invalid answer is refused with one clause that names the path
(`wire_schema` states the same as a JSON Schema). An answer holds either `calls` or `draft`:

    {"assessments": [...], "calls": [{"tool_call_id": "t1", "tool": "list_changes", "arguments": {}}]}
    {"assessments": [...], "draft": {"conclusion": [], "claims": [], ...}}      or "draft": null
"""

from __future__ import annotations

import json

from diagnosis_harness.diagnosis.answer_size import check_size
from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, FaultKind, Predicate, Quote
from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft, Hypothesis, SetAside, SetAsideReason
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, PolicyView, WantedCall
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.diagnosis.wire_fields import DEPTH_MAX, SIZE_MAX_BYTES, AnswerFields
from diagnosis_harness.kernel.errors import JsonInvalid, MalformedAnswer
from diagnosis_harness.kernel.json_fields import any_object_at, member_at
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.strict_json import json_errors_as, parse_json
from diagnosis_harness.kernel.window import TimeWindow, parse_utc, utc_text
from diagnosis_harness.tools.evidence import Direction
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.tools.spec import ToolSpec

# ------------------------------------------------------------------ what a policy answers


def decode_answer(text: str) -> PolicyAnswer:
    """Read an answer from its JSON text.

    Raises:
        MalformedAnswer: too large or deep, not JSON, or not of the schema; one clause, with the path.
    """
    with json_errors_as(lambda place, problem: MalformedAnswer(f"{place or 'answer'}: {problem}")):
        answer = _answer(parse_json(text, depth_max=DEPTH_MAX, size_max_bytes=SIZE_MAX_BYTES))
    check_size(answer)
    return answer


def _answer(value: JsonValue) -> PolicyAnswer:
    fields = AnswerFields(value, "answer", optional=("assessments", "calls", "draft"))
    assessments = fields.items("assessments", _assessment)
    if fields.has("calls") == fields.has("draft"):
        found = "both" if fields.has("calls") else "neither"
        raise JsonInvalid("answer", "either 'calls' or 'draft'", found)
    if fields.has("calls"):
        return AskTools(fields.items("calls", _call), assessments)
    draft = fields.raw("draft")
    return GiveDraft(None if draft is None else _draft(draft, fields.place("draft")), assessments)


def encode_answer(answer: PolicyAnswer) -> str:
    """The JSON text of an answer; `decode_answer` gives an equal one back.

    Raises:
        ValueError: a number in it is not finite.
    """
    content: dict[str, JsonValue] = {"assessments": [_assessment_json(each) for each in answer.assessments]}
    if isinstance(answer, AskTools):
        content["calls"] = [
            {
                "tool_call_id": call.tool_call_id,
                "tool": call.tool_name,
                "arguments": dict(call.arguments),
            }
            for call in answer.calls
        ]
    else:
        content["draft"] = None if answer.draft is None else draft_json(answer.draft)
    return _text(content)


def _call(value: JsonValue, path: str) -> WantedCall:
    fields = AnswerFields(value, path, required=("tool_call_id", "tool"), optional=("arguments",))
    arguments = fields.raw("arguments") if fields.has("arguments") else {}
    return WantedCall(
        fields.identity("tool_call_id"),
        fields.text("tool"),
        any_object_at(arguments, fields.place("arguments")),
    )


def _assessment(value: JsonValue, path: str) -> Assessment:
    fields = AnswerFields(value, path, required=("tool_call_id", "gain"), optional=("facts",))
    return Assessment(
        fields.identity("tool_call_id"), fields.choice("gain", InformationGain), fields.items("facts", _claim)
    )


def _draft(value: JsonValue, path: str) -> DiagnosisDraft:
    fields = AnswerFields(
        value,
        path,
        required=("conclusion", "claims"),
        optional=("hypotheses", "missing_info", "missing_names", "window", "set_aside"),
    )
    claims = fields.items("claims", _claim)
    if len({claim.claim_id for claim in claims}) != len(claims):
        raise JsonInvalid(fields.place("claims"), "each claim_id once", "two claims of one claim_id")
    return DiagnosisDraft(
        conclusion=fields.items("conclusion", _cause),
        claims=claims,
        hypotheses=fields.items("hypotheses", _hypothesis),
        missing_info=fields.items("missing_info", _missing),
        missing_names=fields.texts("missing_names"),
        window=fields.maybe_window("window"),
        set_aside=fields.items("set_aside", _set_aside),
    )


def _missing(value: JsonValue, path: str) -> MissingInfo:
    return member_at(MissingInfo, value, path)


def _set_aside(value: JsonValue, path: str) -> SetAside:
    fields = AnswerFields(value, path, required=("tool_call_id", "reason"))
    return SetAside(fields.identity("tool_call_id"), fields.choice("reason", SetAsideReason))


def _cause(value: JsonValue, path: str) -> Cause:
    fields = AnswerFields(
        value, path, required=("entity", "fault_kind", "claim_ids"), optional=("region", "score")
    )
    return Cause(
        entity=fields.text("entity"),
        fault_kind=fields.choice("fault_kind", FaultKind),
        claim_ids=fields.texts("claim_ids"),
        region=fields.maybe_text("region"),
        score=fields.maybe_number("score"),
    )


def _hypothesis(value: JsonValue, path: str) -> Hypothesis:
    fields = AnswerFields(
        value,
        path,
        required=("entity", "fault_kind", "score", "evidence_for"),
        optional=("evidence_against", "region"),
    )
    return Hypothesis(
        entity=fields.text("entity"),
        fault_kind=fields.choice("fault_kind", FaultKind),
        score=fields.number("score"),
        evidence_for=fields.items("evidence_for", _ref),
        evidence_against=fields.items("evidence_against", _ref),
        region=fields.maybe_text("region"),
    )


def _claim(value: JsonValue, path: str) -> Claim:
    fields = AnswerFields(
        value,
        path,
        required=("claim_id", "predicate", "entity", "refs"),
        optional=(
            "quotes",
            "affected",
            "signal",
            "value",
            "baseline",
            "unit",
            "direction",
            "window",
            "onset",
            "wording",
        ),
    )
    return Claim(
        claim_id=fields.identity("claim_id"),
        predicate=fields.choice("predicate", Predicate),
        entity=fields.text("entity"),
        refs=fields.items("refs", _ref),
        quotes=fields.items("quotes", _quote),
        affected=fields.maybe_text("affected"),
        signal=fields.maybe_text("signal"),
        value=fields.maybe_number("value"),
        baseline=fields.maybe_number("baseline"),
        unit=fields.maybe_text("unit"),
        direction=fields.maybe_choice("direction", Direction),
        window=fields.maybe_window("window"),
        onset_s=fields.maybe_instant("onset"),
        wording=fields.maybe_text("wording"),
    )


def _ref(value: JsonValue, path: str) -> EvidenceRef:
    fields = AnswerFields(value, path, required=("tool_call_id", "item_id"))
    return EvidenceRef(fields.identity("tool_call_id"), fields.text("item_id"))


def _quote(value: JsonValue, path: str) -> Quote:
    fields = AnswerFields(value, path, required=("ref", "text"))
    return Quote(_ref(fields.raw("ref"), fields.place("ref")), fields.text("text"))


# ------------------------------------------------------------------ the same, written


def draft_json(draft: DiagnosisDraft) -> dict[str, JsonValue]:
    """A draft as JSON values; absent values are left out."""
    return _present(
        conclusion=[_cause_json(cause) for cause in draft.conclusion],
        claims=[claim_json(claim) for claim in draft.claims],
        hypotheses=[_hypothesis_json(hypothesis) for hypothesis in draft.hypotheses],
        missing_info=[*draft.missing_info],
        missing_names=[*draft.missing_names],
        window=_window_json(draft.window),
        set_aside=[
            {"tool_call_id": each.tool_call_id, "reason": each.reason.value} for each in draft.set_aside
        ],
    )


def claim_json(claim: Claim) -> dict[str, JsonValue]:
    """A claim as JSON values; absent values are left out."""
    return _present(
        claim_id=claim.claim_id,
        predicate=claim.predicate.value,
        entity=claim.entity,
        refs=[_ref_json(ref) for ref in claim.refs],
        quotes=[{"ref": _ref_json(quote.ref), "text": quote.text} for quote in claim.quotes],
        affected=claim.affected,
        signal=claim.signal,
        value=claim.value,
        baseline=claim.baseline,
        unit=claim.unit,
        direction=claim.direction.value if claim.direction else None,
        window=_window_json(claim.window),
        onset=_instant_json(claim.onset_s),
        wording=claim.wording,
    )


def _assessment_json(assessment: Assessment) -> JsonValue:
    return {
        "tool_call_id": assessment.tool_call_id,
        "gain": assessment.gain.value,
        "facts": [claim_json(fact) for fact in assessment.facts],
    }


def _cause_json(cause: Cause) -> JsonValue:
    return _present(
        entity=cause.entity,
        fault_kind=cause.fault_kind.value,
        claim_ids=list(cause.claim_ids),
        region=cause.region,
        score=cause.score,
    )


def _hypothesis_json(hypothesis: Hypothesis) -> JsonValue:
    return _present(
        entity=hypothesis.entity,
        fault_kind=hypothesis.fault_kind.value,
        score=hypothesis.score,
        evidence_for=[_ref_json(ref) for ref in hypothesis.evidence_for],
        evidence_against=[_ref_json(ref) for ref in hypothesis.evidence_against],
        region=hypothesis.region,
    )


def _ref_json(ref: EvidenceRef) -> JsonValue:
    return {"tool_call_id": ref.tool_call_id, "item_id": ref.item_id}


def _window_json(window: TimeWindow | None) -> JsonValue:
    if window is None:
        return None
    return {"start": _instant_json(window.start_s), "end": _instant_json(window.end_s)}


def _instant_json(time_s: float | None) -> JsonValue:
    """ISO 8601 text, or plain seconds if the text cannot express them exactly."""
    if time_s is None:
        return None
    try:
        text = utc_text(time_s)
        return text if parse_utc(text) == time_s else time_s
    except (ValueError, OverflowError, OSError):
        return time_s


def _present(**fields: JsonValue) -> dict[str, JsonValue]:
    return {name: value for name, value in fields.items() if value is not None}


# ------------------------------------------------------------------ what a policy sees


def encode_view(view: PolicyView) -> str:
    """The JSON text of what a policy sees. Texts from outside are included as data, masked and not fenced."""
    return _text(view_json(view))


def view_json(view: PolicyView) -> dict[str, JsonValue]:
    """What a policy sees, as JSON values; records have exactly the content of their stored bytes."""
    return {
        "question": view.question,
        "onset": _instant_json(view.onset_s),
        "until": _instant_json(view.until_s),
        "affected": [*view.affected],
        "tools": [_tool_json(spec) for spec in view.tools],
        "records": [_record_json(record) for record in view.records],
        "refused": [
            {
                "tool_call_id": refused.tool_call_id,
                "tool": refused.tool_name,
                "code": refused.code,
                "message": refused.message,
            }
            for refused in view.refused
        ],
        "due": [*sorted(view.due)],
        "stop_required": view.stop_required,
    }


def _tool_json(spec: ToolSpec) -> JsonValue:
    return {
        "name": spec.name,
        "description": spec.description,
        "parameters": [
            _present(
                name=parameter.name,
                kind=parameter.kind.value,
                description=parameter.description,
                required=parameter.required,
                choices=list(parameter.choices) or None,
                least=parameter.least,
                most=parameter.most,
            )
            for parameter in spec.parameters
        ],
    }


def _record_json(record: EvidenceRecord) -> JsonValue:
    projection = record.projection
    stored: JsonValue = json.loads(projection.stored) if projection else None
    return {
        "tool_call_id": record.tool_call_id,
        "tool": record.tool_name,
        "scope": record.arguments,
        "invocation": record.invocation.value,
        "evidence": record.evidence.value if record.evidence else None,
        "error_code": record.error_code.value if record.error_code else None,
        "found": stored,
    }


def _text(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
