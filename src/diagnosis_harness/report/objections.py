"""Works out why the strongest candidate of an answer was not concluded, from the document alone. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.guards.semantic_guard import build_case
from diagnosis_harness.guards.semantic_rules import case_objections
from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.guards.weaknesses import weaknesses
from diagnosis_harness.kernel.errors import RunDocumentInvalid, StoredBytesInvalid
from diagnosis_harness.kernel.language import Language, Text
from diagnosis_harness.report import words
from diagnosis_harness.report.document import RecordEntry, RunDocument
from diagnosis_harness.report.restore import restore_record
from diagnosis_harness.report.restore_inquiry import inquiry_of
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.tools.stored import read_stored

OBJECTION_TEXTS: Final[Mapping[SemanticReason, Text]] = {
    SemanticReason.OF_UNKNOWN_NAME: Text(
        en="the telemetry does not contain what the question is about", zh="遥测数据中没有问题所问的对象"
    ),
    SemanticReason.WEAK: Text(en="the evidence differs too little from normal", zh="证据与正常情况相差太小"),
    SemanticReason.HARMLESS_DIRECTION: Text(en="the change is harmless", zh="变化并无危害"),
    SemanticReason.AFTER_ITS_EFFECT: Text(
        en="the cause began after its effect", zh="原因开始于它要解释的现象之后"
    ),
    SemanticReason.EFFECT_NOT_SEEN: Text(
        en="nothing shows whether cause or effect began first", zh="无法判断原因与现象谁先开始"
    ),
    SemanticReason.EFFECT_NORMAL: Text(
        en="what it would explain shows nothing unusual", zh="它所要解释的部分没有异常"
    ),
    SemanticReason.EFFECT_MISFITS: Text(
        en="what was found of it cannot bring about what the affected entity shows",
        zh="在它身上发现的问题不会造成受影响实体的表现",
    ),
    SemanticReason.SYMPTOM_ONLY: Text(
        en="nothing is known of it but the symptom that is to be explained",
        zh="除了待解释的症状，对它一无所知",
    ),
    SemanticReason.SCOPE_TOO_WIDE: Text(
        en="too many of what it calls are unrecorded, so nothing is narrowed down",
        zh="它调用的对象中未被记录的太多，无法缩小范围",
    ),
    SemanticReason.ONSET_SEARCHED: Text(
        en="nobody said when it began, and the whole recording was searched for it",
        zh="没有人说明何时开始，开始时间是在整个记录中搜索得到的",
    ),
    SemanticReason.NO_PATH: Text(
        en="no recorded call leads to it from the affected entity",
        zh="没有记录到从受影响实体通向它的调用",
    ),
    SemanticReason.DISPROVED: Text(
        en="what was asked to disprove it contradicts it", zh="用于反证的查询结果与它矛盾"
    ),
    SemanticReason.EXPLAINED_BY_OTHER: Text(en="a dependency explains it better", zh="某个依赖能更好地解释"),
    SemanticReason.NO_MARGIN: Text(en="another candidate is as good", zh="另一个候选同样有力"),
    SemanticReason.NOT_INDEPENDENT: Text(
        en="a second cause is not shown to be independent of the first",
        zh="没有证据表明第二个原因独立于第一个",
    ),
    SemanticReason.NOT_RANKED: Text(
        en="no ranking for this question names it", zh="关于所问问题的排名中没有它"
    ),
    SemanticReason.CONTRADICTED: Text(
        en="another ranking for this question names another cause",
        zh="关于所问问题的另一个排名指向别的原因",
    ),
    SemanticReason.OVERRULED: Text(en="a judge disagreed", zh="评审不同意"),
}
"""Why a cause is not concluded, in words; total over its enum."""


def objections_to_first(document: RunDocument) -> tuple[SemanticReason, ...]:
    """What speaks against concluding the first candidate, by the rules that a conclusion has to pass.

    Empty if a cause was concluded, nothing is ranked, or the records cannot be read.
    """
    report = document.report
    if report.causes or not report.candidates:
        return ()
    first = report.candidates[0]
    cause = Cause(first.entity, first.fault_kind, (), region=first.region, score=first.score)
    try:
        records = tuple(_record(entry, place, document) for place, entry in enumerate(document.records))
        inquiry = inquiry_of(document, records)
    except (RunDocumentInvalid, StoredBytesInvalid):
        return ()
    case = build_case(DiagnosisDraft(conclusion=(cause,), claims=()), records, inquiry=inquiry)
    judged = case.judged.get(first.entity)
    if judged is None:
        return ()
    return tuple(dict.fromkeys((*case_objections(case), *weaknesses(judged))))


def objection_words(document: RunDocument, language: Language) -> str:
    """`not concluded: …`, with every reason; empty where there is none to give."""
    reasons = [OBJECTION_TEXTS[reason].in_(language) for reason in objections_to_first(document)]
    if not reasons:
        return ""
    return words.NOT_CONCLUDED.render(language, reasons=words.SEMICOLON.in_(language).join(reasons))


def _record(entry: RecordEntry, place: int, document: RunDocument) -> EvidenceRecord:
    found = None if entry.stored is None else read_stored(entry.stored.encode())
    return restore_record(entry, f"records[{place}]", run_id=document.run.run_id, found=found)
