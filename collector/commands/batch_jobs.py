"""Print what `collect --batch` did, and set its exit code: 0 complete, 3 jobs are open, 1 something else is missing."""

from __future__ import annotations

import sys
from pathlib import Path

from slant.collector.ask.uncounted_answers import uncounted_notes
from slant.collector.designs.study import Study
from slant.collector.run_report import BatchReport, RunReport
from slant.collector.studies.catalogue import next_command
from slant.collector.terminal import count_text, print_rows, say

JOBS_ARE_OPEN = 3


def say_stopped(report: RunReport) -> None:
    """Say why models are asked no more."""
    for model in report.models:
        if model["stopped_because"]:
            say(f"{model['model']} was stopped: {model['stopped_because']}")


def print_batch_report(report: BatchReport, output_format: str, study: Study) -> None:
    """Print what the call did; leave the program if something is missing."""
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
        say(f"Done: {report.db}. Next: {next_command(study, report.db)}")
        return
    if report.open_jobs:
        waiting = sum(job.n_requests for job in report.open_jobs)
        pending = f"{count_text(waiting, 'request')} in {count_text(len(report.open_jobs), 'job')}"
        say(f"Waiting for {pending} (--wait stays until they are done).")
        sys.exit(JOBS_ARE_OPEN)
    say("Not complete. The same command submits only the missing requests.")
    sys.exit(1)


def show_jobs(db: Path, output_format: str) -> None:
    """Show the open jobs, for `collect status`."""
    from slant.collector.ask.rate_limits import spoken
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
    if jobs:
        oldest = max(jobs, key=lambda job: job.age_s)
        began = (oldest.sending_at or oldest.created_at)[:16].replace("T", " ")
        say(
            f"{count_text(len(jobs), 'batch job')} open; the oldest open requests were submitted "
            f"{spoken(oldest.age_s)} "
            f"ago ({began} UTC). To fetch ready answers: collect --study STUDY --batch"
        )
