"""`collect status` and `collect load`: how far a study is, and what the journal holds that the database lacks."""

from __future__ import annotations

from pathlib import Path

import click

from collector.output import db_option, format_option, print_rows, say


@click.command(epilog="\b\nExamples:\n  collect status\n  collect status --db other.duckdb --format csv")
@click.option(
    "--by", type=click.Choice(["model", "test"]), default="model", show_default=True, help="One row for each."
)
@db_option
@format_option
def status(by: str, db: Path, output_format: str) -> None:
    """How many trials of each model are done, by outcome; works while a collector runs."""
    from collector.checked import table_notes
    from collector.cli_batch import show_jobs
    from collector.costs import changed_models, cost_notes, with_costs
    from collector.status import progress, waiting_bytes, warnings

    rows = progress(db, by)
    rows = with_costs(rows, db) if by == "model" else rows
    print_rows(rows, output_format)
    if rows.is_empty():
        say(f"{db} holds no trials yet.")
    if waiting := waiting_bytes(db):
        say(f"{waiting:,} bytes of answers are in the journal, not yet in the database: `collect load` brings them in.")
    show_jobs(db, output_format)
    for note in cost_notes(db):
        say(note)
    for warning in [*warnings(db), *changed_models(db), *table_notes(db)]:
        say(f"Warning: {warning}")


@click.command(epilog="\b\nExample:\n  collect load --db slant.duckdb")
@db_option
def load(db: Path) -> None:
    """Bring answers from the journals into the database; makes it again where only its journals are left."""
    from collector.errors import DatabaseError
    from collector.journal import journal_folder
    from collector.load import load_journals

    if not journal_folder(db).is_dir():
        raise DatabaseError(f'There is no journal "{journal_folder(db)}".', "A database is named with --db FILE")
    report = load_journals(db)
    for problem in report.problems:
        say(f"Can't be read: {problem}")
    say(f"{report.rows:,} attempts loaded into {db}.")
    if report.problems:
        raise click.exceptions.Exit(1)
