"""The result of verifying a saved run: the checks, their results, and every flaw with its place."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.guards.verdict import FindingCode, SemanticReason
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.report.document import RunDocument


class CheckName(StrEnum):
    """The checks, in the order in which they are listed."""

    ROOT_DIGEST = "ROOT_DIGEST"  # the digest over the whole document
    SCHEMA = "SCHEMA"  # exactly the fields, types and closed sets; no part contradicts another
    BYTE_FORM = "BYTE_FORM"  # byte for byte as the program writes what was read
    RECORD_DIGESTS = "RECORD_DIGESTS"  # digest and size of every record's stored bytes
    STORED_BYTES = "STORED_BYTES"  # canonical, of the record's own call, consistent with its status
    INQUIRY = "INQUIRY"  # the inquiry follows from the question and the records of the inventory
    REFERENCES = "REFERENCES"  # every citation points at an item of a READY record
    QUOTES = "QUOTES"  # every quote is a verbatim part of a cited line
    CLAIMS = "CLAIMS"  # one cited item supports each claim: entity, number, unit, direction, window, onset
    CAUSES = "CAUSES"  # every cause has a supported CAUSED claim and direct evidence
    CASE = "CASE"  # which rankings count, and whether they or the order of events rule out a cause
    DISPROOF = "DISPROOF"  # the attempts to disprove each cause, and their results
    SENTENCES = "SENTENCES"  # every sentence is rendered from its claim, or grounded in it token by token
    SUMMARY = "SUMMARY"  # summary and next steps follow from outcome, state and claims
    COVERAGE = "COVERAGE"  # every record is in it exactly once, unchanged
    CANDIDATES = "CANDIDATES"  # their citations exist, a cited ranking states them, none is concluded
    OUTCOME = "OUTCOME"  # outcome, fallback type and state are a row of the release table
    USAGE = "USAGE"  # counters are what records and trace show, and exceed no limit
    TIMES = "TIMES"  # times are in order
    TRACE = "TRACE"  # its steps are possible in this order, and are those of the records and the document


class FlawCode(StrEnum):
    """What can be wrong, besides the findings of EvidenceGuard (`guards.verdict.FindingCode`)."""

    ROOT_DIGEST_DIFFERS = "ROOT_DIGEST_DIFFERS"
    NOT_OF_THE_SCHEMA = "NOT_OF_THE_SCHEMA"
    OTHER_BYTES = "OTHER_BYTES"
    RECORD_TWICE = "RECORD_TWICE"
    RECORD_OF_ANOTHER = "RECORD_OF_ANOTHER"  # a run acts for one caller
    RECORD_DIGEST_DIFFERS = "RECORD_DIGEST_DIFFERS"
    RECORD_SIZE_DIFFERS = "RECORD_SIZE_DIFFERS"
    RECORD_INCOMPLETE = "RECORD_INCOMPLETE"  # READY without stored bytes, or stored bytes without READY
    STORED_BYTES_INVALID = "STORED_BYTES_INVALID"
    STORED_FOR_ANOTHER_CALL = "STORED_FOR_ANOTHER_CALL"  # tool, scope or window are not the record's
    RECORD_IMPOSSIBLE = "RECORD_IMPOSSIBLE"  # status, evidence status and findings contradict each other
    WINDOW_OF_NO_RECORD = "WINDOW_OF_NO_RECORD"
    CLAIMS_OUT_OF_ORDER = "CLAIMS_OUT_OF_ORDER"  # a run names its claims k1, k2, … as they are listed
    STATEMENT_DIFFERS = "STATEMENT_DIFFERS"  # a claim omits or changes what its evidence says
    SENTENCE_DIFFERS = "SENTENCE_DIFFERS"
    SUMMARY_DIFFERS = "SUMMARY_DIFFERS"
    NEXT_CHECKS_DIFFER = "NEXT_CHECKS_DIFFER"
    MISSING_OF_NO_RECORD = "MISSING_OF_NO_RECORD"  # no inventory of the run says that it was missing
    COVERAGE_DIFFERS = "COVERAGE_DIFFERS"
    CANDIDATE_CONCLUDED = "CANDIDATE_CONCLUDED"
    CANDIDATE_NOT_SUPPORTED = (
        "CANDIDATE_NOT_BORNE"  # what it cites does not state score, fault, region or order
    )
    SCORE_NOT_CITED = "SCORE_NOT_CITED"
    LEVEL_NOT_SUPPORTED = "LEVEL_NOT_BORNE"  # a cause claims another level or scope than its evidence gives
    DISPROOF_DIFFERS = "DISPROOF_DIFFERS"  # the records show another result
    NOT_IN_THE_TABLE = "NOT_IN_THE_TABLE"
    REASON_DOES_NOT_FIT = "REASON_DOES_NOT_FIT"
    FAILURE_DOES_NOT_FIT = "FAILURE_DOES_NOT_FIT"
    COUNTED_TOO_LITTLE = "COUNTED_TOO_LITTLE"
    COUNTED_TOO_MUCH = "COUNTED_TOO_MUCH"  # nothing in the document shows that it was used
    COUNTER_UNKNOWN = "COUNTER_UNKNOWN"  # no run has it, or it is listed twice
    OVER_THE_LIMIT = "OVER_THE_LIMIT"
    OUT_OF_ORDER = "OUT_OF_ORDER"
    BEFORE_THE_DEADLINE = "BEFORE_THE_DEADLINE"  # out of time, although there was some left
    DURATION_DIFFERS = "DURATION_DIFFERS"
    RANKINGS_DIFFER = "RANKINGS_DIFFER"  # by time and affected entity, other rankings count
    INQUIRY_MISSING = "INQUIRY_MISSING"  # there are claims, but nothing shows what they were compared with
    INQUIRY_DIFFERS = "INQUIRY_DIFFERS"  # question, stated onset or inventory records disagree
    TRACE_DIFFERS = "TRACE_DIFFERS"  # a line of the trace contradicts the document
    TRACE_INCOMPLETE = "TRACE_INCOMPLETE"  # a line of something that must have happened is missing
    TRACE_TWICE = "TRACE_TWICE"  # a step that a run takes once
    TRACE_OUT_OF_ORDER = "TRACE_OUT_OF_ORDER"  # a step before one that it needs, or after the run's end
    CALL_WITHOUT_RECORD = "CALL_WITHOUT_RECORD"  # the trace tells of a call that has no record


_CHECK_OF: dict[FindingCode, CheckName] = {
    FindingCode.NO_REFS: CheckName.REFERENCES,
    FindingCode.REF_UNKNOWN: CheckName.REFERENCES,
    FindingCode.REF_NOT_READY: CheckName.REFERENCES,
    FindingCode.REF_ERROR: CheckName.REFERENCES,
    FindingCode.ITEM_UNKNOWN: CheckName.REFERENCES,
    FindingCode.EMPTY_SUPPORTS_ONLY_ABSENCE: CheckName.REFERENCES,
    FindingCode.ABSENCE_NEEDS_EMPTY: CheckName.REFERENCES,
    FindingCode.QUOTE_NOT_CITED: CheckName.QUOTES,
    FindingCode.QUOTE_NOT_VERBATIM: CheckName.QUOTES,
    FindingCode.CAUSE_WITHOUT_CLAIM: CheckName.CAUSES,
    FindingCode.CAUSE_WITHOUT_DIRECT_EVIDENCE: CheckName.CAUSES,
    FindingCode.FAULT_KIND_NOT_SUPPORTED: CheckName.CAUSES,
    FindingCode.REGION_NOT_SUPPORTED: CheckName.CAUSES,
    FindingCode.CAUSE_TWICE: CheckName.CAUSES,
    FindingCode.SUPPORT_OF_ANOTHER: CheckName.CAUSES,
}
"""The check of each finding of EvidenceGuard; findings not listed here are about the claim itself."""


def check_of(code: FindingCode) -> CheckName:
    """The check that a finding of EvidenceGuard belongs to."""
    return _CHECK_OF.get(code, CheckName.CLAIMS)


class CheckResult(StrEnum):
    """The result of a check.

    NOT_CHECKED if an earlier flaw left nothing to check; NOT_CARRIED if the version of the document lacks
    what the check needs.
    """

    HOLDS = "HOLDS"
    FAILS = "FAILS"
    NOT_CHECKED = "NOT_CHECKED"
    NOT_CARRIED = "NOT_CARRIED"


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing that is wrong.

    Attributes:
        place: where in the document, as a path such as `report.claims[2].sentence`; empty for the whole
        document. stated: the value in the document, if it is informative. found: the value by the rest of the
        document, or the reader's error message.
    """

    code: FlawCode | FindingCode | SemanticReason
    place: str
    stated: str = ""
    found: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `looked_at` counts what it checked; None if it could not check.

    `carried` is false if documents of this version lack what the check needs.
    """

    name: CheckName
    looked_at: int | None
    flaws: tuple[Flaw, ...] = ()
    carried: bool = True

    @property
    def result(self) -> CheckResult:
        """The result."""
        if not self.carried:
            return CheckResult.NOT_CARRIED
        if self.flaws:
            return CheckResult.FAILS
        return CheckResult.NOT_CHECKED if self.looked_at is None else CheckResult.HOLDS

    def as_json(self) -> dict[str, JsonValue]:
        """The check as plain JSON values."""
        return {
            "name": self.name.value,
            "result": self.result.value,
            "looked_at": self.looked_at,
            "flaws": [
                {"code": each.code.value, "place": each.place, "stated": each.stated, "found": each.found}
                for each in self.flaws
            ],
        }


@dataclass(frozen=True, slots=True)
class Verification:
    """All checks of one saved run.

    Attributes:
        root_digest: computed from the content, whatever the file states; None if it cannot be computed.
        document: the run, if the file could be read as one.
    """

    checks: tuple[Check, ...]
    root_digest: str | None
    document: RunDocument | None

    @property
    def verified(self) -> bool:
        """Whether every check that this version of the document allows was made and passed."""
        passing = (CheckResult.HOLDS, CheckResult.NOT_CARRIED)
        return all(check.result in passing for check in self.checks)

    @property
    def not_carried(self) -> tuple[CheckName, ...]:
        """The checks that need what documents of this version lack."""
        return tuple(check.name for check in self.checks if check.result is CheckResult.NOT_CARRIED)

    def as_json(self) -> dict[str, JsonValue]:
        """The verification as plain JSON values."""
        return {
            "verified": self.verified,
            "run_id": self.document.run.run_id if self.document else None,
            "root_digest": self.root_digest,
            "checks": [check.as_json() for check in self.checks],
        }
