"""Print what to write about a run in a paper, and the command that repeats it (`collect methods`)."""

from __future__ import annotations

from pathlib import Path

import click

from slant.collector.commands.options import FILE, db_option, study_option, verbose_option
from slant.collector.errors import UsageError
from slant.collector.system.scratch import write_whole_file
from slant.collector.terminal import print_data, printable, say

_EXAMPLES = """\b
Examples:
  collect methods
  collect methods 20261121T134405Z-rmiat-3f9a1c --db other.duckdb
  collect methods --study rmiat                                    the study's last run
  collect methods --checklist guide-llm --out checklist.html       opens in a word processor
  collect methods --bibtex > references.bib
"""


@click.command("methods", epilog=_EXAMPLES)
@click.argument("run", default="latest")
@click.option("--checklist", metavar="NAME", help="Print this reporting checklist, filled in: guide-llm (GUIDE-LLM).")
@click.option("--out", type=FILE, metavar="FILE", help="Write the checklist to FILE.md or FILE.html instead.")
@click.option("--bibtex", "is_bibtex", is_flag=True, help="Print references: the paper, R and its packages, slant.")
@study_option("Its last run, instead of RUN.")
@db_option
@verbose_option
def methods_command(
    run: str, checklist: str | None, out: Path | None, is_bibtex: bool, study: str | None, db: Path
) -> None:
    """Print a paragraph for a paper's methods section about RUN (an id, or "latest"), and how to run it again.

    Everything in it comes from the database; what was not recorded is left out. A checklist says TO FILL where only
    the authors know.
    """
    if out is not None and checklist is None:
        raise UsageError("--out needs a checklist: --checklist guide-llm")
    if checklist is not None and is_bibtex:
        raise UsageError("Choose either --checklist or --bibtex, not both.")
    if study is not None:
        if run != "latest":
            raise UsageError("Choose either a run or --study, not both.")
        from slant.collector.provenance.run_history import latest_run_of

        run = latest_run_of(db, study)
    if checklist is not None:
        _checklist(db, run, checklist, out)
    elif is_bibtex:
        from slant.collector.provenance.bibtex import bibliography
        from slant.collector.provenance.run_history import read_run_history

        cited = bibliography(db, read_run_history(db, run))
        print_data("\n\n".join(cited.entries))
        for note in cited.notes:
            say(note)
    else:
        _paragraph(db, run)


def _checklist(db: Path, run: str, name: str, out: Path | None) -> None:
    from slant.collector.provenance.checklist import check_ending, filled_checklist, rendered

    ending = ".md" if out is None else check_ending(out)
    text = rendered(filled_checklist(db, run, name), ending)
    if out is None:
        print_data(text, nl=False)
        return
    try:
        write_whole_file(out, text.encode())
    except OSError as error:
        raise UsageError(f'Can\'t write the checklist to "{out}": {error.strerror}.', "Name another.") from None
    click.echo(out)


def _paragraph(db: Path, run: str) -> None:
    from slant.collector.keep.journal_loader import waiting_bytes
    from slant.collector.provenance.methods import command_line, paragraph, references, stored_estimands
    from slant.collector.provenance.run_history import read_run_history

    history = read_run_history(db, run)
    if waiting := waiting_bytes(db):
        say(f"{waiting:,} bytes of answers in the journal are not included here. To load them: collect load --db {db}")
    click.echo(printable(paragraph(history)))
    if estimands := stored_estimands(db, history.run):
        click.echo(f"\n{printable(estimands)}")
    click.echo("\nTo cite (as BibTeX: --bibtex):")
    for reference in references(history):
        click.echo(f"  {printable(reference)}")
    command = command_line(history, db)
    if command is None:
        say("\nImported answers are made again from their files: collect import --help")
        return
    click.echo(f"\nTo ask the same again:\n  {printable(command)}")
