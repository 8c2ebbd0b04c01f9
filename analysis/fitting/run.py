"""Fits in R worker processes, and what comes of them into the database."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.bridge.worker import Died, FitJob, fit_job, run_jobs
from slant.analysis.fitting.duration import told_duration
from slant.analysis.fitting.engines import ENGINES
from slant.analysis.fitting.files import made_model_folder
from slant.analysis.fitting.store import Fitted, as_frames, keep, no_tables
from slant.analysis.fitting.tables import Frames
from slant.analysis.fitting.work import Work
from slant.analysis.rows.cells import GRAIN
from slant.collector.errors import DatabaseError
from slant.collector.system.operating_system import core_count

Progress = Callable[[int, int], None]
"""Called with the numbers of fits that are done and that there are. One may also have `watch(path)`, a file in which a
long fit writes what it is doing, and `note(text)`, what to say at once.
"""


def run_and_keep(
    db: str | Path, todo: Sequence[Work], workers: int | None, progress: Progress | None
) -> tuple[Fitted, str | None]:
    """What was fitted, and why it could not be kept (None where it could): minutes of one fit are safe at its end."""
    found, not_kept, done = Fitted.empty(), None, 0
    for batch in _batches(todo):
        part = _run(batch, workers, progress, done, len(todo))
        not_kept = _keep(db, part) or not_kept
        found, done = found.and_(part), done + len(batch)
    return found, not_kept


def _batches(todo: Sequence[Work]) -> Iterator[Sequence[Work]]:
    """Many fits beside each other; then, one after another, those that spread over the cores by themselves."""
    if quick := [work for work in todo if not work.engine.takes_all_cores]:
        yield quick
    yield from ([work] for work in todo if work.engine.takes_all_cores)


def _run(works: Sequence[Work], workers: int | None, progress: Progress | None, before: int, number: int) -> Fitted:
    fits: list[dict[str, Any]] = []
    estimates: list[dict[str, Any]] = []
    variances: list[dict[str, Any]] = []
    tables: dict[str, list[Frames]] = {engine: [] for engine in no_tables()}
    jobs = [_watched(work, progress, workers) for work in works]
    with closing(run_jobs(fit_job, jobs, workers)) as results:
        for done, (place, result) in enumerate(results, start=before + 1):
            work = works[place]
            fits.append(_fit_row(work, result))
            if not isinstance(result, Died):
                estimates += _numbered(work.id, result["estimates"])
                variances += _numbered(work.id, result["variances"])
                if result.get("tables"):
                    tables[work.definition.engine].append(
                        work.engine.tables.of_fit(work.id, result["tables"], work.cell.alike)
                    )
            if progress:
                progress(done, number)
    stacked = {engine: ENGINES[engine].tables.stacked(parts) for engine, parts in tables.items()}
    return replace(as_frames(fits, estimates, variances), tables=stacked)


def _watched(work: Work, progress: Progress | None, workers: int | None) -> FitJob:
    """An engine that takes minutes writes what it is doing into a file, for whoever shows progress."""
    job = work.job
    if work.engine.takes_all_cores:
        job.arguments["cores"] = workers or core_count()
        if (note := getattr(progress, "note", None)) and (said := told_duration(job)):
            note(f"{work.definition.name}: {said}")
    if not work.engine.keeps_model:
        return job
    path = made_model_folder(work.db) / f"{work.id}.says"
    if watch := getattr(progress, "watch", None):
        watch(path, work.definition.name)
        job.arguments["say"] = str(path)
    return job


def _numbered(fit: str, frame: pl.DataFrame) -> list[dict[str, Any]]:
    return [{"fit_id": fit, "term_no": number, **row} for number, row in enumerate(frame.to_dicts(), start=1)]


def _fit_row(work: Work, result: dict[str, Any] | Died) -> dict[str, Any]:
    row: dict[str, Any] = {
        **dict.fromkeys(("model", "test")),
        **{name: value for name, value in work.cell.key.items() if name in (*GRAIN, "model", "test")},
        "fit_id": work.id, "fit": work.definition.name, "engine": work.definition.engine, "study": work.study,
        "dropped": ", ".join(f"{flag}: {n}" for flag, n in work.cell.dropped.items()) or None,
        "refusals_removed": work.refusals_removed, "measure": work.measure, "token_source": work.cell.token_source,
        "formula": work.engine.describe(work.definition), "data_hash": work.cell.data_hash,
        "fitted_at": datetime.now(UTC).replace(tzinfo=None),
    }  # fmt: skip
    said = [f"warning: {text}" for text in work.cell.warnings]
    if isinstance(result, Died):
        said.append(f"error: {result.reason}")
        return {**row, "status": "failed", "n": work.cell.rows.height, "messages": "\n".join(said)}
    said += [f"{kind}: {' '.join(text.split())}" for kind, text in result["messages"].iter_rows()]
    versions = {**dict(result["versions"].iter_rows()), "slant": slant_version(), "definition": work.hash}
    found = result["fits"].drop("error").to_dicts()[0]
    status = "warned" if work.cell.warnings and found["status"] == "ok" else found["status"]
    return {
        **row, **found, "status": status, "n_groups": None if found["n_groups"] is None else int(found["n_groups"]),
        "messages": "\n".join(said), "versions": json.dumps(versions), "seconds": result["seconds"],
    }  # fmt: skip


def _keep(db: str | Path, results: Fitted) -> str | None:
    """Numbers that can't be kept are still worth seeing."""
    try:
        keep(db, results)
    except DatabaseError as error:
        return str(error)
    return None


@cache
def slant_version() -> str:
    try:
        return version("slant")
    except PackageNotFoundError:
        return "checkout"
