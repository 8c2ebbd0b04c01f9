"""Exclude a run from all results, and record why (`collect set-aside`)."""

from __future__ import annotations

from pathlib import Path

import click

from slant.collector.commands.options import db_option
from slant.collector.terminal import count_text, say

_EXAMPLES = """\b
Examples:
  collect set-aside 20261121T134405Z-drinks-3f9a1c --reason "temperature 1 was meant, 0 was asked"
  collect set-aside 20261121T134405Z-drinks-3f9a1c --undo --reason "temperature 0 was right"

`analyze tables set_aside_runs` lists them. The answers stay in the journal and in the table attempts, and so do costs.
"""


@click.command("set-aside", epilog=_EXAMPLES)
@click.argument("run_id", metavar="RUN")
@click.option("--reason", required=True, help="The reason; stored, and reported with every result.")
@click.option("--undo", "is_back", is_flag=True, help="Include the run again.")
@db_option
def set_aside_command(run_id: str, reason: str, is_back: bool, db: Path) -> None:
    """Set a run aside: its answers count in no table, fit, figure or report any more.

    The reason is kept in the journal, and shown wherever results of the study are. The run's trials are open again: the
    same command asks them again.
    """
    from slant.collector.keep.runs_aside import set_aside

    n_trials = set_aside(db, run_id, reason, is_back=is_back)
    done = "counts again" if is_back else "is set aside and excluded from all results"
    say(f"{run_id} ({count_text(n_trials, 'trial')}) {done}. Fits and figures change when they are next computed.")
