"""`collect merge`: the databases of several collectors into one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from slant.collector.commands.options import db_option, output_options
from slant.collector.terminal import print_rows, say

_SHOW_PROGRESS_AFTER_S = 2.0
_EXAMPLES = """\b
Examples:
  collect merge --db all.duckdb shard1.duckdb shard2.duckdb
  collect merge --db all.duckdb lab*/slant.duckdb
  collect merge --db all.duckdb sent_by_mail.duckdb.journal/       journals alone will do

Merging again adds what is new and nothing twice. A trial that two collectors asked is counted once, from the first
answer by time (a game as a whole); the other answer is kept (view duplicate_finals). The sources are left as they are.
Exit code 1 where something could not be read; the rest is merged.
"""


@click.command("merge", epilog=_EXAMPLES)
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SOURCE…")
@db_option
@output_options
def merge_command(sources: tuple[Path, ...], db: Path, output_format: str) -> None:
    """Bring databases (or folders of journals) together: answers, model checks, second counts."""
    from slant.collector.keep.merging import merge

    with _progress() as on_step:
        report = merge(db, sources, on_step)
    print_rows(list(report.sources), output_format)
    for note in report.notes:
        say(note)
    for problem in report.problems:
        say(f"Can't be merged: {problem}")
    if report.repeated:
        say(
            f"{report.repeated:,} attempts are of trials that another collector ended first: "
            "kept, not counted (view duplicate_finals)."
        )
    there = f"; {report.already_there:,} were there already" if report.already_there else ""
    say(f"{report.copied:,} journals copied{there}; {report.attempts_loaded:,} attempts loaded into {db}.")
    if report.problems:
        raise click.exceptions.Exit(1)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """Megabytes on a terminal, once a merge has taken two seconds; a line for each step elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    task = bar.add_task("copying", total=None)
    begun = time.monotonic()

    def on_step(what: str, done: int, of_all: int) -> None:
        bar.update(task, description=what, completed=done, total=of_all)
        if time.monotonic() - begun > _SHOW_PROGRESS_AFTER_S and not bar.live.is_started:
            bar.start()

    try:
        yield on_step
    finally:
        bar.stop()
