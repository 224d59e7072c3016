"""What `diagnose verify` says, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from diagnosis_harness.audit.verification.recheck import FactStatus
from diagnosis_harness.audit.verification.result import CheckName, CheckResult, FlawCode
from diagnosis_harness.cli.verify_words_en import CHECKS_EN, FLAWS_EN
from diagnosis_harness.cli.verify_words_zh import CHECKS_ZH, FLAWS_ZH
from diagnosis_harness.guards.verdict import FindingCode, SemanticReason
from diagnosis_harness.kernel.language import Language


@dataclass(frozen=True, slots=True)
class VerifyWords:
    """One language. `{names}` are the same in both; a code without words stands for itself."""

    checks: Mapping[CheckName, str]
    flaws: Mapping[FlawCode | FindingCode | SemanticReason, str]
    results: Mapping[CheckResult, str]
    facts: Mapping[FactStatus, str]
    whole: str
    stated: str
    found: str
    root_digest: str
    verified: str
    verified_in_part: str
    not_verified: str
    asked_again: str
    not_asked: str
    facts_hold: str
    cause_holds: str
    cause_falls: str
    not_asked_at_all: str
    was: str
    now: str
    nothing: str
    colon: str
    comma: str

    def flaw(self, code: FlawCode | FindingCode | SemanticReason) -> str:
        """A flaw in words, else its code."""
        return self.flaws.get(code, code.value)


def verify_words(language: Language) -> VerifyWords:
    """The words of a language."""
    return _chinese() if language is Language.ZH else _english()


def _english() -> VerifyWords:
    return VerifyWords(
        checks=CHECKS_EN,
        flaws=FLAWS_EN,
        results={
            CheckResult.HOLDS: "holds",
            CheckResult.FAILS: "FAILS",
            CheckResult.NOT_CHECKED: "not checked",
            CheckResult.NOT_CARRIED: "not in this version",
        },
        facts={
            FactStatus.HOLDS: "holds",
            FactStatus.CHANGED: "changed",
            FactStatus.GONE: "gone",
            FactStatus.NOT_ASKED: "could not be asked",
        },
        whole="whole file",
        stated="stated",
        found="found",
        root_digest="Root digest: {digest}",
        verified="Verified: all {count} checks hold.",
        verified_in_part="Verified as far as a document of version {version} goes: {count} checks hold. "
        "It does not carry what these need: {names}.",
        not_verified="NOT VERIFIED: {failed} of {count} checks fail, {unmade} could not be made.",
        asked_again="Asked again: {same} of {count} queries brought the same bytes, {differs} others.",
        not_asked="not asked again: {call} ({code})",
        facts_hold="{holding} of {count} facts still hold.",
        cause_holds="{entity} would still be concluded.",
        cause_falls="{entity} would not be concluded any more: {why}.",
        not_asked_at_all="Nothing was asked again: this is no run document that can be read.",
        was="then",
        now="now",
        nothing="nothing of the kind",
        colon=": ",
        comma=", ",
    )


def _chinese() -> VerifyWords:
    return VerifyWords(
        checks=CHECKS_ZH,
        flaws=FLAWS_ZH,
        results={
            CheckResult.HOLDS: "成立",
            CheckResult.FAILS: "不成立",
            CheckResult.NOT_CHECKED: "未检查",
            CheckResult.NOT_CARRIED: "此版本不含",
        },
        facts={
            FactStatus.HOLDS: "成立",
            FactStatus.CHANGED: "已变化",
            FactStatus.GONE: "已不存在",
            FactStatus.NOT_ASKED: "未能查询",
        },
        whole="整个文件",
        stated="写明",
        found="实际",
        root_digest="根摘要：{digest}",
        verified="已核实：全部 {count} 项检查成立。",
        verified_in_part="已在版本 {version} 文档的范围内核实：{count} 项检查成立。"
        "该版本不包含以下检查所需的内容：{names}。",
        not_verified="未通过核实：{count} 项检查中 {failed} 项不成立，{unmade} 项无法进行。",
        asked_again="重新查询：{count} 个查询中 {same} 个返回相同的字节，{differs} 个不同。",
        not_asked="未重新查询：{call}（{code}）",
        facts_hold="{count} 条事实中 {holding} 条仍然成立。",
        cause_holds="{entity} 仍会被认定为原因。",
        cause_falls="{entity} 不会再被认定为原因：{why}。",
        not_asked_at_all="没有重新查询：这不是可以读取的运行文档。",
        was="当时",
        now="现在",
        nothing="没有这类发现",
        colon="：",
        comma="，",
    )
