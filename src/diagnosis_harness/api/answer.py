"""An answer, as a host program reads it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from diagnosis_harness.application.answer_question import AnsweredRun
from diagnosis_harness.audit.verification.result import Verification
from diagnosis_harness.audit.verification.verify import verify as verify_bytes
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.document_file import document_bytes, json_bytes
from diagnosis_harness.report.markdown import markdown
from diagnosis_harness.trace.event import TraceEvent


class Answer:
    """What a run released. Immutable, and usable after its harness was closed.

    Every method that takes a language takes "en", "zh" or `Language`; None is the language of the question.
    """

    __slots__ = ("_answered", "_document", "_events")

    def __init__(self, answered: AnsweredRun, events: tuple[TraceEvent, ...]) -> None:
        self._answered = answered
        self._events = events
        self._document = answered.document(events)

    @property
    def run_id(self) -> str:
        """The run's id, as in the document."""
        return self._document.run.run_id

    @property
    def outcome(self) -> ReleaseOutcome:
        """What was released. Only SUCCESS carries causes."""
        return self._document.release.outcome

    @property
    def fallback(self) -> FallbackType | None:
        """Why there is no conclusion; None unless the outcome is FALLBACK."""
        return self._document.release.fallback_type

    @property
    def state(self) -> RunState:
        """How the run ended. A run that was cancelled or timed out may still have verified facts to show."""
        return self._document.run.state

    @property
    def causes(self) -> tuple[str, ...]:
        """Names of the causes, the strongest first; empty unless the outcome is SUCCESS."""
        return tuple(cause.entity for cause in self._document.report.causes)

    @property
    def document(self) -> dict[str, JsonValue]:
        """The run document as JSON values (docs/reference/run-document.schema.json); a new copy each time."""
        return self._document.as_json()

    def text(self, language: Language | str | None = None) -> str:
        """The answer in a few sentences: the conclusion or why there is none, then the verified facts."""
        document = self._in(language)
        lines = _opening(document) + [f"- {claim.sentence}" for claim in document.report.claims]
        return "\n".join(lines)

    def markdown(self, language: Language | str | None = None) -> str:
        """The whole report, for a ticket or a page. Names and log lines of the data are escaped."""
        return markdown(self._in(language))

    def save(self, file: str | Path) -> None:
        """Write the document as `diagnose verify` and `verify` read it.

        Raises:
            OSError: the file cannot be written.
        """
        Path(file).write_bytes(document_bytes(self._document))

    def verify(self) -> Verification:
        """Check the document as `verify` does."""
        return verify_bytes(document_bytes(self._document), file=self.run_id)

    def _in(self, language: Language | str | None) -> RunDocument:
        if language is None or language == self._document.run.language:
            return self._document
        return self._answered.document(self._events, language_named(language))


def language_named(language: Language | str) -> Language:
    """The language of that name.

    Raises:
        InvalidInput: it does not exist.
    """
    try:
        return Language(language)
    except ValueError:
        problem = f"{language!r:.40} is not a language of the report"
        raise InvalidInput("language", problem, f"use one of {', '.join(Language)}") from None


def verify(document: bytes | str | Path | Mapping[str, JsonValue]) -> Verification:
    """Check a saved run offline: digests, citations, numbers, sentences and outcome.

    Args:
        document: the bytes of a saved run, the path of one, or the JSON object in it. An object has no bytes,
            so the check of the byte form always passes for it.

    Raises:
        InvalidInput: it is not JSON, not a run document, or one of another version.
        OSError: the file cannot be read.
    """
    match document:
        case bytes():
            return verify_bytes(document, file="document")
        case str() | Path():
            return verify_bytes(Path(document).read_bytes(), file=str(document))
        case _:
            return verify_bytes(json_bytes(dict(document)), file="document")


def _opening(document: RunDocument) -> list[str]:
    failure = document.release.failure
    return [*document.report.summary] or ([failure] if failure else [])
