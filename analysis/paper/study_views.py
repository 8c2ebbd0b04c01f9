"""Read what the numbers of a paper are recomputed from: the views of one study in one database, and its fits."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.analysis.calls.executors import Workers
from slant.analysis.calls.result_rows import ID
from slant.analysis.fitting.fits import FitRequest, Progress, fits_together
from slant.analysis.paper.published import SCHEMA, is_of_print, published_numbers, scopes
from slant.analysis.rows.descriptive_tables import rows_of_study
from slant.analysis.rows.views import read_view
from slant.collector.keep.database import reading, scratch_copy
from slant.collector.keep.frames import registered
from slant.collector.studies.catalogue import Study, load_variants
from slant.collector.system.scratch import temporary_folder

GRAIN = ["source", "study_version", "variant"]
_SCHEMAS: dict[str, dict[str, Any]] = {
    "planned": {
        "study": pl.String, "usual_variant": pl.String, "test": pl.String, "test_no": pl.Int32, "model": pl.String,
        "model_no": pl.Int32, "condition": pl.String, "n_planned": pl.Int32, "is_asked_by_default": pl.Boolean,
    },
    "scopes": {
        "study": pl.String, "scope": pl.String, "scope_no": pl.Int32, "model": pl.String, "condition": pl.String,
    },
    "numbers": {
        "study": pl.String, "number_no": pl.Int32, **SCHEMA, "source": pl.String, "is_of_print": pl.Boolean,
    },
}  # fmt: skip


class StudyViews:
    """Read views of one study in one database, and its fits. Fits that are missing or out of date are made; in a copy
    if the database can't be written.
    """

    def __init__(self, db: str | Path, study: Study, workers: Workers = None, progress: Progress | None = None) -> None:
        self.db = db
        self.study = study
        self._workers = workers
        self._progress = progress
        self._call_ids: list[str] = []
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._copy = contextlib.ExitStack()

    def make_fits(self, wanted: Collection[FitRequest]) -> None:
        """Make these fits together; views of fits have only their rows."""
        fits = list({repr(request): request for request in wanted}.values())
        fitted = fits_together(self.db, self.study, fits, self._workers, self._progress)
        if fitted.not_kept:
            self.db = scratch_copy(Path(self.db), self._copy.enter_context(temporary_folder("work")))
            fitted = fits_together(self.db, self.study, fits, self._workers, self._progress)
        self._call_ids = fitted.calls[ID].to_list()

    def view(self, name: str) -> pl.DataFrame:
        """Return the rows of this study in a view."""
        with self.opened() as connection:
            return rows_of_study(read_view(connection, name), self.study.name)

    @cached_property
    def shortfalls(self) -> pl.DataFrame:
        """Return the view of this name."""
        return self.view("shortfalls")

    @contextmanager
    def opened(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the database, with the study's print and plan in the variables that views in sql/views/3_paper read;
        within the block, all views are read on this one connection.
        """
        if self._connection is not None:
            yield self._connection
            return
        with reading(self.db) as connection:
            connection.execute("SET VARIABLE compared_calls = ?", [self._call_ids])
            for name, frame in self._print.items():
                with registered(connection, "listed", frame):
                    connection.execute(f"SET VARIABLE {name} = (SELECT list(row) FROM listed row)")  # noqa: S608
            self._connection = connection
            try:
                yield connection
            finally:
                self._connection = None

    @cached_property
    def _print(self) -> dict[str, pl.DataFrame]:
        return {
            "printed_numbers": printed_numbers(self.study),
            "printed_scopes": printed_scopes(self.study),
            "planned_cells": planned_cells(self.study),
        }


def printed_numbers(study: Study) -> pl.DataFrame:
    """Return the columns of the view printed_numbers; no rows for a study that prints none."""
    if study.published is None:
        return pl.DataFrame(schema=_SCHEMAS["numbers"]).rename({"table": "place"})
    numbered = published_numbers(study).with_row_index("number_no").with_columns(is_of_print=is_of_print(study))
    return numbered.with_columns(study=pl.lit(study.name)).select(*_SCHEMAS["numbers"]).rename({"table": "place"})


def printed_scopes(study: Study) -> pl.DataFrame:
    """Return the columns of the view printed_scopes."""
    rows = [
        (study.name, scope, number, model, condition)
        for scope, cells in scopes(study).items()
        for number, (model, condition) in enumerate(cells, start=1)
    ]
    return pl.DataFrame(rows, schema=_SCHEMAS["scopes"], orient="row")


def planned_cells(study: Study) -> pl.DataFrame:
    """Return the columns of the view planned_cells."""
    return pl.DataFrame(list(_planned(study)), schema=_SCHEMAS["planned"], orient="row")


def _planned(study: Study) -> Iterator[tuple[Any, ...]]:
    if not study.design.analyses.compares_variants:
        for (test_no, test), (model_no, model) in product(enumerate(study.tests, 1), enumerate(study.models, 1)):
            yield (
                study.name,
                study.variants[0],
                test.test,
                test_no,
                model.model,
                model_no,
                None,
                None,
                model.asked_by_default,
            )
        return
    for test_no, (name, variant) in enumerate(load_variants(study.path).items(), 1):
        n_games = 1 if variant.data.is_pooled else variant.data.games
        frames: dict[str | None, str] = {None: variant.frame}
        frames |= {model.model: model.frame for model in variant.models}
        for model_no, (name_of_model, frame) in enumerate(frames.items()):
            yield (study.name, study.variants[0], name, test_no, name_of_model, model_no, frame or None, n_games, True)
