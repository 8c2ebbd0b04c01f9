"""`specifications()`: fits every specification of a study that is not kept yet; one table of all of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.bridge.worker import Died, run_jobs, versions_now
from slant.analysis.fitting.files import made_model_folder
from slant.analysis.fitting.run import slant_version
from slant.analysis.questions.sensitivity.kept import NUMBERS, SCHEMA, as_text, is_unchanged, keep, kept_rows, renamed
from slant.analysis.questions.sensitivity.work import SpecificationJob, Work, specification_work
from slant.analysis.rows.fit_choice import no_rows
from slant.analysis.rows.studies import study_in
from slant.collector.errors import DatabaseError, RError, UsageError
from slant.collector.studies.catalogue import Study
from slant.collector.system.operating_system import core_count

Told = Callable[[int, int, float | None], None]
"""How many are done, how many there are, and the seconds that the others may take (None: not known yet)."""
_KEEP_EVERY_S = 2.0


@dataclass(frozen=True)
class SensitivityResult:
    """table: one row a specification and cell, in the columns of the view `specifications` without its differences.

    not_kept: why the rows could not be written to the database; None where they were.
    """

    table: pl.DataFrame
    not_kept: str | None


def specifications(
    db: str | Path,
    study: str | Study | None = None,
    only: Sequence[str] = (),
    source: str | None = None,
    workers: int | None = None,
    refit: bool = False,
    progress: Told | None = None,
    watch: Callable[[Path], None] | None = None,
) -> SensitivityResult:
    """Fit the named specifications of `study` (default: all that its file has), and keep each as soon as it is there.

    What is unchanged (rows, question, R code, versions of R packages) is taken from the database, unless `refit`.
    A fit that fails is a row that says so. `workers` R processes (default: the cores). `watch` is told of a
    file in which a fit that takes minutes writes what it is doing.

    Raises UnknownNameError for a specification that there is not, UsageError where the study has none, DatabaseError
    without trials, RError without R.
    """
    its = study_in(db, study, lambda one: bool(one.sensitivity), "has specifications")
    if not its.sensitivity:
        raise UsageError(
            f'The study "{its.name}" has no specifications.', "A study file has them as [sensitivity.NAME]."
        )
    works = specification_work(db, its, only, source)
    if not works:
        raise no_rows("fit", db, source)
    kept = kept_rows(db)
    same = set() if refit else set(_unchanged(kept, works))
    todo = [work for work in works if work.id not in same]
    found, not_kept = _fitted(db, todo, workers, progress, watch)
    old = renamed(kept.filter(pl.col("spec_id").is_in(list(same))), works)
    return SensitivityResult(_in_order(pl.concat([old, found]), works), not_kept)


def specification_job(job: SpecificationJob) -> dict[str, Any] | Died:
    """Runs in a worker: R's fit_specification() on the rows of one cell. What R refuses is a row that failed."""
    from slant.analysis.bridge import r

    r.call("package_versions", ["base"], packages=job.packages)  # what is missing is no matter of one specification
    begun = time.monotonic()
    its = job.specification
    try:
        value, _ = r.call(
            "fit_specification", job.rows, job.engine, job.arguments, its.contrast, None, list(its.drop_flags) or None,
            list(its.drop_outcomes) or None, dict(its.missing_as) or None,
        )  # fmt: skip
    except RError as error:
        return Died(" ".join(str(error).split()))
    return {**value, "seconds": time.monotonic() - begun}


def _unchanged(kept: pl.DataFrame, works: Sequence[Work]) -> Iterator[str]:
    old = {row["spec_id"]: row for row in kept.to_dicts()}
    known = [work for work in works if work.id in old]
    versions = {packages: versions_now(packages) for packages in {work.engine.packages for work in known}}
    for work in known:
        if is_unchanged(old[work.id], work, versions[work.engine.packages]):
            yield work.id


def _fitted(
    db: str | Path,
    todo: Sequence[Work],
    workers: int | None,
    progress: Told | None,
    watch: Callable[[Path], None] | None,
) -> tuple[pl.DataFrame, str | None]:
    """All rows, and why they could not be kept. What was fitted before an interruption is kept."""
    parts, waiting, clock = [pl.DataFrame(schema=SCHEMA)], [], _Clock(todo)
    not_kept = None
    kept_at = time.monotonic()
    try:
        with closing(_results(db, todo, workers, watch)) as results:
            for work, result in results:
                waiting.append(_rows(work, result))
                clock.ended(work)
                if progress:
                    progress(clock.n_done, len(todo), clock.left_s())
                if time.monotonic() - kept_at > _KEEP_EVERY_S:
                    not_kept = _keep(db, waiting)
                    parts, waiting, kept_at = [*parts, *waiting], [], time.monotonic()
    finally:
        not_kept = _keep(db, waiting) or not_kept
    return pl.concat([*parts, *waiting]), not_kept


def _keep(db: str | Path, waiting: Sequence[pl.DataFrame]) -> str | None:
    """Numbers that can't be kept are still worth seeing."""
    try:
        if waiting:
            keep(db, pl.concat(waiting))
    except DatabaseError as error:
        return str(error)
    return None


class _Clock:
    """How long the fits that are left may take, by what those of their kind have taken."""

    def __init__(self, todo: Sequence[Work]) -> None:
        self._left = [work.engine.takes_all_cores for work in todo]
        self._took: dict[bool, list[float]] = {}
        self._at = time.monotonic()
        self.n_done = 0

    def ended(self, work: Work) -> None:
        kind = work.engine.takes_all_cores
        now = time.monotonic()
        self._took.setdefault(kind, []).append(now - self._at)
        self._left.remove(kind)
        self._at = now
        self.n_done += 1

    def left_s(self) -> float | None:
        if not set(self._left) <= set(self._took):
            return None
        return sum(sum(self._took[kind]) / len(self._took[kind]) for kind in self._left)


def _results(
    db: str | Path, todo: Sequence[Work], workers: int | None, watch: Callable[[Path], None] | None
) -> Generator[tuple[Work, dict[str, Any] | Died], None, None]:
    """Many fits beside each other; then, one after another, those that spread over the cores by themselves."""
    for takes_all in (False, True):
        works = [work for work in todo if work.engine.takes_all_cores == takes_all]
        jobs = [_spread(db, work, workers, watch) for work in works]
        with closing(run_jobs(specification_job, jobs, 1 if takes_all else workers)) as results:
            for number, result in results:
                yield works[number], result


def _spread(db: str | Path, work: Work, workers: int | None, watch: Callable[[Path], None] | None) -> SpecificationJob:
    job = work.job
    if work.engine.takes_all_cores:
        job.arguments["cores"] = workers or core_count()
        if watch:
            said = made_model_folder(db) / "sensitivity.says"
            watch(said)
            job.arguments["say"] = str(said)
    return job


def _rows(work: Work, result: dict[str, Any] | Died) -> pl.DataFrame:
    whole = {
        **{name: work.cell.key[name] for name in ("source", "study_version", "variant")}, "study": work.study,
        "spec": work.name, "spec_no": work.number, "label": work.label, "choices": as_text(work.choices),
        "fit": work.definition.name, "engine": work.definition.engine, "spec_id": work.id,
        "formula": work.engine.describe(work.definition), "data_hash": work.cell.data_hash,
        "fitted_at": datetime.now(UTC).replace(tzinfo=None),
    }  # fmt: skip
    key = {name: work.cell.key.get(name) for name in ("model", "test")}
    warned = [f"warning: {text}" for text in work.cell.warnings]
    if isinstance(result, Died):
        lost = {"row_no": 1000 * work.row_no, "status": "failed", "n": work.cell.rows.height}
        said = "\n".join([*warned, f"error: {result.reason}"])
        return pl.DataFrame([{**dict.fromkeys(SCHEMA), **whole, **key, **lost, "messages": said}], schema=SCHEMA)
    said = "\n".join([*warned, *(f"{kind}: {' '.join(text.split())}" for kind, text in result["messages"].iter_rows())])
    versions = {**dict(result["versions"].iter_rows()), "slant": slant_version(), "definition": work.hash}
    rows = [
        {
            **whole, **key, **_cell_of(row), **{name: row.get(name) for name in NUMBERS},
            "row_no": 1000 * work.row_no + number, "versions": json.dumps(versions), "seconds": result["seconds"],
            "messages": _with_error(said, row["error"]), "status": _status(row["status"], warned),
        }
        for number, row in enumerate(_as_in_rows(result["estimates"], work.cell.rows).to_dicts())
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA)


def _as_in_rows(estimates: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Models and domains in the order of the rows, whichever level is the reference."""
    places = [
        pl.col(name).cast(pl.String).replace_strict(
            rows[name].cast(pl.String).unique(maintain_order=True).to_list(),
            range(rows[name].n_unique()), default=None, return_dtype=pl.Int64,
        )
        for name in estimates.columns
        if name not in NUMBERS and name in rows.columns
    ]  # fmt: skip
    return estimates.sort(places, maintain_order=True) if places else estimates


def _with_error(said: str, error: str) -> str:
    """R's reason why there is no number, where it is no condition of the fit itself."""
    flat = " ".join(error.split())
    return said if not flat or flat in said else "\n".join(filter(None, [said, f"error: {flat}"]))


def _status(status: str, warned: Sequence[str]) -> str:
    return "warned" if warned and status == "ok" else status


def _cell_of(row: dict[str, Any]) -> dict[str, str]:
    """Model and test of a row, where the fit is of several: a domain is called a test in the database."""
    others = [str(row[name]) for name in row if name not in (*NUMBERS, "error", "model", "test") and row[name]]
    found = {"model": row.get("model"), "test": row.get("test") or " / ".join(others)}
    return {name: str(value) for name, value in found.items() if value}


def _in_order(rows: pl.DataFrame, works: Sequence[Work]) -> pl.DataFrame:
    """By cell, in it by specification; one of a rotation after the other."""
    places = pl.DataFrame({"spec_id": [work.id for work in works], "place": range(len(works))})
    grain = ["source", "study_version", "variant"]
    placed = rows.join(places, on="spec_id", how="left", maintain_order="left")
    return placed.sort(*grain, "row_no", "spec_no", "place", maintain_order=True).drop("place")
