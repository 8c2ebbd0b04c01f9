"""`permute()`: does a difference between blocks stand out from those that arbitrary block labels give?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.bridge.worker import Died
from slant.analysis.fitting.files import made_model_folder
from slant.analysis.fitting.fits import Progress
from slant.analysis.questions.permutation.definition import Test, tests_of
from slant.analysis.questions.permutation.executor import run
from slant.analysis.questions.permutation.jobs import Refit, SummaryJob, compile_job, refit_job, summary_job
from slant.analysis.questions.permutation.lines import RefitLines
from slant.analysis.questions.permutation.store import SUMMARY, as_frames, keep, stored_refits
from slant.analysis.questions.permutation.tables import as_tests, as_values
from slant.collector.errors import DatabaseError, RError, UsageError
from slant.collector.studies.catalogue import Study


@dataclass(frozen=True)
class Permuted:
    """What `permute()` found, each frame beginning with source, study, study_version, variant, fit, engine.

    tests: one row per cell, kind (population, item_averaged) and scale (delta_p, s): observed, observed_main_fit,
    null_mean … p_one_sided …, as the view permutation_tests has them and R's summarise_permutations() describes.
    values: one row per refit and cell; number 0 is the data as observed, fitted with the same settings.
    refits: one row per refit: seed, status (ok, divergent, unconverged, warned, failed), messages, seconds.
    not_kept: why the results could not be written to the database; None where they were.
    """

    tests: pl.DataFrame
    values: pl.DataFrame
    refits: pl.DataFrame
    not_kept: str | None


def permute(
    db: str | Path,
    study: str | Study | None = None,
    permutations: int = 1000,
    engine: str = "brms",
    seed: int = 1,
    source: str | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Permuted:
    """Refit `study`'s fit of this engine to `permutations` relabellings of its rows, and keep what each found.

    An item's two block labels are swapped with probability 1/2, within its model and domain (R's permute_blocks()). A
    permutation's result depends on `seed` and its number only. Each is kept at once: the same call after a kill goes on
    where it ended, and one with more permutations adds to those there are. One that failed is tried again.
    `executor` is any `concurrent.futures.Executor`; without it, `workers` R processes (default: the cores) do it.
    `settings` go to R's refit_permutation(): chains, iterations, warmup, adapt_delta; n_agq of lme4.
    `progress(done, all)` is called after each refit.

    Raises UsageError for fewer than one permutation, UnknownNameError, StudyError or DatabaseError where there is
    nothing to permute, RError where the rows as observed can't be fitted.
    """
    if permutations < 1:
        raise UsageError(f"Can't test with {permutations} permutations.", "One is the least: --permutations 1000")
    tests = tests_of(db, study, engine, seed, source, settings or {})
    count = _Count(progress, len(tests) * (permutations + 1))
    found = [_tested(Path(db), one, permutations, workers, executor, count) for one in tests]
    all_tests, values, refits = (
        pl.concat([getattr(one, name) for one in found]) for name in ("tests", "values", "refits")
    )
    return Permuted(all_tests, values, refits, next((one.not_kept for one in found if one.not_kept), None))


class _Count:
    """Tells `progress` how many refits there are; what was kept before counts as done from the start."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.done = progress, total, 0

    def add(self, number: int = 1) -> None:
        self.done += number
        if self.progress:
            self.progress(self.done, self.total)

    def watch(self, said: Path) -> None:
        if show := getattr(self.progress, "watch", None):
            show(said)


def _tested(
    db: Path, test: Test, permutations: int, workers: int | None, executor: Executor | None, count: _Count
) -> Permuted:
    numbers = range(permutations + 1)
    known = stored_refits(db, test.id)
    with RefitLines(db, test.id) as lines:
        done = {number: one for number, one in {**known, **lines.found}.items() if one["refit"]["status"] != "failed"}
        todo = [number for number in numbers if number not in done]
        count.add(len(numbers) - len(todo))
        for refit in _refits(db, test, todo, workers, executor, count):
            done[refit["number"]] = refit
            if refit["refit"]["status"] != "failed":
                lines.append(refit)
        used = {number: done[number] for number in numbers}
        summary = _summed_up(test, used, executor)
        not_kept = None
        if used.keys() - known.keys() or todo:
            not_kept = _kept(db, test, {**known, **used}, summary if known.keys() <= used.keys() else None, executor)
        if not_kept is None and lines.found.keys() <= {*known, *used}:
            lines.remove()
    return Permuted(as_tests(db, test, summary), *as_values(test, used.values()), not_kept)


def _kept(
    db: Path, test: Test, refits: Mapping[int, Refit], summary: pl.DataFrame | None, executor: Executor | None
) -> str | None:
    """Numbers that can't be kept are still worth seeing; why they can't."""
    try:
        keep(db, test, refits, _summed_up(test, refits, executor) if summary is None else summary)
    except DatabaseError as error:
        return str(error)
    return None


def _refits(
    db: Path, test: Test, numbers: list[int], workers: int | None, executor: Executor | None, count: _Count
) -> Iterator[Refit]:
    """The first refit shows whether the rows can be fitted at all. RError where they can't."""
    if not numbers:
        return
    if test.engine == "brms":
        _compile(db, test, executor, count)
    jobs = [test.refit(number) for number in numbers]
    with closing(run(refit_job, jobs, workers, executor)) as results:
        for place, result in results:
            refit = _failed(test, numbers[place], result.reason) if isinstance(result, Died) else result
            if refit["number"] == 0 and refit["refit"]["status"] == "failed":
                raise RError("Can't permute: the data as observed can't be fitted.", *refit["messages"])
            count.add()
            yield refit


def _compile(db: Path, test: Test, executor: Executor | None, count: _Count) -> None:
    said = made_model_folder(db) / f"{test.id}.says"
    count.watch(said)
    try:
        _one(compile_job, test.compile(said), executor, "Can't compile the Stan model.")
    finally:
        said.unlink(missing_ok=True)


def _one(function: Callable[[Any], Any], job: Any, executor: Executor | None, what: str) -> Any:
    with closing(run(function, [job], 1, executor)) as results:
        ((_, found),) = results
    if isinstance(found, Died):
        raise RError(what, found.reason)
    return found


def _failed(test: Test, number: int, reason: str) -> Refit:
    """A refit whose process died, as a row like the others."""
    row = {"number": number, "seed": None, "status": "failed"}
    return {"number": number, "seconds": 0.0, "messages": [f"error: {reason}"], "refit": row, "cells": []}


def _summed_up(test: Test, refits: Mapping[int, Refit], executor: Executor | None) -> pl.DataFrame:
    rows, cells = as_frames(refits.values())
    job = SummaryJob(cells, rows, test.within)
    found: pl.DataFrame = _one(summary_job, job, executor, "Can't sum up the permutations.")
    absent = [pl.lit(None).alias(name) for name in SUMMARY if name not in found.columns]
    return found.with_columns(*absent).select(*SUMMARY).cast(pl.Schema(SUMMARY))
