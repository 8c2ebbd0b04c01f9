"""`collect methods`: what to write about a run in a paper, and the command that does it again."""

from __future__ import annotations

from pathlib import Path

import click

from slant.collector.commands.options import db_option, verbose_option
from slant.collector.terminal import printable, say


@click.command(
    "methods",
    epilog="\b\nExamples:\n  collect methods\n  collect methods 20261121T134405Z-rmiat-3f9a1c --db other.duckdb",
)
@click.argument("run", default="latest")
@db_option
@verbose_option
def methods_command(run: str, db: Path) -> None:
    """Print a paragraph for a paper's methods section about RUN (an id, or "latest"), and how to run it again.

    Everything in it comes from the database; what was not recorded is left out.
    """
    from slant.collector.provenance.methods import command_line, paragraph, references
    from slant.collector.provenance.run_history import read_run_history

    history = read_run_history(db, run)
    click.echo(printable(paragraph(history)))
    click.echo("\nTo cite:")
    for reference in references(history):
        click.echo(f"  {printable(reference)}")
    command = command_line(history, db)
    if command is None:
        say("\nImported answers are made again from their files: collect import --help")
        return
    click.echo(f"\nTo ask the same again:\n  {printable(command)}")
