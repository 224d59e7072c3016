"""Explains calls and requests without evidence, one sentence each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from diagnosis_harness.audit.why.answer import Fact, Sentence, quote_unless_plain
from diagnosis_harness.audit.why.phrases import Phrase
from diagnosis_harness.report.document import RecordEntry
from diagnosis_harness.report.trace_line import TraceLine
from diagnosis_harness.tools.evidence import EvidenceStatus, InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode
from diagnosis_harness.trace.event import TraceName

FACTS_SHOWN = 5
"""How many facts of one kind an answer lists: the last ones, since they are nearest to the end."""


def calls_without_evidence(
    records: Sequence[RecordEntry], trace: Sequence[TraceLine]
) -> tuple[tuple[Sentence, ...], tuple[Fact, ...]]:
    """A sentence for each call without evidence and each refused request, and where they are recorded."""
    sentences, facts = [], []
    abandoned = {record.tool_call_id for record in records if record.error_code == ErrorCode.ABANDONED}
    for place, record in enumerate(records):
        if record.evidence_status is not EvidenceStatus.EVIDENCE_FOUND:
            sentences.append(_record_sentence(record))
            facts.append(Fact(f"records[{place}]", _summary(record)))
    for place, line in enumerate(trace):
        if line.name is not TraceName.TOOL_REQUEST_REJECTED or line.text_of("tool_call_id") in abandoned:
            continue  # the record of an abandoned call is already listed
        sentences.append(_refusal_sentence(line))
        facts.append(Fact(f"trace[{place}]", f"{line.name} {line.status} {line.text}".rstrip()))
    return tuple(sentences), tuple(facts)


def _refusal_sentence(line: TraceLine) -> Sentence:
    if line.data is None:
        return Sentence.of(Phrase.CALL_REFUSED_UNNAMED)
    call, tool, code = (line.text_of(name) or "-" for name in ("tool_call_id", "tool", "code"))
    return Sentence.of(
        Phrase.CALL_REFUSED, call=quote_unless_plain(call), tool=quote_unless_plain(tool), code=code
    )


def _record_sentence(record: RecordEntry) -> Sentence:
    match record.status:
        case InvocationStatus.READY:
            phrase = Phrase.CALL_EMPTY
        case InvocationStatus.PROJECTING:
            phrase = Phrase.CALL_UNFINISHED
        case InvocationStatus.ERROR:
            phrase = Phrase.__members__.get(f"CALL_{record.error_code}", Phrase.CALL_FAILED)
        case _:
            assert_never(record.status)
    call, tool = quote_unless_plain(record.tool_call_id), quote_unless_plain(record.tool)
    return Sentence.of(phrase, call=call, tool=tool, code=record.error_code or "-")


def _summary(record: RecordEntry) -> str:
    """Call, tool, status and error of a record on one line."""
    names = (quote_unless_plain(record.tool_call_id), quote_unless_plain(record.tool))
    parts = (*names, record.status, record.evidence_status, record.error_code)
    return " ".join(part for part in parts if part)


def record_facts(records: Sequence[RecordEntry]) -> tuple[Fact, ...]:
    """The last records, as facts."""
    facts = [Fact(f"records[{place}]", _summary(record)) for place, record in enumerate(records)]
    return tuple(facts[-FACTS_SHOWN:])
