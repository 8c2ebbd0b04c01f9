"""Speak OpenAI's batch jobs: a file of requests, a job made of it, a file of answers and one of errors."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

import openai

from slant.collector.batch.services import (
    SUBMIT_LIMIT_S,
    BatchResult,
    JobStatus,
    UnreadableLine,
    checked_id,
    checked_status,
    in_our_words,
    n_of,
    rows_of,
    sdk_options,
    sent_around,
    short_text,
    status_word,
    submitting,
    utc,
)
from slant.collector.keep.batch_jobs import Job
from slant.collector.providers.error_meanings import error_meaning, provider_error
from slant.collector.providers.exchange import Request
from slant.collector.system.files import opened

_ENDED = {"completed", "expired", "cancelled", "failed"}

_as_ours = partial(in_our_words, openai.NotFoundError, openai.APIError)


class OpenAIBatches:
    max_requests = 50_000
    max_bytes = 200_000_000

    def __init__(self, base_url: str, key: str) -> None:
        self._client = openai.OpenAI(api_key=key, base_url=base_url, **sdk_options(openai, base_url))

    def endpoint(self, request: Request, base_url: str) -> str:
        return "/v1" + request.url.removeprefix(base_url)

    def line(self, custom_id: str, request: Request, endpoint: str) -> dict[str, Any]:
        return {"custom_id": custom_id, "method": "POST", "url": endpoint, "body": dict(request.body)}

    def body(self, line: Mapping[str, Any]) -> dict[str, Any]:
        return dict(line["body"])

    def upload(self, job: Job, requests: Path) -> str | None:
        with submitting(openai.APIError), opened(requests) as file:
            named = (f"{job.job_id}.jsonl", file)
            return self._client.files.create(file=named, purpose="batch", timeout=SUBMIT_LIMIT_S).id

    def submit(self, job: Job, requests: Path) -> str:
        endpoint: Any = job.endpoint
        with submitting(openai.APIError):
            batch = self._client.with_options(max_retries=0).batches.create(
                input_file_id=job.file_id or "",
                endpoint=endpoint,
                completion_window="24h",
                metadata={"slant_job": job.job_id},
            )
        return checked_id(batch.id)

    def find(self, job: Job, others: Collection[str]) -> tuple[Literal["found", "perhaps", "none"], str | None]:
        earliest, _ = sent_around(job)
        with _as_ours():
            for batch in self._client.batches.list(limit=100):  # newest first
                if (batch.metadata or {}).get("slant_job") == job.job_id:
                    return "found", checked_id(batch.id)
                if datetime.fromtimestamp(batch.created_at, UTC) < earliest:
                    break
        return "none", None

    def look(self, job: Job) -> JobStatus:
        batch = self._retrieve(job)
        status = status_word(batch.status)
        ended = batch.completed_at or batch.expired_at or batch.cancelled_at or batch.failed_at
        n_answers = n_of(getattr(batch.request_counts, "completed", 0), job.n_requests)
        return JobStatus(status, status in _ENDED, utc(ended), _problem(batch.errors), n_answers)

    def results(self, job: Job) -> Iterator[BatchResult | UnreadableLine]:
        batch = self._retrieve(job)
        with _as_ours():
            for file_id in map(checked_id, filter(None, (batch.output_file_id, batch.error_file_id))):
                with self._client.files.with_streaming_response.content(file_id) as content:
                    yield from rows_of(content.iter_bytes(), _row)

    def _retrieve(self, job: Job) -> Any:
        with _as_ours():
            return self._client.batches.retrieve(job.batch_id or "")


def _problem(errors: Any) -> str | None:
    """Return the provider's message about a job that failed completely."""
    listed = getattr(errors, "data", None)
    each = listed if isinstance(listed, list) else []
    texts = [short_text(getattr(e, "message", None)) or short_text(getattr(e, "code", None)) for e in each]
    return "; ".join(filter(None, texts))[:500] or None


def _row(line: bytes) -> BatchResult:
    """Return a line of either file: `response` with a status and a body, or `error` (batch_expired,
    batch_cancelled …).
    """
    values: dict[str, Any] = json.loads(line)
    custom_id, response, error = str(values["custom_id"]), values.get("response"), values.get("error")
    if isinstance(response, Mapping):
        body = json.dumps(response.get("body"), ensure_ascii=False)
        status = checked_status(response.get("status_code"))
        return BatchResult(custom_id, status, body, short_text(response.get("request_id")))
    details = error if isinstance(error, Mapping) else {}
    if error_meaning(
        provider_error(None, {"error": error}), frozenset({"openai"})
    ):  # for example a filter's: this row did run
        return BatchResult(custom_id, 400, json.dumps({"error": error}, ensure_ascii=False))
    return BatchResult(
        custom_id, error=f"{details.get('code') or 'no response'}: {details.get('message') or ''}".rstrip(": ")
    )
