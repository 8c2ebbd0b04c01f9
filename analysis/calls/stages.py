"""Run long work of many calls: its progress as part of all, a Stan model compiled before, a summary after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import SAY, Call, answer_of, answered
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.result_rows import made_model_folder, rows_of_calls
from slant.analysis.calls.results import Progress, results
from slant.collector.system.files import remove


class Stage:
    """Report the progress of one part as part of all `total` calls, `offset` of which come before it."""

    def __init__(self, progress: Progress | None, offset: int, total: int) -> None:
        self.progress, self.offset, self.total = progress, offset, total

    def __call__(self, done: int, number: int) -> None:
        if self.progress:
            self.progress(self.offset + done, self.total)

    def after(self, n: int) -> Stage:
        return Stage(self.progress, self.offset + n, self.total)

    @contextmanager
    def watched(self, status_file: Path) -> Iterator[Path]:
        """Show the file in which R writes what it is doing, and remove it afterwards."""
        if watch := getattr(self.progress, "watch", None):
            watch(status_file)
        remove(status_file)
        try:
            yield status_file
        finally:
            remove(status_file)


def compile_here(db: Path, call: Call, workers: Workers, stage: Stage) -> None:
    """Compile the Stan model of `call`'s rows here, so that it can be watched, unless a process of this machine has
    done it. Other machines compile with their first fit."""
    if isinstance(workers, Executor):
        return
    with stage.watched(made_model_folder(db) / f"{call.id}.says") as status_file:
        answered(replace(call, arguments={**call.arguments, SAY: str(status_file)}))


def summed_up(
    db: Path, summary: Call, table: str, workers: Workers, *, is_of_fewer: bool
) -> tuple[pl.DataFrame, str | None]:
    """Return the rows of `table` from the call that sums up the others. The second value says why they could not be
    kept (None if they were). If there are fewer calls than are already kept, nothing new is kept.
    """
    if is_of_fewer:
        return rows_of_calls([(summary, answer_of(summary, workers))])[table], None
    kept = results(db, [summary], workers=workers)
    return kept.frames[table], kept.not_kept


def put_together(parts: Sequence[Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the data frames of these names of all parts, each below those of the part before, and `not_kept`: the
    first reason why one could not be kept, None if all were.
    """
    frames = {name: pl.concat([getattr(part, name) for part in parts]) for name in names}
    return {**frames, "not_kept": next((part.not_kept for part in parts if part.not_kept), None)}
