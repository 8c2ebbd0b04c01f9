"""Show the runs of a database, and how far each model is, including what a collector has not yet loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.collector.keep.database import kept_open, reading
from slant.collector.keep.journal import has_collector
from slant.collector.keep.journal_loader import waiting_bytes
from slant.collector.progress.current_run import for_people, with_pace
from slant.collector.progress.status import progress, warnings
from slant.collector.view.paging import rows_of

_COLUMNS = "run_id, source, study, variant, started_at, finished_at, end_reason, code_version, command"


@dataclass(frozen=True)
class Runs:
    """Hold `status`, a row per model, with its pace while it is asked; `runs`, the latest first; `problems`, None if
    unasked."""

    status: pl.DataFrame
    title: str
    runs: list[dict[str, Any]]
    is_running: bool
    waiting_bytes: int
    problems: list[str] | None


def model_rows(db: Path) -> pl.DataFrame:
    """Return how far each model is and what it has cost; this reads every attempt."""
    return progress(db).drop("n_unpriced")


def run_rows(db: Path, models: pl.DataFrame, *, looks_for_problems: bool) -> Runs:
    """Return what `collect status` says, and the runs themselves; `models` as from `model_rows`. Looking for problems
    reads every trial several times.
    """
    with kept_open(db):
        status, title = for_people(with_pace(models, db))
        problems = warnings(db) if looks_for_problems else None
        waiting = waiting_bytes(db)
        with reading(db) as connection:
            latest = f"SELECT {_COLUMNS} FROM runs ORDER BY started_at DESC, run_id DESC LIMIT 500"  # noqa: S608
            runs = rows_of(connection.sql(latest))
    return Runs(status, title, runs, has_collector(db), waiting, problems)
