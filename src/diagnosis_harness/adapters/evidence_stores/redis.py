"""Evidence records in Redis or Valkey. The server decides each begin and finish in one command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import (
    ContractViolation,
    FailureKind,
    InvalidSetting,
    StoredBytesInvalid,
    StoreFailure,
)
from diagnosis_harness.kernel.store_trouble import StoreTrouble
from diagnosis_harness.tools.evidence import EvidenceStatus, InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord
from diagnosis_harness.tools.stored import read_stored

if TYPE_CHECKING:  # an optional extra, which may not be installed
    from redis.asyncio import Redis

_SCHEMES = {"redis": "redis", "rediss": "rediss", "valkey": "redis", "valkeys": "rediss"}
_PLACE = "evidence.url"

# A record is kept as one byte for its state, its fields as a line of JSON, and the stored bytes as they are.
_OPEN, _FINAL = b"P", b"F"

# KEYS: record, order of the run, mark of an abandoned run. ARGV: value, seconds to live, record key.
_BEGIN = """
if redis.call('EXISTS', KEYS[3]) == 1 then return -1 end
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('RPUSH', KEYS[2], ARGV[3])
if ARGV[2] ~= '0' then
  redis.call('EXPIRE', KEYS[1], ARGV[2])
  redis.call('EXPIRE', KEYS[2], ARGV[2])
end
return 1
"""
# KEYS: record. ARGV: value.
_FINISH = """
if redis.call('GETRANGE', KEYS[1], 0, 0) ~= 'P' then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'KEEPTTL')
return 1
"""


class RedisEvidenceStore:
    """`EvidenceStore` and `EvidenceArchive` of one event loop.

    redis-py's own retries are off: an operation is one command on one connection, and fails when that fails.
    """

    def __init__(self, client: Redis, *, ttl_s: int = 0) -> None:
        """Use `at`, which disables the client's retries."""
        self._client = client
        self._ttl_s = ttl_s

    @classmethod
    def at(
        cls, url: str, *, ttl_s: int = 0, timeout_s: float = 5.0, connections: int = 20
    ) -> RedisEvidenceStore:
        """The store at a URL; nothing is sent yet.

        Args:
            ttl_s: how long the server keeps records; 0 for ever.
            timeout_s: how long one command may take, and how long to wait for a free connection.

        Raises:
            InvalidSetting: the URL is not one of Redis or Valkey, or the client is not installed.
        """
        server = _redis_url(url)
        try:
            from redis.asyncio import BlockingConnectionPool, Redis
            from redis.asyncio.retry import Retry
            from redis.backoff import NoBackoff
            from redis.maint_notifications import MaintNotificationsConfig
        except ModuleNotFoundError as error:
            raise InvalidSetting(
                _PLACE, "the client of such a server is not installed", "install diagnosis-harness[redis]"
            ) from error
        try:
            pool = BlockingConnectionPool.from_url(
                server,
                max_connections=connections,
                timeout=timeout_s,
                socket_timeout=timeout_s,
                socket_connect_timeout=timeout_s,
                retry=Retry(NoBackoff(), 0),
                retry_on_timeout=False,
                health_check_interval=0,
                driver_info=None,
                maint_notifications_config=MaintNotificationsConfig(enabled=False),
            )
        except (ValueError, TypeError) as error:
            raise _invalid_url("is not a URL of such a server") from error
        return cls(Redis.from_pool(pool), ttl_s=ttl_s)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def begin(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Store a PROJECTING record; False if its key exists.

        Raises:
            StoreFailure: also if the run was abandoned (REJECTED).
        """
        del ctx
        keys = (record.key, _order(record.run_id), _abandon_key(record.run_id))
        with _translate_errors():
            answer = await self._command(
                "EVAL", _BEGIN, len(keys), *keys, _encode(record), self._ttl_s, record.key
            )
        if answer == -1:
            raise StoreFailure(
                "this process no longer owns the run",
                kind=FailureKind.REJECTED,
                trouble=StoreTrouble.EVIDENCE_FAILED,
            )
        return bool(answer == 1)

    async def finish(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Replace the PROJECTING record of the same key by a final one; False if there is none."""
        del ctx
        return await self._replace_open(record)

    async def get(self, ctx: RunContext, key: str) -> EvidenceRecord | None:
        """The record of a key, or None."""
        del ctx
        with _translate_errors():
            found = await self._command("GET", key)
        return None if found is None else _decode(found)

    async def of_run(self, ctx: RunContext) -> tuple[EvidenceRecord, ...]:
        """All records of the run, in the order in which they were begun."""
        return await self.records(ctx.run_id)

    async def records(self, run_id: str) -> tuple[EvidenceRecord, ...]:
        """All records of any run, in the order in which they were begun."""
        with _translate_errors():
            keys = await self._command("LRANGE", _order(run_id), 0, -1)
            found = await self._command("MGET", *keys) if keys else []
        return tuple(_decode(value) for value in found if value is not None)

    async def abandon(self, run_id: str, *, at_s: float) -> None:
        """End PROJECTING records as ERROR / ABANDONED, and refuse further records of the run."""
        with _translate_errors():
            await self._command(
                "SET", _abandon_key(run_id), "1", *(("EX", self._ttl_s) if self._ttl_s else ())
            )
        for record in await self.records(run_id):
            if record.invocation is InvocationStatus.PROJECTING:
                await self._replace_open(
                    record.with_error(ErrorCode.ABANDONED, at_s=max(at_s, record.started_s))
                )

    async def record_heartbeat(self, owner: str, *, at_s: float) -> None:
        """Write the one key that shows that this process can write here; it expires after a minute.

        Raises:
            StoreFailure: the store takes no write.
        """
        with _translate_errors():
            await self._command("SET", f"evidence-heartbeat:{owner}", f"{at_s:.3f}", "EX", 60)

    async def _replace_open(self, record: EvidenceRecord) -> bool:
        with _translate_errors():
            answer = await self._command("EVAL", _FINISH, 1, record.key, _encode(record))
        return bool(answer == 1)

    async def _command(self, *words: str | bytes | int) -> Any:  # noqa: ANN401 - as redis-py answers
        return await self._client.execute_command(*words)  # type: ignore[no-untyped-call]  # redis-py's own


def _order(run_id: str) -> str:
    return f"evidence-order:{run_id}"


def _abandon_key(run_id: str) -> str:
    return f"evidence-given-up:{run_id}"


def _redis_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        scheme = _SCHEMES.get(parts.scheme)
        named = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        scheme, named = None, False
    if scheme is None or not named:
        raise _invalid_url("is not a URL of such a server")
    return f"{scheme}{url[url.index('://') :]}"


def _invalid_url(problem: str) -> InvalidSetting:
    return InvalidSetting(
        _PLACE, problem, "give redis://HOST:PORT/0, rediss://... or valkey://..., or leave it empty"
    )


def _encode(record: EvidenceRecord) -> bytes:
    fields = {
        "key": record.key,
        "run_id": record.run_id,
        "tool_call_id": record.tool_call_id,
        "tool_name": record.tool_name,
        "scope": record.scope,
        "caller": record.caller,
        "started_s": record.started_s,
        "invocation": record.invocation.value,
        "evidence": record.evidence and record.evidence.value,
        "digest": record.digest,
        "finished_s": record.finished_s,
        "error_code": record.error_code and record.error_code.value,
    }
    state = _OPEN if record.invocation is InvocationStatus.PROJECTING else _FINAL
    stored = b"" if record.projection is None else b"\n" + record.projection.stored
    return state + json.dumps(fields, separators=(",", ":")).encode("ascii") + stored


def _decode(value: bytes) -> EvidenceRecord:
    try:
        line, marked, stored = value[1:].partition(b"\n")
        fields: dict[str, Any] = json.loads(line)
        return EvidenceRecord(
            **{
                **fields,
                "invocation": InvocationStatus(fields["invocation"]),
                "evidence": fields["evidence"] and EvidenceStatus(fields["evidence"]),
                "error_code": fields["error_code"] and ErrorCode(fields["error_code"]),
                "projection": read_stored(stored).projection if marked else None,
            }
        )
    except (ValueError, TypeError, KeyError, ContractViolation, StoredBytesInvalid) as error:
        raise StoreFailure(
            f"the content of the evidence store cannot be read ({type(error).__name__})",
            kind=FailureKind.INVALID_OUTPUT,
            trouble=StoreTrouble.EVIDENCE_UNREADABLE,
        ) from error


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Raise errors of redis-py as `StoreFailure`, whose messages name no hosts and users."""
    from redis import exceptions

    try:
        yield
    except exceptions.TimeoutError as error:
        raise _failure("does not answer", FailureKind.TIMEOUT, StoreTrouble.EVIDENCE_AWAY) from error
    except exceptions.AuthenticationError as error:
        problem = "refuses the user or the password"
        raise _failure(problem, FailureKind.REJECTED, StoreTrouble.EVIDENCE_FAILED) from error
    except exceptions.BusyLoadingError as error:
        raise _failure("is starting", FailureKind.UNAVAILABLE, StoreTrouble.EVIDENCE_AWAY) from error
    except (exceptions.ConnectionError, OSError) as error:
        raise _failure("cannot be reached", FailureKind.TRANSPORT, StoreTrouble.EVIDENCE_AWAY) from error
    except exceptions.OutOfMemoryError as error:
        raise _failure("has no memory left", FailureKind.UNAVAILABLE, StoreTrouble.EVIDENCE_FULL) from error
    except exceptions.ReadOnlyError as error:
        raise _failure("is read-only", FailureKind.REJECTED, StoreTrouble.EVIDENCE_READ_ONLY) from error
    except exceptions.RedisError as error:
        problem = f"failed ({type(error).__name__})"
        raise _failure(problem, FailureKind.UNKNOWN, StoreTrouble.EVIDENCE_FAILED) from error


def _failure(problem: str, kind: FailureKind, trouble: StoreTrouble) -> StoreFailure:
    return StoreFailure(f"the evidence store {problem}", kind=kind, trouble=trouble)
