"""The figures, drawn by R in a worker process: PNG, and the words that say what is to be seen in them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from analysis.worker import Died, run_jobs
from collector.errors import RError


@dataclass(frozen=True)
class Figure:
    """One drawn figure: the R function that drew it, the bytes of the PNG file, and its text alternative."""

    name: str
    image: bytes
    alt_text: str


@dataclass(frozen=True)
class FigureJob:
    name: str
    rows: pl.DataFrame
    file: str


def draw(wanted: Sequence[tuple[str, pl.DataFrame]], workers: int | None = None) -> list[Figure | str]:
    """Draw figures by the names of their R functions; for one that can't be drawn, the sentence that says why."""
    with tempfile.TemporaryDirectory(prefix="slant-figures-") as folder:
        jobs = [
            FigureJob(name, rows, str(Path(folder) / f"{number}.png")) for number, (name, rows) in enumerate(wanted)
        ]
        drawn: dict[int, Figure | str] = {}
        with closing(run_jobs(figure_job, jobs, workers)) as results:
            for number, result in results:
                drawn[number] = _read(jobs[number], result)
    return [drawn[number] for number in range(len(jobs))]


def figure_job(job: FigureJob) -> dict[str, Any] | str:
    """Runs in a worker: draws into the job's file."""
    from analysis import r

    try:
        value, _ = r.call(job.name, job.rows, job.file, packages=("ggplot2",))
    except RError as error:
        return str(error)
    return {"alt_text": value["alt_text"][0]}


def _read(job: FigureJob, result: dict[str, Any] | str | Died) -> Figure | str:
    if isinstance(result, Died):
        return result.reason
    if isinstance(result, str):
        return result
    return Figure(job.name, Path(job.file).read_bytes(), result["alt_text"])
