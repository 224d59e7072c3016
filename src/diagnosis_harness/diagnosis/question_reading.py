"""What the words of a question were read as: a value that the document shows and that verifying repeats."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.diagnosis.names import KnownNames, NameRead, NameReading, read_name, read_names


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """How code read a question.

    Attributes:
        names: the names in the question, in its order.
        alert_name: how the name of the alert's entity was read; None without an alert, or with its very name.
    """

    names: tuple[NameRead, ...] = ()
    alert_name: NameRead | None = None

    @property
    def told(self) -> tuple[NameRead, ...]:
        """The names of question and alert that were not read as they are written."""
        alert = () if self.alert_name is None else (self.alert_name,)
        return tuple(each for each in (*self.names, *alert) if each.how is not NameReading.EXACT)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The names that no telemetry knows, as the asker wrote them."""
        return tuple(each.said for each in self.told if each.name is None)


def read_question(question: str, alert_entity: str | None, known: KnownNames) -> QuestionReading:
    """A question, and the name of the alert's entity, read against the known names: pure.

    Where no name is known at all, as with own tools and no source, no name of a question is unknown.
    """
    if not known.names:
        return QuestionReading()
    return QuestionReading(
        names=read_names(question, known),
        alert_name=None if alert_entity is None else read_name(alert_entity, known),
    )
