"""`diagnose verify`."""

from __future__ import annotations

from diagnosis_harness.audit.verification.recheck import FactStatus
from diagnosis_harness.audit.verification.result import CheckName, CheckResult, FlawCode
from diagnosis_harness.guards.verdict import FindingCode, SemanticReason
from diagnosis_harness.kernel.language import Language, Text
from diagnosis_harness.report import words as report_words

CHECKS = {
    CheckName.ROOT_DIGEST: Text(en="root digest", zh="根摘要"),
    CheckName.SCHEMA: Text(en="schema", zh="文档结构"),
    CheckName.BYTE_FORM: Text(en="bytes as written", zh="字节格式"),
    CheckName.RECORD_DIGESTS: Text(en="digests of records", zh="记录摘要"),
    CheckName.STORED_BYTES: Text(en="stored bytes", zh="存储字节"),
    CheckName.INQUIRY: Text(en="the question", zh="提问内容"),
    CheckName.REFERENCES: Text(en="citations", zh="引用"),
    CheckName.QUOTES: Text(en="quotes", zh="引文"),
    CheckName.CLAIMS: Text(en="claims", zh="判断"),
    CheckName.CAUSES: Text(en="causes", zh="原因"),
    CheckName.CASE: Text(en="applicable rankings", zh="适用的排名"),
    CheckName.DISPROOF: Text(en="attempts to disprove", zh="反证查询"),
    CheckName.SENTENCES: Text(en="sentences", zh="语句"),
    CheckName.SUMMARY: Text(en="summary, next steps", zh="摘要与后续步骤"),
    CheckName.COVERAGE: Text(en="coverage", zh="查询范围"),
    CheckName.CANDIDATES: Text(en="candidates", zh="候选原因"),
    CheckName.OUTCOME: Text(en="outcome", zh="结果"),
    CheckName.USAGE: Text(en="usage", zh="用量"),
    CheckName.TIMES: Text(en="times", zh="时间"),
    CheckName.TRACE: Text(en="trace", zh="轨迹"),
}
FLAWS: dict[FlawCode | FindingCode, Text] = {
    FlawCode.ROOT_DIGEST_DIFFERS: Text(en="the content has a different digest", zh="内容的摘要与所写不符"),
    FlawCode.NOT_OF_THE_SCHEMA: Text(en="does not match the schema", zh="不符合文档结构"),
    FlawCode.OTHER_BYTES: Text(en="not the canonical bytes of this content", zh="不是该内容的规范字节形式"),
    FlawCode.RECORD_TWICE: Text(en="the record appears twice", zh="记录出现了两次"),
    FlawCode.RECORD_OF_ANOTHER: Text(
        en="the record belongs to another caller than the first", zh="这条记录的调用方与第一条不同"
    ),
    FlawCode.RECORD_DIGEST_DIFFERS: Text(
        en="the stored bytes have a different digest", zh="存储字节的摘要与所写不符"
    ),
    FlawCode.RECORD_SIZE_DIFFERS: Text(
        en="the stored bytes have a different size", zh="存储字节的大小与所写不符"
    ),
    FlawCode.RECORD_INCOMPLETE: Text(
        en="only a READY record has stored bytes", zh="只有 READY 的记录才有存储字节"
    ),
    FlawCode.STORED_BYTES_INVALID: Text(en="not a valid stored tool result", zh="不是有效的已存储工具结果"),
    FlawCode.STORED_FOR_ANOTHER_CALL: Text(
        en="the stored bytes belong to another call", zh="存储字节属于另一次调用"
    ),
    FlawCode.RECORD_IMPOSSIBLE: Text(en="not a possible record", zh="记录不可能如此"),
    FlawCode.WINDOW_OF_NO_RECORD: Text(en="no record covers this window", zh="没有记录涉及这个时间窗口"),
    FlawCode.CLAIMS_OUT_OF_ORDER: Text(
        en="the claims are not named in their order", zh="判断的编号与其顺序不符"
    ),
    FlawCode.STATEMENT_DIFFERS: Text(en="the claim differs from its evidence", zh="判断与其证据不同"),
    FlawCode.SENTENCE_DIFFERS: Text(en="the sentence does not match the claim", zh="语句与判断不符"),
    FlawCode.SUMMARY_DIFFERS: Text(en="does not follow from the outcome", zh="与结局不符"),
    FlawCode.NEXT_CHECKS_DIFFER: Text(en="do not follow from the run", zh="与运行情况不符"),
    FlawCode.MISSING_OF_NO_RECORD: Text(
        en="no record says that this was missing", zh="没有记录说明缺少这一项"
    ),
    FlawCode.COVERAGE_DIFFERS: Text(en="does not match the records", zh="与记录不一致"),
    FlawCode.CANDIDATE_CONCLUDED: Text(en="is already a cause", zh="已经是认定的原因"),
    FlawCode.CANDIDATE_NOT_SUPPORTED: Text(en="its citations do not support it", zh="所引用的内容不支持它"),
    FlawCode.LEVEL_NOT_SUPPORTED: Text(
        en="the evidence gives another level or scope", zh="证据所支持的级别或范围与此不同"
    ),
    FlawCode.SCORE_NOT_CITED: Text(en="no cited ranking has this score", zh="所引用的排名中没有这个得分"),
    FlawCode.DISPROOF_DIFFERS: Text(
        en="not what the records say was asked to disprove it", zh="与记录中用于反证的查询不符"
    ),
    FlawCode.NOT_IN_THE_TABLE: Text(en="not a possible end of a run", zh="运行不可能这样结束"),
    FlawCode.REASON_DOES_NOT_FIT: Text(en="the reason does not lead to this state", zh="原因与状态不符"),
    FlawCode.FAILURE_DOES_NOT_FIT: Text(en="the failure does not match the end", zh="失败说明与结局不符"),
    FlawCode.COUNTED_TOO_LITTLE: Text(en="less than the records show", zh="少于记录所显示的用量"),
    FlawCode.OVER_THE_LIMIT: Text(en="over the limit", zh="超过上限"),
    FlawCode.COUNTED_TOO_MUCH: Text(en="more than the run shows", zh="多于运行所显示的用量"),
    FlawCode.COUNTER_UNKNOWN: Text(
        en="no counter of a run, or one that is listed twice", zh="运行没有这个计数，或者它列出了两次"
    ),
    FlawCode.BEFORE_THE_DEADLINE: Text(en="the time had not run out by then", zh="到那时时间还没有用完"),
    FlawCode.OUT_OF_ORDER: Text(en="out of order", zh="时间顺序不对"),
    FlawCode.DURATION_DIFFERS: Text(en="not the time from start to end", zh="不等于从开始到结束的时间"),
    FlawCode.RANKINGS_DIFFER: Text(
        en="other rankings apply to this time and entity", zh="对这一时间和对象，适用的是其他排名"
    ),
    FlawCode.INQUIRY_MISSING: Text(
        en="the document does not say what the run was asked", zh="文档没有写明这次运行的提问内容"
    ),
    FlawCode.INQUIRY_DIFFERS: Text(en="contradicts the question or the records", zh="与问题或记录矛盾"),
    FlawCode.TRACE_DIFFERS: Text(en="the trace contradicts the document", zh="轨迹与文档不一致"),
    FlawCode.TRACE_INCOMPLETE: Text(en="no line of the trace shows it", zh="轨迹中没有相应的行"),
    FlawCode.TRACE_TWICE: Text(en="a run takes this step once", zh="一次运行只会经过这一步一次"),
    FlawCode.TRACE_OUT_OF_ORDER: Text(
        en="a run cannot take this step at this point", zh="运行不可能在此处经过这一步"
    ),
    FlawCode.CALL_WITHOUT_RECORD: Text(en="the call has no record", zh="这次调用没有记录"),
    FindingCode.NO_REFS: Text(en="cites nothing", zh="没有引用"),
    FindingCode.REF_UNKNOWN: Text(en="cites no record of this run", zh="引用的记录不在本次运行中"),
    FindingCode.REF_NOT_READY: Text(en="cites a record that is not READY", zh="引用的记录不是 READY"),
    FindingCode.REF_ERROR: Text(en="cites a call that failed", zh="引用了失败的调用"),
    FindingCode.ITEM_UNKNOWN: Text(en="cites an item that is not in the record", zh="引用的内容不在记录中"),
    FindingCode.EMPTY_SUPPORTS_ONLY_ABSENCE: Text(
        en="an empty record supports only an absence", zh="无结果的记录只能支持“没有”的判断"
    ),
    FindingCode.ABSENCE_NEEDS_EMPTY: Text(en="something was found there", zh="那里有发现"),
    FindingCode.NOTHING_LOOKED_AT: Text(en="there was no data of this kind", zh="没有这类数据"),
    FindingCode.NAME_NOT_KNOWN: Text(
        en="no telemetry of this kind has this name", zh="这类数据中没有这个名称"
    ),
    FindingCode.NOT_OF_INCIDENT: Text(en="the evidence is not from the incident", zh="证据不在事故的时间内"),
    FindingCode.ABSENCE_OUT_OF_SCOPE: Text(en="outside the examined scope", zh="没有查询过那里"),
    FindingCode.QUOTE_NOT_CITED: Text(en="quotes what it does not cite", zh="引文出自没有引用的内容"),
    FindingCode.QUOTE_NOT_VERBATIM: Text(en="the quote is not in the cited line", zh="引文不在所引用的行中"),
    FindingCode.PREDICATE_NOT_SUPPORTED: Text(
        en="the evidence does not support a claim of this kind", zh="证据不支持这类判断"
    ),
    FindingCode.ENTITY_NOT_SUPPORTED: Text(
        en="the evidence is about another entity", zh="证据说的是另一个对象"
    ),
    FindingCode.AFFECTED_NOT_SUPPORTED: Text(
        en="the evidence names another affected entity", zh="证据中的另一方不同"
    ),
    FindingCode.SIGNAL_NOT_SUPPORTED: Text(
        en="the evidence is about another signal", zh="证据说的是另一个信号"
    ),
    FindingCode.VALUE_NOT_SUPPORTED: Text(en="the evidence has another value", zh="证据中的数值不同"),
    FindingCode.BASELINE_NOT_SUPPORTED: Text(
        en="the evidence has another normal value", zh="证据中的正常值不同"
    ),
    FindingCode.DIRECTION_NOT_SUPPORTED: Text(
        en="the evidence moved in another direction", zh="证据中的变化方向不同"
    ),
    FindingCode.WINDOW_NOT_SUPPORTED: Text(en="the evidence covers another window", zh="证据的时间窗口不同"),
    FindingCode.ONSET_NOT_SUPPORTED: Text(en="the evidence has another onset", zh="证据的开始时间不同"),
    FindingCode.CAUSE_WITHOUT_CLAIM: Text(en="no claim supports the cause", zh="没有判断支持这个原因"),
    FindingCode.CAUSE_WITHOUT_DIRECT_EVIDENCE: Text(
        en="only a ranking supports the cause", zh="只有排名支持这个原因"
    ),
    FindingCode.FAULT_KIND_NOT_SUPPORTED: Text(
        en="the evidence has another kind of fault", zh="证据中的故障类型不同"
    ),
    FindingCode.REGION_NOT_SUPPORTED: Text(en="the evidence has another region", zh="证据中的故障部位不同"),
    FindingCode.UNIT_WITHOUT_NUMBER: Text(en="a unit without a number", zh="有单位而没有数值"),
    FindingCode.CLAIM_ID_TWICE: Text(en="two claims share an id", zh="两条判断的编号相同"),
    FindingCode.CAUSE_TWICE: Text(en="the cause appears twice", zh="同一原因出现了两次"),
    FindingCode.NOT_CONCLUDED: Text(
        en="names a cause or a victim that was not concluded",
        zh="指认了结论中没有的原因或受影响方",
    ),
    FindingCode.SUPPORT_OF_ANOTHER: Text(
        en="rests on a claim about something else", zh="所依据的判断说的是别的对象"
    ),
}
RESULTS = {
    CheckResult.HOLDS: Text(en="holds", zh="成立"),
    CheckResult.FAILS: Text(en="FAILS", zh="不成立"),
    CheckResult.NOT_CHECKED: Text(en="not checked", zh="未检查"),
    CheckResult.NOT_CARRIED: Text(en="not in this version", zh="此版本不含"),
}
FACTS = {
    FactStatus.HOLDS: Text(en="holds", zh="成立"),
    FactStatus.CHANGED: Text(en="changed", zh="已变化"),
    FactStatus.GONE: Text(en="gone", zh="已不存在"),
    FactStatus.NOT_ASKED: Text(en="could not be asked", zh="未能查询"),
}
WHOLE = Text(en="whole file", zh="整个文件")
STATED = Text(en="stated", zh="写明")
FOUND = Text(en="found", zh="实际")
ROOT_DIGEST = Text(en="Root digest: {digest}", zh="根摘要：{digest}")
VERIFIED = Text(en="Verified: all {count} checks hold.", zh="已核实：全部 {count} 项检查通过。")
VERIFIED_IN_PART = Text(
    en="Verified as far as a version {version} document allows: {count} checks hold. "
    "It lacks the data for: {names}.",
    zh="已在版本 {version} 文档的范围内核实：{count} 项检查通过。该版本不包含以下检查所需的内容：{names}。",
)
NOT_VERIFIED = Text(
    en="NOT VERIFIED: {failed} of {count} checks fail, {unmade} could not be run.",
    zh="未通过核实：{count} 项检查中 {failed} 项未通过，{unmade} 项无法进行。",
)
ASKED_AGAIN = Text(
    en="Repeated: {same} of {count} queries returned the same bytes, {differs} did not.",
    zh="重新查询：{count} 个查询中 {same} 个返回相同的字节，{differs} 个不同。",
)
NOT_ASKED = Text(en="not repeated: {call} ({code})", zh="未重新查询：{call}（{code}）")
FACTS_HOLD = Text(en="{holding} of {count} facts still hold.", zh="{count} 条事实中 {holding} 条仍然成立。")
CAUSE_HOLDS = Text(en="{entity} would still be concluded.", zh="{entity} 仍会被认定为原因。")
CAUSE_FALLS = Text(
    en="{entity} would no longer be concluded: {why}.", zh="{entity} 不会再被认定为原因：{why}。"
)
WAS = Text(en="then", zh="当时")
NOW = Text(en="now", zh="现在")
NOTHING = Text(en="nothing of the kind", zh="没有这类发现")
COLON = Text(en=": ", zh="：")
COMMA = Text(en=", ", zh="，")


def flaw(code: FlawCode | FindingCode | SemanticReason, language: Language) -> str:
    """A flaw in words; a code without words stands for itself."""
    text = report_words.SEMANTIC_OBJECTIONS[code] if isinstance(code, SemanticReason) else FLAWS.get(code)
    return text.in_(language) if text else code.value
