"""Show how far a study is (`collect status`), and load what the journal holds that the database lacks (`collect
load`).

Print what `collect --batch` did, and set its exit code: 0 complete, 3 jobs are open, 1 something else is missing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from slant.collector.ask.uncounted_answers import uncounted_notes
from slant.collector.commands.options import Number, db_option, output_options, row_options, verbose_option
from slant.collector.designs.study import Study
from slant.collector.errors import as_typed
from slant.collector.run_report import BatchReport, RunReport
from slant.collector.studies.catalogue import next_command
from slant.collector.terminal import count_text, if_interrupted, print_rows, say

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


@click.command(
    "status",
    epilog="\b\nExamples:\n  collect status\n  collect status --watch\n  collect status --db other.duckdb --format csv",
)
@click.option(
    "--by", type=click.Choice(["model", "test"]), default="model", show_default=True, help="One row per model."
)
@click.option("--watch", "is_watching", is_flag=True, help="Update it until the run ends.")
@click.option(
    "--every",
    "every_s",
    type=Number(0.1),
    default=2.0,
    show_default=True,
    help="Seconds between updates (--watch).",
)
@db_option
@output_options
@row_options
def status_command(by: str, is_watching: bool, every_s: float, db: Path, output_format: str) -> None:
    """Show how many trials of each model are done, by outcome; during a run also its rate and the time left."""
    from slant.collector.ask.uncounted_answers import doubtful_count_notes, uncounted_notes
    from slant.collector.keep.journal import has_collector
    from slant.collector.keep.journal_loader import nothing_yet, waiting_bytes
    from slant.collector.model_checks.findings import table_notes
    from slant.collector.progress.bar import watch_status
    from slant.collector.progress.current_run import for_people, silent_models, with_pace, with_test_pace
    from slant.collector.progress.status import (
        changed_models,
        cost_notes,
        occasion_sentences,
        progress,
        warnings,
    )
    from slant.collector.stopping.looks import precision_notes

    def current_rows() -> Any:
        rows = progress(db, by)
        return with_pace(rows, db) if by == "model" else with_test_pace(rows, db)

    if is_watching:
        watch_status(db, every_s, current_rows)
    rows = current_rows()
    printed = rows.drop("n_unpriced")
    shown, title = for_people(printed) if output_format == "table" else (printed, "")
    print_rows(shown, output_format, title or None)
    if rows.is_empty():
        say(nothing_yet(db))
    elif (waiting := waiting_bytes(db)) and not has_collector(db):
        hint = f"To load them: collect load --db {as_typed(db)}"
        say(f"{waiting:,} bytes of answers are in the journal, not yet in the database. {hint}")
    show_jobs(db, output_format)
    for note in (*silent_models(db), *occasion_sentences(db), *precision_notes(db), *cost_notes(rows)):
        say(note)
    for warning in [
        *warnings(db),
        *uncounted_notes(db),
        *doubtful_count_notes(db),
        *changed_models(db),
        *table_notes(db),
    ]:
        say(f"Warning: {warning}")


@click.command(
    "load", epilog="\b\nExamples:\n  collect load --db slant.duckdb\n  collect load --rebuild --db slant.duckdb"
)
@click.option("--rebuild", is_flag=True, help="Move the database away and rebuild it from its journals alone.")
@db_option
@verbose_option
def load_command(rebuild: bool, db: Path) -> None:
    """Load answers from the journals into the database; restore a database from its journals alone."""
    from slant.collector.errors import DatabaseError
    from slant.collector.keep.journal import journal_folder
    from slant.collector.keep.journal_loader import load_journals, put_aside

    if not journal_folder(db).is_dir():
        raise DatabaseError(f'There is no journal "{journal_folder(db)}".', "To name another database: --db FILE")
    aside = put_aside(db) if rebuild else None
    if aside is not None:
        say(f"{db} is made again from its journals; the old file is {aside.name}, with what `analyze` kept in it.")
    if_interrupted("Left at once.", f"The journals are as they were. The rest: collect load --db {as_typed(db)}")
    report = load_journals(db)
    for note in report.notes:
        say(note)
    for problem in report.problems:
        say(f"Can't be read: {problem}")
    say(f"{count_text(report.rows, 'attempt')} loaded into {db}.")
    if report.problems:
        raise click.exceptions.Exit(1)
