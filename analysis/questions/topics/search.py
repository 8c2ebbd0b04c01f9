"""Compare numbers of topics (stm's searchK), one number per job, spread over the cores (`search_topics()`).

Each number is kept as soon as it is computed, so that a search that was killed goes on where it stopped.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import SAY, Call, answered
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.model_files import made_model_folder
from slant.analysis.calls.results import Progress, not_kept_yet, results
from slant.analysis.calls.stages import Stage
from slant.analysis.fitting.fit_plan import PlannedFit, plan_fits
from slant.analysis.rows.study_choice import find_fits, no_rows_error, study_in
from slant.analysis.rows.views import open_trials
from slant.collector.errors import UsageError
from slant.collector.stable_ids import stable_id
from slant.collector.studies.catalogue import Study
from slant.collector.system.files import regular_files, remove
from slant.collector.system.operating_system import is_alive

STEPS = 500  # stm's own limit, which the paper's search had; its fit had 50
_PACKAGES = ("stm", "tm", "SnowballC")


def search_topics(
    db: str | Path,
    study: str | Study | None = None,
    numbers: Sequence[int] = tuple(range(3, 11)),
    source: str | None = None,
    workers: Workers = None,
    max_em_its: int = STEPS,
    progress: Progress | None = None,
    settings: Mapping[str, Any] | None = None,
    executor: Executor | None = None,
) -> pl.DataFrame:
    """Compare these numbers of topics for the topic model of `study`; those that are kept are not computed again.

    Return the rows of the view topic_searches, one per number. `workers` R processes (default: the cores) or those of
    an `executor` each hold all documents. `settings` replace those of the study file. `progress(done, all)` is called
    after each.

    Raise UsageError for numbers below 2, RError if R can't fit (and says why), DatabaseError without rows.
    """
    too_small = [number for number in numbers if number < 2]
    if too_small or not numbers:
        raise UsageError(
            f"Can't fit {too_small[0] if too_small else 'no'} topics.", "Numbers of topics are at least 2: 3:10"
        )
    plan = [
        planned
        for fit_study, definition in find_fits("stm", db, study_in(db, study, has_topic_model, "has a topic model"))
        for planned in plan_fits(db, fit_study, definition, source=source, settings=settings)
    ]
    if not plan:
        raise no_rows_error("fit", db, source)
    largest_first = sorted(set(numbers), reverse=True)  # they take longest, and the cores end together
    searches = [_TopicSearch(Path(db), planned, max_em_its) for planned in plan]
    total = len(searches) * len(largest_first)
    for number, topic_search in enumerate(searches):
        stage = Stage(progress, number * len(largest_first), total)
        topic_search.compute(largest_first, executor or workers, stage)
    rows = open_trials(db, view="topic_searches")
    ids = [topic_search.id for topic_search in searches]
    return rows.filter(pl.col("search_id").is_in(ids), pl.col("n_topics").is_in(list(numbers)))


def has_topic_model(study: Study) -> bool:
    return any(fit.engine == "stm" for fit in study.fits.values())


class _TopicSearch:
    """Search for one topic model: its texts are cleaned once, into a file that all its calls read."""

    def __init__(self, db: Path, work: PlannedFit, max_em_its: int) -> None:
        self._db, self._work, self._max_em_its = db, work, max_em_its
        self.id = stable_id("search", work.call.id, max_em_its)
        self._file = made_model_folder(db) / f"{self.id}.{os.getpid()}.prepared.rds"

    def compute(self, numbers: Sequence[int], workers: Workers, stage: Stage) -> None:
        calls = [self._call(number) for number in numbers]
        _remove_leftovers(self._file.parent)
        try:
            if not_kept_yet(self._db, calls):
                self._prepare(workers, stage)
            results(self._db, calls, workers=workers, progress=stage).check_none_failed()
        finally:
            remove(self._file)

    def _prepare(self, workers: Workers, stage: Stage) -> None:
        with stage.watched(self._file.with_suffix(".says")) as status_file:
            status = {} if isinstance(workers, Executor) else {SAY: str(status_file)}
            arguments = {"arguments": {**self._work.arguments, **status}}
            rows, writes = self._work.cell.rows, {"file": self._file}
            answered(Call("prepare_search", rows, arguments, writes=writes, packages=_PACKAGES), workers)

    def _call(self, number: int) -> Call:
        work = self._work
        key = {name: work.cell.key[name] for name in ("source", "study_version", "variant")}
        return Call(
            "search_prepared",
            arguments={"k": number, "max_em_its": self._max_em_its},
            about={"study": work.study, "fit": work.definition.name, **key, "n_topics": number},
            tables={"row": "stm_searches"},
            columns={"search_id": self.id},
            packages=_PACKAGES,
            reads={"file": self._file},
            hash_of_data=work.call.id,
        )


def _remove_leftovers(folder: Path) -> None:
    """Remove what killed searches have left."""
    for leftover in regular_files(folder, "*.prepared.*"):
        if not is_alive(leftover.name.split(".")[1]):
            remove(leftover)
