"""`collect status --watch`: the same table again and again on a terminal, lines elsewhere, until the run ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import polars as pl

from slant.collector.keep.database import let_go
from slant.collector.keep.journal import utc_now
from slant.collector.progress.current_run import for_people, running_process, sentence
from slant.collector.progress.status import waiting_bytes
from slant.collector.terminal import as_table, printable, say

LAST_ANSWERS_S = 10.0  # the run's last rows reach the database after it has let go of its lock


def watch_status(db: Path, every_s: float, look: Callable[[], pl.DataFrame]) -> None:
    """Show what `look` finds every so many seconds while somebody collects into `db`; lines also once at the end."""
    if running_process(db) is None:
        say(f"Nobody is collecting into {db}.")
        return
    if sys.stdout.isatty():
        _live(db, every_s, look)
    else:
        _lines(db, every_s, look)
    say("The run has ended.")


def _live(db: Path, every_s: float, look: Callable[[], pl.DataFrame]) -> None:
    from rich.console import Console
    from rich.live import Live

    def drawn() -> Any:
        return as_table(*for_people(look()))

    with Live(drawn(), console=Console(), auto_refresh=False, transient=True) as live:
        while _goes_on(db, every_s):
            live.update(drawn(), refresh=True)


def _lines(db: Path, every_s: float, look: Callable[[], pl.DataFrame]) -> None:
    goes_on = True
    while True:
        for row in look().iter_rows(named=True):
            click.echo(printable(f"{utc_now()[11:19]} {sentence(row)}"))
        sys.stdout.flush()
        if not goes_on:
            return
        goes_on = _goes_on(db, every_s)


def _goes_on(db: Path, every_s: float) -> bool:
    """Sleeps; False when the run ended meanwhile, and then its last answers are in the database (or very late)."""
    let_go(db)  # the collector writes meanwhile
    until = time.monotonic() + every_s
    while running_process(db) is not None:
        if time.monotonic() >= until:
            return True
        time.sleep(min(0.2, every_s))
    until = time.monotonic() + LAST_ANSWERS_S
    while waiting_bytes(db) and time.monotonic() < until:
        let_go(db)
        time.sleep(0.1)
    return False
