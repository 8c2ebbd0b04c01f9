"""Speak Anthropic's message batches: the call holds the requests; results are streamed once the whole batch has ended.

A batch there carries no metadata. One whose submission got no answer is recognised by its time, its number of requests,
and (only once it has ended) by the custom ids of its results.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import anthropic

from slant.collector.batch import services
from slant.collector.keep.batch_jobs import Job
from slant.collector.providers.anthropic import API_VERSION
from slant.collector.providers.error_meanings import error_meaning, provider_error
from slant.collector.providers.exchange import Request
from slant.collector.system.files import opened

_ERROR_STATUS = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "timeout_error": 504,
    "overloaded_error": 529,
}  # fmt: skip

_as_ours = partial(services.in_our_words, anthropic.NotFoundError, anthropic.APIError)


class AnthropicBatches:
    max_requests = 100_000
    max_bytes = 256_000_000

    def __init__(self, base_url: str, key: str) -> None:
        self._base_url = base_url
        self._client = anthropic.Anthropic(
            api_key=key,
            base_url=base_url,
            default_headers={"anthropic-version": API_VERSION},
            **services.sdk_options(anthropic, base_url),
        )

    def endpoint(self, request: Request, base_url: str) -> str:
        return request.url.removeprefix(base_url)

    def line(self, custom_id: str, request: Request, endpoint: str) -> dict[str, Any]:
        return {"custom_id": custom_id, "params": dict(request.body)}

    def body(self, line: Mapping[str, Any]) -> dict[str, Any]:
        return dict(line["params"])

    def upload(self, job: Job, requests: Path) -> str | None:
        return None

    def submit(self, job: Job, requests: Path) -> str:
        with opened(requests) as file:
            lines: Any = [json.loads(line) for line in file]
        with services.submitting(anthropic.APIError):
            once = self._client.with_options(max_retries=0)
            return services.checked_id(once.messages.batches.create(requests=lines, timeout=services.SUBMIT_LIMIT_S).id)

    def find(self, job: Job, others: Collection[str]) -> tuple[Literal["found", "perhaps", "none"], str | None]:
        earliest, latest = services.sent_around(job)
        perhaps = None
        with _as_ours():
            for batch in self._client.messages.batches.list(limit=1000):  # newest first
                if batch.created_at < earliest:
                    break
                counts = batch.request_counts.to_dict()
                size = sum(number for number in counts.values() if isinstance(number, int))
                if batch.created_at > latest or batch.id in others or size != job.n_requests:
                    continue
                if batch.processing_status != "ended":
                    perhaps = batch.id
                elif batch.results_url and self._is_ours(batch.id, batch.results_url, job):
                    return "found", services.checked_id(batch.id)
        return ("perhaps", perhaps) if perhaps else ("none", None)

    def look(self, job: Job) -> services.JobStatus:
        batch = self._retrieve(job)
        status = services.status_word(batch.processing_status)
        n_answers = services.n_of(getattr(batch.request_counts, "succeeded", 0), job.n_requests)
        return services.JobStatus(status, status == "ended", services.utc(batch.ended_at), n_answers=n_answers)

    def results(self, job: Job) -> Iterator[services.BatchResult | services.UnreadableLine]:
        batch = self._retrieve(job)
        if not batch.results_url:
            raise services.NotThere("its results are no longer stored there")
        with _as_ours():
            yield from self._rows(batch.id, batch.results_url)

    def _rows(self, batch_id: str, address: str) -> Iterator[services.BatchResult | services.UnreadableLine]:
        # the SDK follows the address that the provider gives, with the key
        if urlsplit(address).netloc not in ("", urlsplit(self._base_url).netloc):
            raise services.Unsure(f"its results are on another host ({urlsplit(address).netloc}), which gets no key")
        with self._client.messages.batches.with_streaming_response.results(batch_id) as content:
            yield from services.rows_of(content.iter_bytes(), _row)

    def _is_ours(self, batch_id: str, address: str, job: Job) -> bool:
        try:
            rows = self._rows(batch_id, address)
            first = next((row for row in rows if isinstance(row, services.BatchResult)), None)
        except anthropic.NotFoundError:
            return False
        return first is not None and first.custom_id.startswith(f"{job.job_id}-")

    def _retrieve(self, job: Job) -> Any:
        with _as_ours():
            return self._client.messages.batches.retrieve(job.batch_id or "")


def _row(line: bytes) -> services.BatchResult:
    """Return a line of the results: succeeded with a message, errored with the provider's error, canceled, expired."""
    values: dict[str, Any] = json.loads(line)
    custom_id, result = str(values["custom_id"]), values["result"]
    kind = result.get("type")
    if kind == "succeeded":
        return services.BatchResult(custom_id, 200, json.dumps(result.get("message"), ensure_ascii=False))
    if kind == "errored":
        error = result["error"].get("error") or result["error"]  # {"type": "error", "error": {"type": …, "message": …}}
        unlisted = 400 if error_meaning(provider_error(None, {"error": error})) else 500
        status = _ERROR_STATUS.get(error.get("type"), unlisted)
        return services.BatchResult(custom_id, status, json.dumps({"error": error}, ensure_ascii=False))
    return services.BatchResult(custom_id, error=f"batch_{kind}")
