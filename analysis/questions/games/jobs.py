"""What workers do for games: picklable jobs, each one call of one R function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import polars as pl

from slant.analysis.bridge.worker import Died, run_jobs
from slant.collector.errors import RError

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class RJob:
    """A call of one of our R functions, and what the rows that it returns are of."""

    function: str
    arguments: tuple[Any, ...]
    about: Any


def call_job(job: RJob) -> pl.DataFrame:
    """Runs in a worker. RError where R can't."""
    from slant.analysis.bridge import r

    r.start()
    frame: pl.DataFrame
    frame, _ = r.call(job.function, *job.arguments)
    return frame


def run_r(jobs: Sequence[RJob], workers: int | None = None, progress: Progress | None = None) -> list[pl.DataFrame]:
    """Each job's frame, in the order of the jobs. `progress(done, all)` after each. RError where one fails or dies."""
    found: dict[int, pl.DataFrame] = {}
    with closing(run_jobs(call_job, jobs, workers)) as results:
        for number, result in results:
            if isinstance(result, Died):
                raise RError(f"R could not finish {jobs[number].function}() of {jobs[number].about}.", result.reason)
            found[number] = result
            if progress:
                progress(len(found), len(jobs))
    return [found[number] for number in range(len(jobs))]
