"""Show how far a study is (`collect status`), and load what the journal holds that the database lacks (`collect
load`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from slant.collector.commands.options import Number, db_option, output_options, row_options, verbose_option
from slant.collector.terminal import count_text, if_interrupted, print_rows, say


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
    from slant.collector.commands.batch_jobs import show_jobs
    from slant.collector.keep.journal import has_collector
    from slant.collector.keep.journal_loader import nothing_yet, waiting_bytes
    from slant.collector.model_checks.notes import table_notes
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
        say(f"{waiting:,} bytes of answers are in the journal, not yet in the database. To load them: `collect load`.")
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
    if_interrupted("Left at once.", f"The journals are as they were. The rest: collect load --db {db}")
    report = load_journals(db)
    for note in report.notes:
        say(note)
    for problem in report.problems:
        say(f"Can't be read: {problem}")
    say(f"{count_text(report.rows, 'attempt')} loaded into {db}.")
    if report.problems:
        raise click.exceptions.Exit(1)
