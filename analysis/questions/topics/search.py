"""`search()`: how numbers of topics compare (stm's searchK), one number a job, spread over the cores.

Each number is kept as soon as it is computed, so that a search that was killed goes on where it stopped.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.bridge.worker import Died, run_jobs, versions_now
from slant.analysis.fitting.files import made_model_folder
from slant.analysis.fitting.fits import Progress
from slant.analysis.fitting.store import is_same_versions
from slant.analysis.fitting.work import Work, fit_work
from slant.analysis.rows.fit_choice import chosen_fits, no_rows
from slant.analysis.rows.open import open_trials, stored_views
from slant.analysis.rows.studies import study_in
from slant.collector.errors import RError, UsageError
from slant.collector.keep.database import is_alive, reading, writing
from slant.collector.keep.frames import registered
from slant.collector.records import stable_id
from slant.collector.studies.catalogue import Study

STEPS = 500  # stm's own limit, which the paper's search had; its fit had 50
_PACKAGES = ("stm", "tm", "SnowballC")


@dataclass(frozen=True)
class PrepareJob:
    rows: pl.DataFrame
    arguments: Mapping[str, Any]
    file: str


@dataclass(frozen=True)
class SearchJob:
    file: str
    n_topics: int
    max_em_its: int


def search(
    db: str | Path,
    study: str | Study | None = None,
    numbers: Sequence[int] = tuple(range(3, 11)),
    source: str | None = None,
    workers: int | None = None,
    max_em_its: int = STEPS,
    progress: Progress | None = None,
    settings: Mapping[str, Any] | None = None,
) -> pl.DataFrame:
    """Compare these numbers of topics for the topic model of `study`; those that are kept are not computed again.

    Returns the rows of the view topic_searches, one a number. `workers` R processes (default: the cores), each of which
    holds all documents. `settings` stand for those of the study file. `progress(done, all)` is called after each.

    Raises UsageError for numbers below 2, RError where R can't fit (and says why), DatabaseError without rows.
    """
    wrong = [number for number in numbers if number < 2]
    if wrong or not numbers:
        raise UsageError(f"Can't fit {wrong[0] if wrong else 'no'} topics.", "Numbers of topics are at least 2: 3:10")
    work = [
        one
        for its, definition in chosen_fits("stm", db, study_in(db, study, has_topic_model, "has a topic model"))
        for one in fit_work(db, its, definition, source=source, settings=settings)
    ]
    if not work:
        raise no_rows("fit", db, source)
    todo = {one.id: _todo(db, one, sorted(set(numbers), reverse=True), max_em_its) for one in work}
    n_all = len(work) * len(set(numbers))
    n_done = n_all - sum(map(len, todo.values()))
    for one in work:
        for _ in _searched(db, one, todo[one.id], max_em_its, workers, progress):
            n_done += 1
            if progress:
                progress(n_done, n_all)
    ids = [_search_id(one, max_em_its) for one in work]
    found = open_trials(db, "topic_searches")
    return found.filter(pl.col("search_id").is_in(ids), pl.col("n_topics").is_in(list(numbers)))


def has_topic_model(study: Study) -> bool:
    return any(fit.engine == "stm" for fit in study.fits.values())


def prepare_job(job: PrepareJob) -> dict[str, Any]:
    """Runs in a worker: cleans the texts once, for all numbers, into the job's file."""
    from slant.analysis.bridge import r

    arguments = {name: value for name, value in job.arguments.items() if name != "save_to"}
    value, conditions = r.call("prepare_search", job.rows, arguments, job.file, packages=_PACKAGES)
    return {"size": value.to_dicts()[0], "messages": conditions["text"].to_list()}


def search_job(job: SearchJob) -> dict[str, Any]:
    """Runs in a worker: fits one number of topics to the prepared documents."""
    from slant.analysis.bridge import r

    begun = time.monotonic()
    value, _ = r.call("search_prepared", job.file, job.n_topics, job.max_em_its, packages=_PACKAGES)
    return {
        **value["row"].to_dicts()[0], "seed": int(value["seed"][0]), "seconds": time.monotonic() - begun,
        "versions": json.dumps(dict(value["versions"].iter_rows())),
    }  # fmt: skip


def _search_id(work: Work, max_em_its: int) -> str:
    """The same for the same documents, settings and R code, whatever the number of topics."""
    return stable_id("search", work.id, work.cell.data_hash, work.hash, max_em_its)


def _todo(db: str | Path, work: Work, numbers: Sequence[int], max_em_its: int) -> list[int]:
    """Those that are not kept, or were made by other versions. The largest first: they take longest, and the cores end
    together.
    """
    with reading(db) as connection:
        if "topic_searches" not in stored_views(connection):
            return list(numbers)
        ask = "SELECT n_topics, versions FROM stm_searches WHERE search_id = ?"
        kept = connection.execute(ask, [_search_id(work, max_em_its)]).fetchall()
    now = versions_now(_PACKAGES) if kept else None
    done = {number for number, versions in kept if now is None or is_same_versions(json.loads(versions or "{}"), now)}
    return [number for number in numbers if number not in done]


def _searched(
    db: str | Path, work: Work, numbers: Sequence[int], max_em_its: int, workers: int | None, progress: Progress | None
) -> Any:
    if not numbers:
        return
    folder = made_model_folder(db)
    _clear_away(folder)
    file = folder / f"{_search_id(work, max_em_its)}.{os.getpid()}.prepared.rds"
    said = file.with_suffix(".says")
    try:
        arguments = {**work.engine.arguments(work.definition), "say": str(said)}
        if watch := getattr(progress, "watch", None):
            watch(said)
        _one(prepare_job, PrepareJob(work.cell.rows, arguments, str(file)))
        jobs = [SearchJob(str(file), number, max_em_its) for number in numbers]
        said.unlink(missing_ok=True)
        with closing(run_jobs(search_job, jobs, workers)) as results:
            for number, row in results:
                if isinstance(row, Died):
                    raise RError(f"Can't fit {jobs[number].n_topics} topics.", row.reason)
                _keep(db, work, row, max_em_its)
                yield row
    finally:
        file.unlink(missing_ok=True)
        said.unlink(missing_ok=True)


def _clear_away(folder: Path) -> None:
    """What searches left that were killed."""
    for left in folder.glob("*.prepared.*"):
        if not is_alive(left.name.split(".")[1]):
            left.unlink(missing_ok=True)


def _one(function: Any, job: Any) -> Any:
    with closing(run_jobs(function, [job], 1)) as results:
        ((_, found),) = results
    if isinstance(found, Died):
        raise RError("Can't prepare the texts.", found.reason)
    return found


def _keep(db: str | Path, work: Work, row: Mapping[str, Any], max_em_its: int) -> None:
    """Rows of an earlier search of the same fit, over other texts or settings, give way to the new one; so does the row
    of other versions.
    """
    key = {name: work.cell.key[name] for name in ("source", "study_version", "variant")}
    whole = {
        **row, **key, "search_id": _search_id(work, max_em_its), "study": work.study, "fit": work.definition.name,
        "data_hash": work.cell.data_hash, "searched_at": datetime.now(UTC).replace(tzinfo=None),
    }  # fmt: skip
    names = ("study", "fit", "source", "study_version", "variant", "search_id", "n_topics")
    others = f"{' AND '.join(f'{name} = ?' for name in names[:5])} AND (search_id <> ? OR n_topics = ?)"
    with writing(db) as connection:
        connection.execute(f"DELETE FROM stm_searches WHERE {others}", [whole[name] for name in names])  # noqa: S608
        with registered(connection, "new_rows", pl.DataFrame([whole])):
            connection.execute("INSERT INTO stm_searches BY NAME SELECT * FROM new_rows")
