"""Configuration, read once by the program that wires the product, and frozen."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from diagnosis_harness.earlier_settings import rename_sections, rename_variables
from diagnosis_harness.harness.budget import RunBudgetLimits
from diagnosis_harness.harness.retry_policy import TWO_ATTEMPTS, HarnessRetryPolicies, RetryPolicy
from diagnosis_harness.kernel.errors import InvalidSetting


def _no_truth_value(value: object) -> object:
    """Refuse `true` and `false`, which Python would read as 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("a number, not true or false")  # noqa: TRY004 - pydantic reports ValueError, not TypeError
    return value


def _single(attempts: int) -> int:
    if attempts != 1:
        raise ValueError("must be 1: only the harness retries, so that every attempt is charged and recorded")
    return attempts


Number = BeforeValidator(_no_truth_value)
Count = Annotated[int, Number, Field(gt=0)]
Seconds = Annotated[float, Number, Field(gt=0, allow_inf_nan=False)]


class _Section(BaseModel):
    """A table of the file: frozen, and an unknown key is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ClientSettings(_Section):
    """All clients that the harness uses: HTTP, language models, stores."""

    max_attempts: Annotated[int, Number, AfterValidator(_single)]


class RunSettings(_Section):
    """Time and threads."""

    timeout_s: Seconds
    finalise_timeout_s: Seconds
    parallel_tools: Count
    worker_threads: Count


class LimitSettings(_Section):
    """Limits of one run."""

    llm_calls: Count
    tool_calls: Count
    tool_calls_per_tool: Count
    input_tokens: Count
    output_tokens: Count
    total_tokens: Count
    run_bytes: Count


class RetrySettings(_Section):
    """Second attempts of the harness."""

    delay_s: Annotated[float, Number, Field(ge=0, allow_inf_nan=False)]


class ProgressSettings(_Section):
    """When collecting evidence stops."""

    no_gain: Count
    protocol_violations: Count


class ProjectionSettings(_Section):
    """What one tool call may keep."""

    items_max: Count
    bytes_max: Count


class PlayersSettings(_Section):
    """Who plays each role; `bootstrap.players` lists the names."""

    router: str
    policy: str
    repairer: str
    judge: str
    responder: str
    writer: str


class FolderSettings(_Section):
    """Reading an incident folder."""

    memory_limit_mb: Count
    open_max: Count


class KnowledgeSettings(_Section):
    """Runbooks: the folder, its index, and how it is read."""

    folder: str
    index_folder: str
    vectors: bool
    file_bytes_max: Count
    files_max: Count
    passage_characters: Annotated[int, Number, Field(ge=200, le=4000)]
    refresh_s: Seconds


class SupervisionSettings(_Section):
    """Heartbeats of processes, and recovery of the runs of dead ones."""

    heartbeat_s: Seconds
    poll_s: Seconds
    dead_after_s: Seconds
    requeue_after_s: Seconds
    drain_s: Seconds


class DatabaseSettings(_Section):
    """The database of runs, traces, evidence and keys."""

    url: Annotated[str, Field(min_length=1)]
    pool_size: Count
    busy_timeout_s: Seconds
    start_wait_s: Seconds


class EvidenceSettings(_Section):
    """The store of evidence records, if not the database."""

    url: str
    ttl_s: Annotated[int, Number, Field(ge=0)]


class QueueSettings(_Section):
    """Delivery of background runs to processes that have room."""

    url: str
    parallel_max: Count
    poll_interval_s: Seconds


class AccessSettings(_Section):
    """Scopes of the tools that each role may use; `*` is every one."""

    viewer: frozenset[str]
    operator: frozenset[str]
    admin: frozenset[str]


class SourceSettings(_Section):
    """An incident folder that the service may be asked about.

    `roles` names the kinds of telemetry that are taken from it, none for all of them. `also` holds further
    sources behind the same name.
    """

    kind: Literal["incident-folder"] = "incident-folder"
    folder: Path
    baseline: Path | None = None
    roles: tuple[Literal["metrics", "spans", "topology", "logs", "changes"], ...] = ()
    also: tuple[AnySource, ...] = ()


AnySource: TypeAlias = SourceSettings
"""The settings of a source of any kind; docs/extending.md says how a second kind joins them."""


class ServerSettings(_Section):
    """The HTTP interface: its address, and limits of its callers."""

    host: Annotated[str, Field(min_length=1)]
    port: Annotated[int, Number, Field(ge=0, le=65_535)]
    require_key: bool
    allowed_hosts: tuple[str, ...]
    rate_per_minute: Count
    unfinished_runs: Count
    streams_max: Count
    run_limit_max_s: Seconds
    start_within_s: Seconds
    body_bytes_max: Count
    alert_bytes_max: Count
    read_timeout_s: Seconds
    write_timeout_s: Seconds
    heartbeat_s: Seconds


class UploadsSettings(_Section):
    """Sources that callers may send: limits, how long they are kept, and where they are unpacked."""

    bytes_max: Count
    unpacked_bytes_max: Count
    keep_s: Seconds
    caller_sources_max: Count
    caller_bytes_max: Count
    timeout_s: Seconds
    folder: str


class RetentionSettings(_Section):
    """How long runs are kept, and whether those of `diagnose ask --from` are kept at all, and where."""

    local: bool
    folder: str
    days: Annotated[float, Number, Field(gt=0, allow_inf_nan=False)]
    runs_max: Count


class TerminalSettings(_Section):
    """How the command line behaves on a terminal."""

    interactive: bool


class AlertsSettings(_Section):
    """Alert notifications: how many may wait, how many runs they may cause, and their source."""

    waiting_max: Count
    unfinished_runs: Count
    source: str


class TelemetrySettings(_Section):
    """Traces for an OpenTelemetry backend."""

    endpoint: str
    headers: dict[str, str]
    service_name: Annotated[str, Field(min_length=1)]
    timeout_s: Seconds


class RemoteSettings(_Section):
    """The server that the command line uses, and how to reach it."""

    url: str
    timeout_s: Seconds
    proxy: str
    ca_file: str


class Settings(BaseSettings):
    """All configuration. Environment variables (`DIAGNOSE_SECTION__KEY`) win over the files.

    The defaults are the shipped `settings.toml`, and no other place holds any. Read it with `load_settings`.
    """

    model_config = SettingsConfigDict(
        frozen=True, extra="forbid", env_prefix="DIAGNOSE_", env_nested_delimiter="__"
    )

    client: ClientSettings
    run: RunSettings
    limits: LimitSettings
    retry: RetrySettings
    progress: ProgressSettings
    projection: ProjectionSettings
    players: PlayersSettings
    folder: FolderSettings
    knowledge: KnowledgeSettings
    supervision: SupervisionSettings
    database: DatabaseSettings
    evidence: EvidenceSettings
    queue: QueueSettings
    access: AccessSettings
    sources: dict[str, AnySource]
    server: ServerSettings
    alerts: AlertsSettings
    uploads: UploadsSettings
    telemetry: TelemetrySettings
    remote: RemoteSettings
    retention: RetentionSettings
    terminal: TerminalSettings
    api_key: SecretStr

    @classmethod
    def settings_customise_sources(  # noqa: PLR0917 - the signature is pydantic-settings' own
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment over the files; no dotenv and no secret files."""
        del settings_cls, dotenv_settings, file_secret_settings
        if isinstance(env_settings, EnvSettingsSource):
            env_settings.env_vars = rename_variables(env_settings.env_vars)
        return (env_settings, init_settings)

    def budget_limits(self) -> RunBudgetLimits:
        """The limits as the core takes them."""
        return RunBudgetLimits(**dict(self.limits))

    def retry_policies(self) -> HarnessRetryPolicies:
        """The retry policies as the core takes them."""
        twice = RetryPolicy(
            attempts_max=TWO_ATTEMPTS.attempts_max, retry_on=TWO_ATTEMPTS.retry_on, delay_s=self.retry.delay_s
        )
        return HarnessRetryPolicies(router=twice, semantic_guard=twice)


def load_settings(file: Path | None = None) -> Settings:
    """Load the shipped defaults, overridden by `file`, overridden by the environment.

    Raises:
        InvalidSetting: the file cannot be read, a key is not known, or a value is refused.
    """
    shipped = tomllib.loads(files("diagnosis_harness").joinpath("settings.toml").read_text(encoding="utf-8"))
    given = {} if file is None else rename_sections(_read(file), place=str(file))
    place = "settings" if file is None else str(file)
    try:
        return Settings(**_merge(shipped, given))  # type: ignore[arg-type]  # checked by pydantic, here
    except ValidationError as error:
        raise _first_problem(place, error) from error
    except SettingsError as error:  # pydantic names only the table
        table = re.search(r'"(\w+)"', str(error))
        raise InvalidSetting(
            f"DIAGNOSE_{table[1].upper()}…" if table else "DIAGNOSE_…",
            "the value is not valid JSON",
            """write it as ["a", "b"] or {"a": "b"}""",
        ) from error


def _read(file: Path) -> dict[str, object]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidSetting(
            str(file), f"cannot be read ({error.strerror})", "name a file that exists"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSetting(
            str(file), f"is not TOML ({error})", "fix the syntax, or omit the file"
        ) from error


def _merge(shipped: dict[str, object], given: dict[str, object]) -> dict[str, object]:
    """The given values over the shipped ones, table by table."""
    merged = {**shipped, **given}
    for name, table in shipped.items():
        over = given.get(name)
        if isinstance(table, dict) and isinstance(over, dict):
            merged[name] = {**table, **over}
    return merged


def _first_problem(place: str, error: ValidationError) -> InvalidSetting:
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    problem = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        return InvalidSetting(f"{place}, {key}", "unknown key", "remove it or correct its name")
    if first["type"] == "missing":
        return InvalidSetting(f"{place}, {key}", "missing", "set it, or omit the whole table")
    given = first["input"]
    return InvalidSetting(
        f"{place}, {key}", f"{given!r:.80} is refused ({problem})", "correct the value, or omit it"
    )
