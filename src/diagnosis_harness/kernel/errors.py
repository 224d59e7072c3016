"""Every exception of the product, on one page.

    DiagnosisHarnessError
    ├── InvalidInput              invalid user input: place, problem, remedy (exit code 2)
    │   └── InvalidSetting        the same, for a configuration value
    ├── ContractViolation         the calling code broke a rule of this package (a bug, not a user error)
    │   ├── InvalidIdentity       blank or unsafe session, run or tool call id
    │   ├── InvalidLimits         a missing, zero or negative budget limit
    │   └── InvalidRetryPolicy    a policy that lists what must never be retried
    ├── RunAborted                the run has ended; the work is refused or its result discarded
    │   └── RunForked             this process is a fork of the one that opened the run
    ├── InterruptCarried          KeyboardInterrupt or SystemExit on its way through a wait
    ├── CapacityRefused           a byte reservation beyond the run's limit (the counter itself only refuses)
    ├── TechnicalFailure          something outside failed; kind says how; never an answer
    │   ├── LlmFailure            the language model or its provider
    │   ├── ToolFailure           a tool's backend
    │   ├── StoreFailure          a store: database, evidence store or queue (carries StoreTrouble)
    │   ├── RouterUnavailable     the router, after its attempts: no path is guessed
    │   ├── KnowledgeUnavailable  the runbooks cannot be searched
    │   ├── AnswerRefused         a player's answer contradicts the material it was given
    │   ├── SourceUnavailable     a source cannot be read
    │   │   └── SourceExpired     an uploaded source has expired since the question was asked
    │   ├── OnsetOutsideData      the given time lies outside the data of a source
    │   ├── RunNotKept            a run's end could not be stored, so nothing of it is published
    │   ├── ServiceFailure        a server did not answer, or answered with a problem
    │   └── MaskingFailed         text could not be masked, so it must not be stored, shown or logged
    ├── ArgumentProblem           invalid arguments of a tool request; preflight turns it into a refusal
    ├── ProjectionTooLarge        not even the strongest finding fits a record; it ends in ERROR
    ├── JsonInvalid               JSON that its reader does not accept; the reader translates it once
    ├── StoredBytesInvalid        bytes that no projection could have stored: place, problem
    ├── RunDocumentInvalid        a saved document that no run could have written: place, problem
    ├── MalformedAnswer           a player's answer does not have the agreed form
    ├── NothingToRelease          the work ended and no safe content can be formed from it
    ├── RunUnknown                there is no such run for this caller
    ├── RunGoesOn                 what was requested exists only once the run has ended
    ├── NotPermitted              the caller's role does not allow it
    ├── LimitReached              a limit on runs, streams, sources or alerts is reached
    ├── SourceUnknown             this caller has no such source, or it has expired
    ├── NoRoomForUpload           the disk for uploads is full
    ├── RunTaken                  a queued run was claimed, cancelled or ended before this process got to it
    └── AgentStopped              the loop ended without a valid draft (carries the ProgressSnapshot)
        ├── EmptyDraft            the policy ended without a draft
        ├── MalformedDraft        not JSON, or not of the schema
        ├── PolicyFailed          the policy itself raised, or its language model failed
        └── AgentAborted          the run ended inside the loop

Foreign errors are translated once, at the edge where they arise.
"""

from __future__ import annotations

from enum import StrEnum

from diagnosis_harness.kernel.store_trouble import StoreTrouble


class DiagnosisHarnessError(Exception):
    """Root of all errors of this package."""


class InvalidInput(DiagnosisHarnessError):
    """Something that the user gave cannot be used.

    Attributes:
        place: file, option or field at fault, as the user knows it.
        problem: what is wrong there, without a full stop.
        remedy: what to do about it, without a full stop.
    """

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem}; {remedy}.")
        self.place = place
        self.problem = problem
        self.remedy = remedy


class InvalidSetting(InvalidInput):
    """An invalid configuration value, refused at load."""


class ContractViolation(DiagnosisHarnessError):
    """The calling code broke a rule of this package."""


class InvalidIdentity(ContractViolation):
    """A blank, too long or unsafe session, run or tool call id."""


class InvalidLimits(ContractViolation):
    """A budget limit that is missing, zero, negative or not a whole number."""


class InvalidRetryPolicy(ContractViolation):
    """A retry policy that lists a failure which must never be retried, or too many attempts."""


class RunAborted(DiagnosisHarnessError):
    """The run has ended: new work is refused, a late result is discarded.

    Attributes:
        state: wire value of the run's terminal state.
        reason: wire value of the first cancellation reason, or None when the run ended without one.
    """

    def __init__(self, state: str, reason: str | None) -> None:
        super().__init__(f"the run has ended: {state}" + (f" ({reason})" if reason else ""))
        self.state = state
        self.reason = reason


class RunForked(RunAborted):
    """This process is a fork of the one that opened the run: the run continues there and has ended here."""

    def __init__(self, state: str, reason: str | None) -> None:
        super().__init__(state, reason)
        self.args = ("the run belongs to the process that opened it, and this one is a fork of it",)


class InterruptCarried(DiagnosisHarnessError):
    """Carries KeyboardInterrupt or SystemExit from a task to its waiter.

    A task that raises one of them directly stops the event loop at once, before other tasks have cleaned up.
    Wrapped, it travels like any other error and leaves the loop through the host's own task.

    Attributes:
        raised: what the waiter raises in its place.
    """

    def __init__(self, raised: BaseException) -> None:
        super().__init__(type(raised).__name__)
        self.raised = raised


class CapacityRefused(DiagnosisHarnessError):
    """A byte reservation would exceed the run's limit; earlier usage is unchanged."""

    def __init__(self, *, asked_bytes: int, used_bytes: int, limit_bytes: int) -> None:
        super().__init__(f"{asked_bytes} bytes requested, {used_bytes} of {limit_bytes} in use")
        self.asked_bytes = asked_bytes
        self.used_bytes = used_bytes
        self.limit_bytes = limit_bytes


class FailureKind(StrEnum):
    """How an attempt failed. Only the first four may ever be retried, by a policy that lists them."""

    TRANSPORT = "TRANSPORT"
    TIMEOUT = "TIMEOUT"  # the attempt's own limit, never the run's deadline
    RATE_LIMITED = "RATE_LIMITED"
    UNAVAILABLE = "UNAVAILABLE"
    INVALID_OUTPUT = "INVALID_OUTPUT"
    REJECTED = "REJECTED"  # the other side understood the request and refused it
    NO_EVIDENCE = "NO_EVIDENCE"
    CANCELLED = "CANCELLED"
    DEADLINE = "DEADLINE"
    BUDGET = "BUDGET"
    UNKNOWN = "UNKNOWN"


class TechnicalFailure(DiagnosisHarnessError):
    """Something outside this program failed.

    Attributes:
        kind: how it failed; the retry executor decides by it, never by the text.
    """

    def __init__(self, message: str, *, kind: FailureKind = FailureKind.UNKNOWN) -> None:
        super().__init__(message)
        self.kind = kind


class LlmFailure(TechnicalFailure):
    """The language model or its provider failed."""


class ToolFailure(TechnicalFailure):
    """A tool's backend failed; `code` becomes the record's error code."""

    def __init__(
        self, message: str, *, kind: FailureKind = FailureKind.UNKNOWN, code: str = "EXECUTION_FAILED"
    ) -> None:
        super().__init__(message, kind=kind)
        self.code = code


class MemoryLimit(ToolFailure):
    """Telemetry of one kind does not fit into memory; the message names the setting to raise."""


class StoreFailure(TechnicalFailure):
    """A store failed, was too slow, or returned other bytes than it was given.

    Attributes:
        trouble: which store failed, and how; code reads this and never the text.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: FailureKind = FailureKind.UNKNOWN,
        trouble: StoreTrouble = StoreTrouble.DATABASE_AWAY,
    ) -> None:
        super().__init__(message, kind=kind)
        self.trouble = trouble


class RouterUnavailable(TechnicalFailure):
    """The router chose no path for the question: its attempts are used up, or its answer named none."""


class KnowledgeUnavailable(TechnicalFailure):
    """The runbooks cannot be searched."""


class AnswerRefused(TechnicalFailure):
    """A player's answer quotes or names something that it was not given; it is not replaced."""


class MaskingFailed(TechnicalFailure):
    """Text could not be masked. It is withheld and never passed on unmasked."""


class SourceUnavailable(TechnicalFailure):
    """A source of telemetry cannot be read."""


class OnsetOutsideData(TechnicalFailure):
    """The stated onset lies outside the available telemetry."""


class RunNotKept(TechnicalFailure):
    """The end of a run could not be stored; nothing of it is published, and its row is ended later."""


class ServiceFailure(TechnicalFailure):
    """The server could not be reached by the command line, or answered with a problem.

    `status` is that of the HTTP response; None if there was none.
    """

    def __init__(
        self, message: str, *, status: int | None = None, kind: FailureKind = FailureKind.REJECTED
    ) -> None:
        super().__init__(message, kind=kind)
        self.status = status


class SourceExpired(SourceUnavailable):
    """An uploaded source that has expired or was deleted since the question was asked."""


class SourceUnknown(DiagnosisHarnessError):
    """The source does not exist, has expired, or belongs to another caller; these are not distinguished."""


class NoRoomForUpload(DiagnosisHarnessError):
    """The disk on which uploads arrive and are unpacked is full."""


class RunUnknown(DiagnosisHarnessError):
    """There is no such run, or it belongs to another caller: the two are not distinguished."""


class RunGoesOn(DiagnosisHarnessError):
    """The run has not ended, so what was requested does not exist yet."""


class NotPermitted(DiagnosisHarnessError):
    """The caller's role does not allow what was asked for."""


class LimitReached(DiagnosisHarnessError):
    """A limit on the number of something is reached; `limit` is that number."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the limit of {limit} is reached ({type(self).__name__})")
        self.limit = limit


class TooManyRuns(LimitReached):
    """The caller has reached its limit of unfinished runs."""


class TooManyAlerts(LimitReached):
    """The limit of waiting alert notifications is reached."""


class TooManyStreams(LimitReached):
    """The caller has reached its limit of open streams."""


class TooManySources(LimitReached):
    """The caller has reached its limit of stored sources, or of their bytes."""


class RunTaken(DiagnosisHarnessError):
    """The run was already claimed, cancelled or ended, so this process must not execute it."""


class ArgumentProblem(DiagnosisHarnessError):
    """The arguments of a tool request are invalid: one clause that names the argument."""


class UnknownEntity(ArgumentProblem):
    """An argument names a service or instance that the telemetry does not know."""


class ProjectionTooLarge(DiagnosisHarnessError):
    """Not even the strongest finding of a tool fits the bounds of its record."""


class JsonInvalid(DiagnosisHarnessError):
    """A JSON text, or a value in one, that its reader does not accept.

    Attributes:
        place: path of the value at fault inside the text; empty for the whole text.
        expected: what should be there.
        found: what is there instead.
    """

    def __init__(self, place: str, expected: str, found: str) -> None:
        super().__init__(f"{place or 'the text'}: expected {expected}, found {found}")
        self.place = place
        self.expected = expected
        self.found = found

    @property
    def problem(self) -> str:
        """What is wrong at the place, without a full stop."""
        return f"expected {self.expected}, found {self.found}"


class StoredBytesInvalid(DiagnosisHarnessError):
    """Bytes that are not the canonical JSON of a projection.

    Attributes:
        place: path of the field at fault inside the stored value; empty for the whole value.
        problem: what is wrong there, without a full stop.
    """

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place or 'stored bytes'}: {problem}")
        self.place = place
        self.problem = problem


class RunDocumentInvalid(DiagnosisHarnessError):
    """A value that is not exactly a run document, or one that contradicts itself.

    Attributes:
        place: path of the field at fault inside the document; empty for the whole document.
        problem: what is wrong there, without a full stop.
    """

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place or 'run document'}: {problem}")
        self.place = place
        self.problem = problem


class MalformedAnswer(DiagnosisHarnessError):
    """A player's answer could not be read: not JSON, not of the schema, or too large. Never repaired."""


class NothingToRelease(DiagnosisHarnessError):
    """The diagnosis ended without a conclusion that passed its checks and without a verified fact."""


class AgentStopped(DiagnosisHarnessError):
    """The diagnosis loop ended without a valid draft.

    Attributes:
        snapshot: what the loop had found (`diagnosis.progress.ProgressSnapshot`); typed as object, since
        kernel may not import the diagnosis room.
    """

    def __init__(self, message: str, *, snapshot: object) -> None:
        super().__init__(message)
        self.snapshot = snapshot


class EmptyDraft(AgentStopped):
    """The policy ended without a draft."""


class MalformedDraft(AgentStopped):
    """The draft was not JSON or did not fit the schema; it is discarded."""


class PolicyFailed(AgentStopped):
    """The policy, or the language model behind it, failed."""


class AgentAborted(AgentStopped):
    """The run ended (cancel or deadline) while the loop was running."""

    def __init__(self, aborted: RunAborted, *, snapshot: object) -> None:
        super().__init__(str(aborted), snapshot=snapshot)
        self.aborted = aborted
