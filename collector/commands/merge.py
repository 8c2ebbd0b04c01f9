"""Merge the databases of several collectors into one (`collect merge`); exclude a run from all results, with the reason
(`collect set-aside`).
"""

from __future__ import annotations

from pathlib import Path

import click

from slant.collector.commands.options import db_option, output_options
from slant.collector.terminal import count_text, if_interrupted, late_bar, print_rows, say

_EXAMPLES = """\b
Examples:
  collect merge --db all.duckdb shard1.duckdb shard2.duckdb
  collect merge --db all.duckdb lab*/slant.duckdb
  collect merge --db all.duckdb sent_by_mail.duckdb.journal/       journals alone are enough

Merging again adds only new answers. A trial that two collectors asked is counted once, from the first
answer by time (a game as a whole); the other answer is kept (view duplicate_finals). The sources are left as they are.
Exit code 1 where something could not be read; the rest is merged.
"""


@click.command("merge", epilog=_EXAMPLES)
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SOURCE…")
@db_option
@output_options
def merge_command(sources: tuple[Path, ...], db: Path, output_format: str) -> None:
    """Bring databases (or folders of journals) together: answers, model checks, second counts."""
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn

    from slant.collector.keep.merging import merge
    from slant.collector.provenance.bibtex import address_rows, address_sentences

    if_interrupted("Left at once.", f"What is in {db} stays. The same command adds only the rest.")
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with late_bar(*columns) as update:
        report = merge(db, sources, lambda what, done, of_all: update(description=what, completed=done, total=of_all))
    print_rows(list(report.sources), output_format)
    for note in (*report.notes, *address_sentences(address_rows(db))):
        say(note)
    for problem in report.problems:
        say(f"Can't be merged: {problem}")
    if report.repeated:
        say(
            f"{count_text(report.repeated, 'attempt')} of trials that another collector ended first: "
            "kept, not counted (view duplicate_finals)."
        )
    there = f"; {report.already_there:,} were there already" if report.already_there else ""
    loaded = count_text(report.attempts_loaded, "attempt")
    say(f"{count_text(report.copied, 'journal')} copied{there}; {loaded} loaded into {db}.")
    if report.problems:
        raise click.exceptions.Exit(1)


_SET_ASIDE_EXAMPLES = """\b
Examples:
  collect set-aside 20261121T134405Z-drinks-3f9a1c --reason "temperature 1 was meant, 0 was asked"
  collect set-aside 20261121T134405Z-drinks-3f9a1c --undo --reason "temperature 0 was right"

`analyze tables set_aside_runs` lists them. The answers stay in the journal and in the table attempts, and so do costs.
"""


@click.command("set-aside", epilog=_SET_ASIDE_EXAMPLES)
@click.argument("run_id", metavar="RUN")
@click.option("--reason", required=True, help="The reason; stored, and reported with every result.")
@click.option("--undo", "is_back", is_flag=True, help="Include the run again.")
@db_option
def set_aside_command(run_id: str, reason: str, is_back: bool, db: Path) -> None:
    """Set a run aside: its answers count in no table, fit, figure or report any more.

    The reason is kept in the journal, and shown wherever results of the study are. The run's trials are open again: the
    same command asks them again.
    """
    from slant.collector.keep.final_trials import set_aside

    n_trials = set_aside(db, run_id, reason, is_back=is_back)
    done = "counts again" if is_back else "is set aside and excluded from all results"
    say(f"{run_id} ({count_text(n_trials, 'trial')}) {done}. Fits and figures change when they are next computed.")
