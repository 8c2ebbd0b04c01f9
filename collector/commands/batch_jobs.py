"""`collect --batch`: what it prints, and its exit code: 0 complete, 3 jobs are open, 1 something else is missing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from slant.collector.ask.uncounted_answers import uncounted_notes
from slant.collector.terminal import count_text, print_rows, say

JOBS_ARE_OPEN = 3


def run_batch(
    run_plan: Any,
    options: Any,
    watcher: Any,
    output_format: str,
    *,
    yes: bool,
    wait: bool,
    size: int | None,
    pilot: int | None,
    look_again: Callable[[], Any],
) -> None:
    """`options` are those of a live run. A pilot goes by batch too: one model is asked one way."""
    from slant.collector.batch.report import BatchOptions
    from slant.collector.commands.confirmation import after_pilot
    from slant.collector.cost.pilot import pilot_of

    batch_options = BatchOptions(wait, size, mixed=options.mixed, budget_usd=options.budget_usd)
    if pilot is not None:
        pilot_plan = pilot_of(run_plan, pilot)
        report = _carry_out(pilot_plan, options, batch_options, watcher, yes)
        if not report.has_all_answers:
            say(f"These are the pilot's {sum(model_plan.planned for model_plan in pilot_plan.model_plans):,} trials.")
            _print_report(report, output_format, run_plan.study)  # exits
        rest = after_pilot(pilot_plan, look_again(), options.concurrency, yes, output_format, is_batch=True)
        if rest is None:
            return
        run_plan, yes = rest, True
    _print_report(_carry_out(run_plan, options, batch_options, watcher, yes), output_format, run_plan.study)


def _carry_out(run_plan: Any, options: Any, batch_options: Any, watcher: Any, yes: bool) -> Any:
    from slant.collector.batch.batches import carry_out_batch
    from slant.collector.commands.confirmation import agree

    yes = agree(run_plan, options.concurrency, yes, is_batch=True)
    run_plan = run_plan.asking_logprobs() if options.logprobs else run_plan
    return carry_out_batch(run_plan, batch_options, yes=yes, watcher=watcher)


def say_stopped(report: Any) -> None:
    """Why models of a report are asked no more."""
    for model in report.models:
        if model["stopped_because"]:
            say(f"{model['model']} was stopped: {model['stopped_because']}")


def _print_report(report: Any, output_format: str, study: Any) -> None:
    """Print what the call did; leaves the program where something is missing."""
    print_rows(list(report.models), output_format)
    say_stopped(report)
    if report.made:
        n_requests = sum(job.n_requests for job in report.made)
        made = f"{count_text(n_requests, 'request')} in {count_text(len(report.made), 'job')}"
        say(f"Submitted {made}; run the same command later to fetch.")
    if report.needs_yes:
        say(f"{report.needs_yes:,} paid requests were not submitted. To agree: --yes")
    for note in uncounted_notes(report.db, study.name):
        say(note)
    if report.is_complete:
        say(f"Done: {report.db}. Next: {study.next_command(report.db)}")
        return
    if report.open_jobs:
        waiting = sum(job.n_requests for job in report.open_jobs)
        pending = f"{count_text(waiting, 'request')} in {count_text(len(report.open_jobs), 'job')}"
        say(f"Waiting for {pending} (--wait stays until they are done).")
        sys.exit(JOBS_ARE_OPEN)
    say("Not complete. The same command submits what is missing, and only that.")
    sys.exit(1)


def show_jobs(db: Path, output_format: str) -> None:
    """Show the open jobs, for `collect status`."""
    from slant.collector.keep.batch_jobs import JobFolder

    jobs = JobFolder(db).open_jobs()
    if jobs and output_format == "table":
        rows = [
            {
                "job": job.job_id,
                "study": job.study,
                "model": job.model["model"],
                "requests": job.n_requests,
                "state": job.state if job.state != "sent" else (job.seen or "submitted"),
                "batch_id": job.batch_id,
                "submitted_at": (job.submitted_at or job.sending_at or "")[:19],
                "seen_at": (job.seen_at or "")[:19],
            }
            for job in jobs
        ]
        print_rows(rows, title="Open batch jobs (times in UTC)")
        say("Open batch jobs: collect --study STUDY --batch fetches what is ready.")
    elif jobs:
        say(f"{count_text(len(jobs), 'job')} open: collect --study STUDY --batch fetches what is ready.")
