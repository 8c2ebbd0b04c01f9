"""What the families start from: tables of the database and fits, each read or made once for all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path

import polars as pl

from analysis.fits import FitResult, Progress, fit
from analysis.tables import tables
from collector.store import reading
from collector.study import Study

_TABLES = ("refusal_counts", "tokens_by_condition", "iat_mentions", "cell_totals", "token_sources", "effect_size_parts")


class Results:
    """Tables and fits of one study in one database. Fits that are missing or out of date are made when asked for."""

    def __init__(
        self, db: str | Path, study: Study, workers: int | None = None, progress: Progress | None = None
    ) -> None:
        self.db = db
        self.study = study
        self._workers = workers
        self._progress = progress
        self._fitted: dict[tuple[str, bool, str], FitResult] = {}

    def table(self, name: str) -> pl.DataFrame:
        """One of the tables that families need (see sql/views/2_tables)."""
        return self._tables[name]

    @cached_property
    def _tables(self) -> dict[str, pl.DataFrame]:
        return tables(self.db, _TABLES, study=self.study.name)

    @cached_property
    def refused(self) -> pl.DataFrame:
        """Every refusal, one a row: source, study_version, variant, model, condition, item, tokens, answer."""
        columns = "source, study_version, variant, model, condition, item, tokens, answer"
        with reading(self.db) as connection:
            frame: pl.DataFrame = connection.view("rmiat_answers").filter("is_refusal").select(columns).pl()
        return frame

    def defines(self, fit: str) -> bool:
        """Whether the study has this fit: one of a user's own may lack some."""
        return fit in self.study.fits

    def fitted(
        self, name: str, refusals_removed: bool = True, only: Mapping[str, Collection[str]] | None = None
    ) -> FitResult:
        """The fit of this name in all its cells, or in those whose key is among the values of `only`."""
        key = (name, refusals_removed, repr(only))
        if key not in self._fitted:
            self._fitted[key] = fit(
                name, self.db, self.study, refusals_removed=refusals_removed, only=only,
                workers=self._workers, progress=self._progress,
            )  # fmt: skip
        return self._fitted[key]
