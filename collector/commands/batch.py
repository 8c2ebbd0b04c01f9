"""What `collect --batch` says and how it ends: 0 all answers are here, 3 jobs are open, 1 something else is missing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from collector.commands.output import print_rows, say
from collector.errors import UsageError

JOBS_ARE_OPEN = 3


def run_batch(
    offer: Any, options: Any, watcher: Any, output_format: str, *, yes: bool, wait: bool, size: int | None,
    pilot: int | None,
) -> None:  # fmt: skip
    """`options` are those of a live run; what a batch job can't keep to is refused, not ignored."""
    from collector.batch.api import carry_out_batch
    from collector.batch.report import BatchOptions
    from collector.commands.agreeing import agree

    if pilot is not None or options.budget_usd is not None:
        raise UsageError(
            "--pilot and --budget can't be kept by batch jobs: what is submitted is spent.",
            "Take a pilot live into another database (--db pilot.duckdb), or bound a job: --batch-size N",
        )
    yes = agree(offer, options.concurrency, yes, is_batch=True)
    offer = offer.asking_logprobs() if options.logprobs else offer
    report = carry_out_batch(offer, BatchOptions(wait, size, mixed=options.mixed), yes=yes, watcher=watcher)
    print_rows(list(report.models), output_format)
    for model in report.models:
        if model["stopped_because"]:
            say(f"{model['model']} was stopped: {model['stopped_because']}")
    if report.made:
        n_requests = sum(job.n_requests for job in report.made)
        say(f"Submitted {n_requests:,} requests in {_jobs(len(report.made))}; run the same command later to fetch.")
    if report.needs_yes:
        say(f"{report.needs_yes:,} paid requests were not submitted. To agree: --yes")
    if report.is_complete:
        say(f"Done: {report.db}. Next: analyze --fit lme4 --db {report.db}")
        return
    if report.open_jobs:
        waiting = sum(job.n_requests for job in report.open_jobs)
        say(f"Waiting for {waiting:,} requests in {_jobs(len(report.open_jobs))} (--wait stays until they are done).")
        sys.exit(JOBS_ARE_OPEN)
    say("Not complete. The same command submits what is missing, and only that.")
    sys.exit(1)


def show_jobs(db: Path, output_format: str) -> None:
    """The open jobs, for `collect status`."""
    from collector.batch.jobs import JobFolder

    jobs = JobFolder(db).open_jobs()
    if jobs and output_format == "table":
        rows = [
            {
                "job": job.job_id, "study": job.study, "model": job.model["model"], "requests": job.n_requests,
                "state": job.state if job.state != "sent" else (job.seen or "submitted"), "batch_id": job.batch_id,
                "submitted_at": (job.submitted_at or job.sending_at or "")[:19], "seen_at": (job.seen_at or "")[:19],
            }
            for job in jobs
        ]  # fmt: skip
        print_rows(rows, title="Open batch jobs (times in UTC)")
        say("Open batch jobs: collect --study STUDY --batch fetches what is ready.")
    elif jobs:
        say(f"{_jobs(len(jobs))} open: collect --study STUDY --batch fetches what is ready.")


def _jobs(count: int) -> str:
    return f"{count:,} job{'s' if count != 1 else ''}"
