"""What the families start from: tables of the database and fits, each read or made once for all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path

import polars as pl

from slant.analysis.fitting.fits import Asked, FitResult, Progress, fit_together
from slant.analysis.rows.open import read_view
from slant.analysis.rows.tables import tables
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.studies.catalogue import Study, load_variants


class Results:
    """Tables and fits of one study in one database. Fits that are missing or out of date are made when asked for."""

    def __init__(
        self, db: str | Path, study: Study, workers: int | None = None, progress: Progress | None = None
    ) -> None:
        self.db = db
        self.study = study
        self._workers = workers
        self._progress = progress
        self._fitted: dict[str, FitResult] = {}
        self._tables: dict[str, pl.DataFrame] = {}

    def will_need(self, names: Collection[str], asked: Collection[Asked]) -> None:
        """Read these tables and make these fits together, before they are asked for one after another."""
        if new_names := [name for name in names if name not in self._tables]:
            self._tables |= tables(self.db, new_names, study=self.study.name)
        if new := {repr(one): one for one in asked if repr(one) not in self._fitted}:
            found = fit_together(self.db, self.study, list(new.values()), self._workers, self._progress)
            self._fitted |= dict(zip(new, found, strict=True))

    def table(self, name: str) -> pl.DataFrame:
        """One of the tables in sql/views/2_tables, of this study."""
        self.will_need([name], [])
        return self._tables[name]

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
        cells = self._asked_cells().join(planned, on=["study_version", "test"], maintain_order="left")
        partial = cells.filter(pl.col("n_trials") < pl.col("planned"))
        words = [
            f"{model} in {test}: all but {n:,} of {n_planned:,} trials"
            for model, test, n, n_planned in partial.select("model", "test", "n_trials", "planned").iter_rows()
        ]
        named = partial.with_columns(pl.Series("shortfall", words, dtype=pl.String))
        return named.select("source", "study_version", "variant", "model", "test", "shortfall")

    def _asked_cells(self) -> pl.DataFrame:
        """How many trials of each model and test are here. Games are cells of their own: see paper/hiring/cells.py."""
        grain = ["source", "study_version", "variant", "model", "test"]
        if self.study.design == "association":
            return self.table("refusal_counts")
        if self.study.design == "allocation":
            return pl.DataFrame(schema={**dict.fromkeys(grain, pl.String), "n_trials": pl.Int64})
        blocks = self.table("compliance_by_block").rename({"domain": "test"})
        return blocks.group_by(grain, maintain_order=True).agg(pl.col("n_trials").sum())

    def defines(self, fit: str) -> bool:
        """Whether the study has this fit: one of a user's own may lack some."""
        return fit in self.study.fits

    def fitted(
        self, name: str, refusals_removed: bool = True, only: Mapping[str, Collection[str]] | None = None
    ) -> FitResult:
        """The fit of this name in all its cells, or in those whose key is among the values of `only`."""
        asked = Asked(name, refusals_removed, only)
        self.will_need([], [asked])
        return self._fitted[repr(asked)]
