"""Speak to providers of batch jobs, as one protocol over their official SDKs.

OpenAI     a file of requests is uploaded, a job is made of it; `metadata` holds our job's id
Anthropic  the call holds the requests; a job there carries no mark of ours but the custom ids of its results
The SDKs retry by themselves if that is harmless, but never the call that makes a job: if its answer is lost, the
job must be looked up, not submitted again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol

from slant.collector.keep.batch_jobs import Job
from slant.collector.plan.run_plan import RunPlan
from slant.collector.providers import is_on_this_machine, provider_named
from slant.collector.providers.exchange import Request

SIMULATED = "simulated"
WITH_BATCHES = {
    "openai": ("slant.collector.batch.openai_jobs", "OpenAIBatches"),
    "openai-responses": ("slant.collector.batch.openai_jobs", "OpenAIBatches"),
    "anthropic": ("slant.collector.batch.anthropic_jobs", "AnthropicBatches"),
    "simulated": ("slant.collector.batch.simulated_jobs", "SimulatedBatches"),
}
SUBMIT_LIMIT_S = 1800.0  # a file of 200 MB over a slow line
SKEW = timedelta(days=1)  # a laptop's clock is rarely further off than that
GONE_AFTER_S = 2 * 86_400.0  # a job lasts a day at most: a job that is missing by then will not come
MAX_LINE_BYTES = 40_000_000  # a body of 32 MB, the longest that is read of a live answer, and what surrounds it
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError)
"""Expect these errors for values of another kind than a provider documents."""
_ID = re.compile(r"[A-Za-z0-9_:-][A-Za-z0-9_.:-]{0,199}")  # it becomes a part of an address


@dataclass(frozen=True, slots=True)
class BatchResult:
    """Hold one result: an HTTP status with a body, or an error (the request expired, was cancelled, never ran)."""

    custom_id: str
    status: int | None = None
    body: str | None = None
    request_id: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class UnreadableLine:
    """Hold a line of the results that is not a result: its number in its file, and the reason."""

    number: int
    reason: str

    @property
    def in_words(self) -> str:
        return f"line {self.number:,} of its results can't be read ({self.reason})"


@dataclass(frozen=True, slots=True)
class JobStatus:
    """Hold a job's state at the provider. `problem` is the provider's own sentence if the whole job failed, `n_answers`
    how many requests it says were answered: fewer results than that are incomplete."""

    status: str
    has_ended: bool = False
    ended_at: str | None = None
    problem: str | None = None
    n_answers: int = 0


class NotSubmitted(Exception):
    """Signal that the provider has refused the job, in its own words: there is none."""


class Unsure(Exception):
    """Signal that no answer says whether a job was made, or its state. It holds what is known."""


class NotThere(Exception):
    """Signal that the provider knows no such job."""


class Service(Protocol):
    """Define what the collector asks of a provider of batch jobs. Limits are the provider's, for one job."""

    max_requests: int
    max_bytes: int

    def endpoint(self, request: Request, base_url: str) -> str:
        """Return the provider's endpoint that a job is for."""

    def line(self, custom_id: str, request: Request, endpoint: str) -> dict[str, Any]:
        """Return a request in the provider's form."""

    def body(self, line: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request inside a line, as it would have been sent by itself."""

    def upload(self, job: Job, requests: Path) -> str | None:
        """Return the prerequisite of the job (a file's id), if any. Raise NotSubmitted, Unsure."""

    def submit(self, job: Job, requests: Path) -> str:
        """Make the job and return its id; called once per job. Raise NotSubmitted, Unsure."""

    def find(self, job: Job, others: Collection[str]) -> tuple[Literal["found", "perhaps", "none"], str | None]:
        """Look for a job whose submission got no answer. `others` are ids that are known to be other jobs."""

    def look(self, job: Job) -> JobStatus:
        """Return the job's state. Raise NotThere, Unsure."""

    def results(self, job: Job) -> Iterator[BatchResult | UnreadableLine]:
        """Yield the result of each request, in no order. Raise NotThere, Unsure."""


def sdk_options(sdk: Any, base_url: str) -> dict[str, Any]:
    """Return options for both SDKs: no redirect is followed (a key stays with its host), and this machine needs no
    proxy.
    """
    client = sdk.DefaultHttpxClient(follow_redirects=False, trust_env=not is_on_this_machine(base_url))
    return {"http_client": client, "max_retries": 2, "timeout": 600.0}


def sentence(error: Exception) -> str:
    """Return a provider's error as a person reads it."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    message = inner.get("message") if isinstance(inner, Mapping) else None
    status = getattr(error, "status_code", None)
    return f"HTTP {status}: {message or error}"[:500] if status else f"{type(error).__name__}: {error}"[:500]


@contextmanager
def in_our_words(missing: type[Exception], other: type[Exception]) -> Iterator[None]:
    """Turn an SDK's errors, and those of a connection or of lines that break off, into NotThere and Unsure."""
    import httpx2

    try:
        yield
    except missing as error:
        raise NotThere(sentence(error)) from error
    except (other, httpx2.HTTPError) as error:
        raise Unsure(sentence(error)) from error
    except UNREADABLE as error:
        raise Unsure(f"what its provider says can't be read: {type(error).__name__}: {error}"[:500]) from error


def status_word(status: object) -> str:
    """Return the provider's word for a job's state; Unsure if it is none."""
    if (word := short_text(status)) is None:
        raise Unsure(f"its status is no word ({str(status)[:80]!r})")
    return word


@contextmanager
def submitting(other: type[Exception]) -> Iterator[None]:
    """Turn an SDK's errors into Unsure, or NotSubmitted if the provider refused explicitly, so has surely not made the
    job (a time-out or a conflict is no refusal).
    """
    try:
        yield
    except other as error:
        status = getattr(error, "status_code", None)
        is_refusal = isinstance(status, int) and 300 <= status < 500 and status not in (408, 409)
        raise (NotSubmitted if is_refusal else Unsure)(sentence(error)) from error


def rows_of(chunks: Iterable[bytes], read: Callable[[bytes], BatchResult]) -> Iterator[BatchResult | UnreadableLine]:
    """Yield the results in a file of lines; for a line that is not one, yield the reason: only that line is lost."""
    for number, line in enumerate(lines_of(chunks), 1):
        if line is None:
            yield UnreadableLine(number, f"it is longer than {MAX_LINE_BYTES / 1e6:g} MB")
            continue
        if not line.strip():
            continue
        try:
            yield read(line)
        except UNREADABLE as error:
            yield UnreadableLine(number, f"{type(error).__name__}: {error}"[:200])


def lines_of(chunks: Iterable[bytes]) -> Iterator[bytes | None]:
    """Split lines at line feeds only: an answer may hold U+2028, at which Python (and the SDKs) would split, too. Yield
    None for a line that is too long, which is skipped without being held."""
    parts: list[bytes] = []
    held, is_too_long = 0, False
    for chunk in chunks:
        for index, piece in enumerate(chunk.split(b"\n")):
            if index:
                yield None if is_too_long else b"".join(parts)
                parts, held, is_too_long = [], 0, False
            held += len(piece)
            is_too_long = is_too_long or held > MAX_LINE_BYTES
            if is_too_long:
                parts.clear()
            else:
                parts.append(piece)
    if is_too_long or any(parts):
        yield None if is_too_long else b"".join(parts)


def checked_status(status: object) -> int:
    """Return the HTTP status of a result; ValueError if it is not one."""
    if isinstance(status, str) and len(status) == 3 and status.isascii() and status.isdecimal():
        status = int(status)
    if not isinstance(status, int) or isinstance(status, bool) or not 100 <= status <= 599:
        raise ValueError(f"its status is {str(status)[:40]!r}")
    return status


def checked_id(name: object) -> str:
    """Return the id of a job or a file, which becomes a part of an address; Unsure if it is not one."""
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise Unsure(f"its provider names it by what is no id ({str(name)[:80]!r})")
    return name


def short_text(value: object) -> str | None:
    """Return a word of the provider's, if it is one."""
    return value[:200] if isinstance(value, str) and value else None


def n_of(count: object, most: int) -> int:
    """Return a count of answers, `most` at most; 0 if it is not a count."""
    return min(max(0, count), most) if isinstance(count, int) and not isinstance(count, bool) else 0


def utc(moment: object) -> str | None:
    """Return a provider's time as the journal writes it; None if it is not a time."""
    try:
        if isinstance(moment, int) and not isinstance(moment, bool):
            moment = datetime.fromtimestamp(moment, UTC)
        if not isinstance(moment, datetime):
            return None
        return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
    except (ValueError, OverflowError, OSError):
        return None


def sent_around(job: Job) -> tuple[datetime, datetime]:
    """Return between which times the provider would have made the job, given that clocks differ."""
    sent = datetime.fromisoformat(job.sending_at or job.created_at).replace(tzinfo=UTC)
    return sent - SKEW, sent + SKEW


class Services:
    """Hold the services of one call, each made once. The SDKs are loaded when needed: that takes half a second."""

    def __init__(self, run_plan: RunPlan | None = None) -> None:
        self._made: dict[tuple[str, str], Service] = {}
        self._run_plan = run_plan

    def get(self, provider: str, base_url: str, key: str) -> Service:
        if (provider, base_url) not in self._made:
            module, name = WITH_BATCHES[provider]
            made_of = (self._run_plan,) if provider == SIMULATED else (base_url, key)
            self._made[provider, base_url] = getattr(import_module(module), name)(*made_of)
        return self._made[provider, base_url]

    def of_job(self, job: Job, base_url: str | None) -> Service:
        """Return the service that knows a job; Unsure if the key is not set, or the job was made at another address."""
        if job.provider == SIMULATED:
            return self.get(SIMULATED, job.base_url, "")
        provider = provider_named(job.provider)
        address, key = base_url or provider.address(), provider.key()
        if not key:
            raise Unsure(f"{provider.key_variable} is not set")
        if address != job.base_url:  # a key goes only where the user says, never where a file does
            raise Unsure(f"it was submitted to {job.base_url}, but now {provider.address_variable} leads to {address}")
        return self.get(job.provider, job.base_url, key)
