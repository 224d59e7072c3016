"""Phrases for the information that a run lacked."""

from __future__ import annotations

from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report import words
from diagnosis_harness.report.document import MISSING, Report
from diagnosis_harness.report.timestamps import escape_line


def missing_phrases(report: Report, language: Language) -> tuple[str, ...]:
    """One phrase for each missing thing, and for each unknown name of the question.

    A document of version 2 already holds phrases.
    """
    return (
        *(
            words.MISSING[MissingInfo(each)].in_(language) if each in MISSING else each
            for each in report.missing_info
        ),
        *(words.UNKNOWN_NAME.render(language, name=escape_line(name)) for name in report.missing_names),
    )
