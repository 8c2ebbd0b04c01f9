"""What numbers of papers start from: tables of the database and fits, each read or made once for all of them."""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from functools import cached_property
from pathlib import Path

import polars as pl

from slant.analysis.fitting.fits import FitRequest, FitResult, Progress, fit_together
from slant.analysis.rows.descriptive_tables import rows_of_study, tables
from slant.analysis.rows.views import read_view
from slant.collector.keep.database import reading, scratch_copy
from slant.collector.keep.frames import frame_of
from slant.collector.studies.catalogue import Study, load_variants

GRAIN = ["source", "study_version", "variant"]


class Results:
    """Tables and fits of one study in one database. Fits that are missing or out of date are made when asked for; in a
    copy of a database that can't be written.
    """

    def __init__(
        self, db: str | Path, study: Study, workers: int | None = None, progress: Progress | None = None
    ) -> None:
        self.db = db
        self.study = study
        self._workers = workers
        self._progress = progress
        self._fitted: dict[str, FitResult] = {}
        self._tables: dict[str, pl.DataFrame] = {}
        self._copy: tempfile.TemporaryDirectory[str] | None = None

    def will_need(self, names: Collection[str], asked: Collection[FitRequest]) -> None:
        """Read these tables and make these fits together, before they are asked for one after another."""
        if new_names := [name for name in names if name not in self._tables]:
            self._tables |= tables(self.db, study=self.study.name, names=new_names)
        if new := {repr(request): request for request in asked if repr(request) not in self._fitted}:
            fitted = fit_together(self.db, self.study, list(new.values()), self._workers, self._progress)
            if self._copy is None and any(result.not_kept for result in fitted):
                self._copy = tempfile.TemporaryDirectory(prefix="slant-")
                self.db = scratch_copy(Path(self.db), Path(self._copy.name))
                fitted = fit_together(self.db, self.study, list(new.values()), self._workers, self._progress)
            self._fitted |= dict(zip(new, fitted, strict=True))

    def table(self, name: str) -> pl.DataFrame:
        """One of the tables in sql/views/2_tables, of this study."""
        self.will_need([name], [])
        return self._tables[name]

    def view(self, name: str) -> pl.DataFrame:
        """One of the views in sql/views/3_paper, of this study; of fits only those that were asked for here."""
        with reading(self.db) as connection:
            rows = rows_of_study(read_view(connection, name), self.study.name)
        call_ids = [call_id for result in self._fitted.values() for call_id in result.call_ids]
        return rows.filter(pl.col("call_id").is_in(call_ids)) if "call_id" in rows.columns else rows

    @cached_property
    def refused(self) -> pl.DataFrame:
        """Every refusal, one a row: source, study_version, variant, model, condition, item, tokens, answer."""
        columns = "source, study_version, variant, model, condition, item, tokens, answer"
        with reading(self.db) as connection:
            frame: pl.DataFrame = frame_of(
                connection.view("association_answers").filter("is_refusal").select(f"{columns}, study")
            )
        return frame.filter(pl.col("study") == self.study.name).drop("study")

    @cached_property
    def variants(self) -> dict[str, Study]:
        """All variants of the study, by name."""
        return load_variants(self.study.path)

    @cached_property
    def partial_cells(self) -> pl.DataFrame:
        """Cells with fewer trials than planned: source, study_version, variant, model, test, and `shortfall` in words.

        A refusal is a trial. Where a run doesn't say what it planned, its cells count as whole.
        """
        with reading(self.db) as connection:
            tests = read_view(connection, "tests").filter(pl.col("study") == self.study.name)
        planned = tests.select("study_version", "test", "planned")
        cells = self.asked_cells.join(planned, on=["study_version", "test"], maintain_order="left")
        partial = cells.filter(pl.col("n_trials") < pl.col("planned"))
        words = [
            f"{model} in {test}: all but {n:,} of {n_planned:,} trials"
            for model, test, n, n_planned in partial.select("model", "test", "n_trials", "planned").iter_rows()
        ]
        named = partial.with_columns(pl.Series("shortfall", words, dtype=pl.String))
        return named.select(*GRAIN, "model", "test", "shortfall")

    @cached_property
    def asked_cells(self) -> pl.DataFrame:
        """How many trials of each model and test are here. Games are cells of their own: see GameCell."""
        grain = [*GRAIN, "model", "test"]
        if self.study.design == "association":
            return self.table("refusal_counts")
        if self.study.design != "forced_choice":
            return pl.DataFrame(schema={**dict.fromkeys(grain, pl.String), "n_trials": pl.Int64})
        blocks = self.table("compliance_by_block").rename({"domain": "test"})
        return blocks.group_by(grain, maintain_order=True).agg(pl.col("n_trials").sum())

    def fitted(self, asked: FitRequest) -> FitResult:
        self.will_need([], [asked])
        return self._fitted[repr(asked)]
