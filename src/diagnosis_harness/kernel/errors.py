"""Every exception of the product, on one page.

    DiagnosisHarnessError
    ├── InvalidInput              what a person gave cannot be used: place, problem, remedy (exit code 2)
    │   └── InvalidSetting        the same, for a configuration value
    ├── ContractViolation         the calling code broke a rule of ours (a bug, never a person's fault)
    │   ├── InvalidIdentity       blank or unsafe session, run or tool call id
    │   ├── InvalidLimits         a missing, zero or negative budget limit
    │   └── InvalidRetryPolicy    a policy that lists what must never be retried
    ├── RunAborted                the run has ended; the work is refused or its result discarded
    │   └── RunForked             this process is a fork of the one that opened the run
    ├── InterruptCarried          KeyboardInterrupt or SystemExit on its way through a wait
    ├── CapacityRefused           a byte reservation beyond the run's limit (the counter itself only refuses)
    ├── TechnicalFailure          something outside did not work: kind says how; never an answer
    │   ├── LlmFailure            the language model or its provider
    │   ├── ToolFailure           a tool's backend
    │   ├── StoreFailure          a store: database, evidence store or queue (carries StoreTrouble)
    │   ├── RouterUnavailable     the router, after its attempts: no path is guessed
    │   ├── KnowledgeUnavailable  the runbooks cannot be searched
    │   ├── AnswerRefused         what a player answered does not hold against what it was given
    │   ├── SourceUnavailable     a source cannot be read
    │   │   └── SourceExpired     a source that a caller sent has expired since it was asked about
    │   ├── OnsetOutsideData      the time that was given lies outside of what a source holds
    │   ├── RunNotKept            a run's end could not be kept, so nothing of it may leave
    │   ├── ServiceFailure        a server that was asked did not answer, or with a problem
    │   └── MaskingFailed         text could not be masked, so it must not be kept, shown or logged
    ├── ArgumentProblem           refused arguments of a tool request; preflight makes a refusal of it
    ├── ProjectionTooLarge        not even the strongest finding fits a record; it ends in ERROR
    ├── JsonInvalid               JSON that is not as its reader wants it; the reader translates it once
    ├── StoredBytesInvalid        bytes that no projection can have stored: place, problem
    ├── RunDocumentInvalid        a saved run that no run can have written: place, problem
    ├── MalformedAnswer           a player answered, and not in the form that was agreed
    ├── NothingToRelease          the work ended and no safe content can be formed from it
    ├── RunUnknown                there is no such run for this caller
    ├── RunGoesOn                 what is asked for stands only when the run has ended
    ├── NotPermitted              the caller's role does not allow it
    ├── LimitReached              no more runs, streams or sources of a caller, or alerts, are taken
    ├── SourceUnknown             no such source was sent by this caller, or it has expired
    ├── NoRoomForUpload           the disk on which sources arrive is full
    ├── RunTaken                  a queued run was claimed, cancelled or ended before this process came to it
    └── AgentStopped              the loop ended without a legal draft (carries the ProgressSnapshot)
        ├── EmptyDraft            the policy ended and gave nothing
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
    """What a person gave cannot be used.

    Attributes:
        place: file, option or field at fault, as the person knows it.
        problem: what is wrong there, without a full stop.
        remedy: what to do about it, without a full stop.
    """

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem}; {remedy}.")
        self.place = place
        self.problem = problem
        self.remedy = remedy


class InvalidSetting(InvalidInput):
    """A configuration value that is refused at load."""


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

    A task that raises one of them directly stops the event loop at once, and with it everybody's bookkeeping.
    Wrapped, it travels like any other error and leaves the loop through the host's own task.

    Attributes:
        raised: what the waiter raises in its place.
    """

    def __init__(self, raised: BaseException) -> None:
        super().__init__(type(raised).__name__)
        self.raised = raised


class CapacityRefused(DiagnosisHarnessError):
    """A byte reservation would pass the run's limit; earlier usage is unchanged."""

    def __init__(self, *, asked_bytes: int, used_bytes: int, limit_bytes: int) -> None:
        super().__init__(f"{asked_bytes} bytes asked, {used_bytes} of {limit_bytes} in use")
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
    """The router gave no path for the question: its attempts are used up, or it named none."""


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
    """The server that the command line asked could not be reached, or answered with a problem.

    `status` is of the HTTP response; None where there was none.
    """

    def __init__(
        self, message: str, *, status: int | None = None, kind: FailureKind = FailureKind.REJECTED
    ) -> None:
        super().__init__(message, kind=kind)
        self.status = status


class SourceExpired(SourceUnavailable):
    """The source was sent by a caller, and has expired or was deleted since the question was asked."""


class SourceUnknown(DiagnosisHarnessError):
    """No such source was sent, it has expired, or another caller sent it: these are not distinguished."""


class NoRoomForUpload(DiagnosisHarnessError):
    """The disk on which uploads arrive and are unpacked is full."""


class RunUnknown(DiagnosisHarnessError):
    """There is no such run, or it belongs to another caller: the two are not distinguished."""


class RunGoesOn(DiagnosisHarnessError):
    """The run has not ended: what was asked for does not exist yet."""


class NotPermitted(DiagnosisHarnessError):
    """The caller's role does not allow what was asked for."""


class LimitReached(DiagnosisHarnessError):
    """No more of something is taken; `limit` is how many of it there may be."""

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
    """The caller has stored as many sources, or as many bytes of them, as it may."""


class RunTaken(DiagnosisHarnessError):
    """The run was claimed, cancelled or ended before: it must not be worked on here."""


class ArgumentProblem(DiagnosisHarnessError):
    """Why the arguments of a tool request are refused: one clause that names the argument."""


class UnknownEntity(ArgumentProblem):
    """An argument names a service or instance that the telemetry does not know."""


class ProjectionTooLarge(DiagnosisHarnessError):
    """Not even the strongest finding of a tool fits the bounds of its record."""


class JsonInvalid(DiagnosisHarnessError):
    """A JSON text, or a value in one, that its reader does not accept.

    Attributes:
        place: the value at fault, as a path inside the text; empty for the whole of it.
        wanted: what should be there.
        found: what is there instead.
    """

    def __init__(self, place: str, wanted: str, found: str) -> None:
        super().__init__(f"{place or 'the text'}: expected {wanted}, found {found}")
        self.place = place
        self.wanted = wanted
        self.found = found

    @property
    def problem(self) -> str:
        """What is wrong at the place, without a full stop."""
        return f"expected {self.wanted}, found {self.found}"


class StoredBytesInvalid(DiagnosisHarnessError):
    """Bytes that are not the canonical JSON of a projection.

    Attributes:
        place: the field at fault, as a path inside the stored value; empty for the whole of it.
        problem: what is wrong there, without a full stop.
    """

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place or 'stored bytes'}: {problem}")
        self.place = place
        self.problem = problem


class RunDocumentInvalid(DiagnosisHarnessError):
    """A value that is not exactly a run document, or one that contradicts itself.

    Attributes:
        place: the field at fault, as a path inside the document; empty for the whole of it.
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
    """The diagnosis loop ended without a legal draft.

    Attributes:
        snapshot: what the loop had learnt (`diagnosis.progress.ProgressSnapshot`); typed as object, since
        kernel may not import the diagnosis room.
    """

    def __init__(self, message: str, *, snapshot: object) -> None:
        super().__init__(message)
        self.snapshot = snapshot


class EmptyDraft(AgentStopped):
    """The policy ended and gave no draft."""


class MalformedDraft(AgentStopped):
    """The draft was not JSON or did not fit the schema; it is discarded."""


class PolicyFailed(AgentStopped):
    """The policy, or the language model behind it, failed."""


class AgentAborted(AgentStopped):
    """The run ended (cancel or deadline) while the loop was running."""

    def __init__(self, aborted: RunAborted, *, snapshot: object) -> None:
        super().__init__(str(aborted), snapshot=snapshot)
        self.aborted = aborted
