"""Speak OpenAI's batch jobs: a file of requests, a job made of it, a file of answers and one of errors."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

import openai

from slant.collector.batch import services
from slant.collector.keep.batch_jobs import Job
from slant.collector.providers.error_meanings import error_meaning, provider_error
from slant.collector.providers.exchange import Request
from slant.collector.system.files import opened

_ENDED = {"completed", "expired", "cancelled", "failed"}

_as_ours = partial(services.in_our_words, openai.NotFoundError, openai.APIError)


class OpenAIBatches:
    max_requests = 50_000
    max_bytes = 200_000_000

    def __init__(self, base_url: str, key: str) -> None:
        self._client = openai.OpenAI(api_key=key, base_url=base_url, **services.sdk_options(openai, base_url))

    def endpoint(self, request: Request, base_url: str) -> str:
        return "/v1" + request.url.removeprefix(base_url)

    def line(self, custom_id: str, request: Request, endpoint: str) -> dict[str, Any]:
        return {"custom_id": custom_id, "method": "POST", "url": endpoint, "body": dict(request.body)}

    def body(self, line: Mapping[str, Any]) -> dict[str, Any]:
        return dict(line["body"])

    def upload(self, job: Job, requests: Path) -> str | None:
        with services.submitting(openai.APIError), opened(requests) as file:
            named = (f"{job.job_id}.jsonl", file)
            return self._client.files.create(file=named, purpose="batch", timeout=services.SUBMIT_LIMIT_S).id

    def submit(self, job: Job, requests: Path) -> str:
        endpoint: Any = job.endpoint
        with services.submitting(openai.APIError):
            batch = self._client.with_options(max_retries=0).batches.create(
                input_file_id=job.file_id or "",
                endpoint=endpoint,
                completion_window="24h",
                metadata={"slant_job": job.job_id},
            )
        return services.checked_id(batch.id)

    def find(self, job: Job, others: Collection[str]) -> tuple[Literal["found", "perhaps", "none"], str | None]:
        earliest, _ = services.sent_around(job)
        with _as_ours():
            for batch in self._client.batches.list(limit=100):  # newest first
                if (batch.metadata or {}).get("slant_job") == job.job_id:
                    return "found", services.checked_id(batch.id)
                if datetime.fromtimestamp(batch.created_at, UTC) < earliest:
                    break
        return "none", None

    def look(self, job: Job) -> services.JobStatus:
        batch = self._retrieve(job)
        status = services.status_word(batch.status)
        ended = batch.completed_at or batch.expired_at or batch.cancelled_at or batch.failed_at
        n_answers = services.n_of(getattr(batch.request_counts, "completed", 0), job.n_requests)
        return services.JobStatus(status, status in _ENDED, services.utc(ended), _problem(batch.errors), n_answers)

    def results(self, job: Job) -> Iterator[services.BatchResult | services.UnreadableLine]:
        batch = self._retrieve(job)
        with _as_ours():
            for file_id in map(services.checked_id, filter(None, (batch.output_file_id, batch.error_file_id))):
                with self._client.files.with_streaming_response.content(file_id) as content:
                    yield from services.rows_of(content.iter_bytes(), _row)

    def _retrieve(self, job: Job) -> Any:
        with _as_ours():
            return self._client.batches.retrieve(job.batch_id or "")


def _problem(errors: Any) -> str | None:
    """Return the provider's message about a job that failed completely."""
    listed = getattr(errors, "data", None)
    each = listed if isinstance(listed, list) else []
    texts = [
        services.short_text(getattr(e, "message", None)) or services.short_text(getattr(e, "code", None)) for e in each
    ]
    return "; ".join(filter(None, texts))[:500] or None


def _row(line: bytes) -> services.BatchResult:
    """Return a line of either file: `response` with a status and a body, or `error` (batch_expired,
    batch_cancelled …).
    """
    values: dict[str, Any] = json.loads(line)
    custom_id, response, error = str(values["custom_id"]), values.get("response"), values.get("error")
    if isinstance(response, Mapping):
        body = json.dumps(response.get("body"), ensure_ascii=False)
        status = services.checked_status(response.get("status_code"))
        return services.BatchResult(custom_id, status, body, services.short_text(response.get("request_id")))
    details = error if isinstance(error, Mapping) else {}
    if error_meaning(
        provider_error(None, {"error": error}), frozenset({"openai"})
    ):  # for example a filter's: this row did run
        return services.BatchResult(custom_id, 400, json.dumps({"error": error}, ensure_ascii=False))
    return services.BatchResult(
        custom_id, error=f"{details.get('code') or 'no response'}: {details.get('message') or ''}".rstrip(": ")
    )
