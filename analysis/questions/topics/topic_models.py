"""Read kept topic models: `read_topics()` with the file that R opens again, and which model is compared with print.

Print is about one definition and one set of texts, so only a fit of the study's own definition to the current texts
is compared with it.

Compare numbers of topics (stm's searchK), one number per job, spread over the cores (`search_topics()`).

Each number is kept as soon as it is computed, so that a search that was killed goes on where it stopped."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import SAY, Call, answered
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.result_rows import checked_file, made_model_folder, model_file
from slant.analysis.calls.results import Progress, not_kept_yet, results, unchanged_ids
from slant.analysis.calls.stages import Stage
from slant.analysis.fitting.fit_plan import PlannedFit, plan_fits
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.study_choice import find_fits, no_rows_error, study_in
from slant.analysis.rows.views import open_trials, rows_if_kept, view_rows
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError, UsageError, as_typed
from slant.collector.keep.database import fetched
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
        for leftover in regular_files(self._file.parent, "*.prepared.*"):  # of killed searches
            if not is_alive(leftover.name.split(".")[1]):
                remove(leftover)
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


STALE = "The stored topic model was fitted to other texts (or with other settings or R code); run: analyze --fit stm."


def models_to_show(db: str | Path, study: Study) -> pl.DataFrame:
    """Return rows of topic_models, one for each source, version and variant, and `is_own`: whether it may be compared.

    It is the study's own fit of the current texts if there is one, else the model that was fitted last. There are no
    rows if none was fitted.
    """
    models = view_rows(db, "topic_models", study=study.name)
    definitions = [fit for fit in study.fits.values() if fit.engine == "stm" and models.height]
    calls = [work.call for fit in definitions for work in plan_fits(db, study, fit)]
    own_ids = unchanged_ids(calls, models, None)  # whatever the versions of packages, which are reported
    judged = models.with_columns(is_own=pl.col("call_id").is_in(own_ids))
    ordered = judged.sort("is_own", "fitted_at", maintain_order=True)
    return ordered.unique(GRAIN, keep="last", maintain_order=True)


def stale_model_warnings(db: str | Path, study: Study) -> list[str]:
    """Return a sentence for each source whose topics are not those of its texts and the study's settings."""
    models = models_to_show(db, study)
    return [f"Topics ({source}): {STALE}" for source in models.filter(~pl.col("is_own"))["source"].unique().sort()]


_VIEWS = (
    *("models", "proportions", "quality", "words", "prevalence"),
    *("effects", "contrasts", "shifts", "correlations", "examples"),
)


@dataclass(frozen=True)
class TopicModel:
    """Hold one kept topic model. `about`: its row of the view topic_models. `tables`: the views topic_…, by their last
    word.

    `tables["examples"]["text"]` is what models wrote: not to be trusted.
    """

    about: Mapping[str, object]
    tables: Mapping[str, pl.DataFrame]
    _db: Path

    @property
    def path(self) -> Path:
        """Return the .rds file, for R: read_topics(path)$model. DatabaseError if it is not the one that was kept.

        Reading an .rds file can run code, so only the very file that slant wrote is named.
        """
        path = model_file(self._db, str(self.about["call_id"]))
        how_to_refit = "To recompute it: analyze --fit stm --refit"
        return checked_file(path, self.about["file_md5"], "model", how_to_refit)

    def documents(self) -> pl.DataFrame:
        """Return the topic shares of each document: its id, and a column topic_1, topic_2 … for each topic. Needs R."""
        frame: pl.DataFrame = answered(Call("read_topics", arguments={"db": str(self.path), "what": "documents"}))
        return frame


@checked_arguments()
def read_topics(db: str | Path, study: str | None = None, source: str | None = None) -> TopicModel:
    """Return the topic model of `db` that was fitted last (of this study and source, if named).

    Raise DatabaseError if none was fitted.
    """
    models = rows_if_kept(db, "topic_models", study=study, source=source)
    if models.is_empty():
        raise DatabaseError(f'"{db}" holds no topic model.', f"To fit one: analyze --fit stm --db {as_typed(db)}")
    last = models.sort("fitted_at", maintain_order=True).tail(1).to_dicts()[0]
    tables = {name: view_rows(db, f"topic_{name}", call_id=last["call_id"]) for name in _VIEWS}
    [(md5,)] = fetched(db, "SELECT file_md5 FROM stm_models WHERE call_id = ?", [last["call_id"]])
    return TopicModel({**last, "file_md5": md5}, tables, Path(db))
