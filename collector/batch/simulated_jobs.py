"""Rehearse batch jobs with simulated models: a job ends at once, and its answers are drawn when they are fetched."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal

from slant.collector.ask.simulator import SimulatedModels
from slant.collector.batch.services import BatchResult, JobStatus, UnreadableLine
from slant.collector.keep.batch_jobs import Job, JobFolder
from slant.collector.keep.journal import utc_now
from slant.collector.plan.run_plan import RunPlan
from slant.collector.providers.exchange import Request
from slant.collector.system.files import opened


class SimulatedBatches:
    """Keep no state: a job's own file of requests is all that its answers depend on."""

    max_requests = 50_000
    max_bytes = 200_000_000

    def __init__(self, run_plan: RunPlan) -> None:
        self._models = SimulatedModels(run_plan.study, run_plan.seed)
        self._folder = JobFolder(run_plan.db)

    def endpoint(self, request: Request, base_url: str) -> str:
        return request.url.removeprefix(base_url)

    def line(self, custom_id: str, request: Request, endpoint: str) -> dict[str, Any]:
        return {"custom_id": custom_id, "body": dict(request.body)}

    def body(self, line: Mapping[str, Any]) -> dict[str, Any]:
        return dict(line["body"])

    def upload(self, *_: object) -> None:
        return None

    def submit(self, job: Job, *_: object) -> str:
        return job.job_id

    def find(self, job: Job, others: Collection[str]) -> tuple[Literal["found"], str]:
        return "found", job.job_id

    def look(self, job: Job) -> JobStatus:
        return JobStatus("completed", True, utc_now())  # n_answers is unknown: an edited study answers no old prompt

    def results(self, job: Job) -> Iterator[BatchResult | UnreadableLine]:
        with opened(self._folder.requests(job)) as lines:
            for line in map(json.loads, lines):
                status, body = self._models.reply_to(line["body"])
                yield BatchResult(line["custom_id"], status, json.dumps(body, ensure_ascii=False))
