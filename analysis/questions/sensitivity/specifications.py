"""`specifications()`: fits every specification of a study that is not kept yet; one table of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from slant.analysis.calls.results import ID, Progress, Results, results, table_schema
from slant.analysis.questions.sensitivity.work import TABLE, Work, specification_work
from slant.analysis.rows.fit_choice import no_rows
from slant.analysis.rows.studies import study_in
from slant.collector.errors import UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.studies.catalogue import Study

_LAST = ("fit", "engine", "formula", "choices", "row_no", ID)


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
    specs: Sequence[str] = (),
    source: str | None = None,
    workers: int | None = None,
    refit: bool = False,
    progress: Progress | None = None,
) -> SensitivityResult:
    """Fit the named specifications of `study` (default: all that its file has), and keep each as soon as it is there.

    What is unchanged (rows, question, R code, versions of R packages) is taken from the database, unless `refit`.
    A fit that fails is a row that says so. `workers` R processes (default: the cores).
    `progress(done, all)` is called after each.

    Raises UnknownNameError for a specification that there is not, UsageError where the study has none, DatabaseError
    without trials, RError without R.
    """
    asked = study_in(db, study, lambda known: bool(known.sensitivity), "has specifications")
    if not asked.sensitivity:
        raise UsageError(
            f'The study "{asked.name}" has no specifications.', "A study file has them as [sensitivity.NAME]."
        )
    works = specification_work(db, asked, specs, source)
    if not works:
        raise no_rows("fit", db, source)
    calls = [work.call for work in works]
    made = results(db, calls, refit=refit, workers=workers, progress=progress, raises=False)
    return SensitivityResult(_table(made, works), made.not_kept)


def kept_specifications(db: str | Path) -> pl.DataFrame:
    """All rows that the database keeps, whatever they were made of."""
    with reading(db) as connection:
        rows: pl.DataFrame = frame_of(connection.table(TABLE).order("rowid"))
    return rows


def _table(made: Results, works: Sequence[Work]) -> pl.DataFrame:
    """By cell, in it by specification; one of a rotation after the other."""
    calls = made.calls.select(ID, "data_hash", "versions", "seconds", fitted_at="ended_at")
    places = pl.DataFrame({ID: [work.call.id for work in works], "place": range(len(works))})
    rows = made.frames[TABLE].join(calls, on=ID, how="left", maintain_order="left").join(places, on=ID, how="left")
    ordered = rows.sort("source", "study_version", "variant", "row_no", "spec_no", "place", maintain_order=True)
    first = ("source", "study", "study_version", "variant", "spec", "spec_no", "label", "model", "test")
    numbers = [name for name in table_schema(TABLE) if name not in (*first, *_LAST)]
    return ordered.select(*first, *numbers, *_LAST, "data_hash", "versions", "seconds", "fitted_at")
