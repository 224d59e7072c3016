"""What a run lacked, in words."""

from __future__ import annotations

from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.report.document import MISSING, Report
from diagnosis_harness.report.timestamps import shown
from diagnosis_harness.report.words import Words


def missing_phrases(report: Report, words: Words) -> tuple[str, ...]:
    """One phrase for each thing that was missing, and for each name of the question that nobody knows.

    A document of version 2 holds phrases already.
    """
    return (
        *(words.missing[MissingInfo(each)] if each in MISSING else each for each in report.missing_info),
        *(words.missing_name.format(name=shown(name)) for name in report.missing_names),
    )
