"""What a kind of figure is, and the data that it may take its rows from.

The specification curve, drawn from what `analyze sensitivity` kept, never from new fits."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TypeAlias

import duckdb
import polars as pl

from slant.analysis.bridge.r_packages import inst_folder
from slant.analysis.calls.executors import Workers
from slant.analysis.fitting.fits import Progress
from slant.analysis.questions.games.indices import with_game_variant
from slant.analysis.questions.sensitivity import kept_specifications
from slant.analysis.questions.topics.topic_models import STALE, models_to_show
from slant.analysis.rows.cells import CONDITION_LABELS, GRAIN, LABELS, MEASURED
from slant.analysis.rows.views import read_view, rows_if_kept, stored_views, view_rows, with_labels
from slant.collector.keep.database import fetched, reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.view_heads import ordered_view
from slant.collector.studies.catalogue import Study
from slant.collector.system.shipped_files import csv_rows

_VIEWS = ("topic_models", "topic_proportions", "topic_prevalence", "topic_searches")
_N_WORDS = 5  # as many as the paper prints


_COLUMNS = (*GRAIN, *LABELS, *CONDITION_LABELS, *MEASURED)


@dataclass(frozen=True)
class FigureKind:
    """Hold one row of the registry; the R function is `plot_` and its name, or `function`.

    `description`: what it shows, for people. `rows`: what the R function is given, with the columns GRAIN in front, for
    all sources, study versions and variants at once; each of them is a figure of its own, and so is each value of a
    column `part`, where there is one. A column `note` says what must be known of the figure. None if the study has
    no such thing. `hint`: what to type so that there is something to draw. One that is not `is_of_data` shows the
    method itself, from rows that R makes; it is no part of a report. One that `is_declared` is drawn of
    studies whose design names it in `figures`.
    """

    description: str
    rows: Callable[[FigureData], pl.DataFrame | None]
    hint: str = ""
    function: str = ""
    is_of_data: bool = True
    is_declared: bool = False


Rows: TypeAlias = Callable[["FigureData"], "pl.DataFrame | None"]


@cache
def figure_table() -> dict[str, dict[str, str]]:
    """Return the rows of inst/figures.csv by figure, in the order of a report; R reads the same file."""
    return {row["figure"]: row for row in csv_rows(inst_folder() / "figures.csv")}


def figure_kind(name: str, rows: Rows) -> FigureKind:
    """Return the kind of figure with the words of the table."""
    row = figure_table()[name]
    of_data, declared = row["kind"] != "method", row["kind"] == "declared"
    return FigureKind(row["description"], rows, row["hint"], is_of_data=of_data, is_declared=declared)


@dataclass(frozen=True)
class FigureData:
    """Hold a study in a database; `source` None is all of them. What several kinds need is read once.

    `variants`, where there are any, are those that figures of one variant are drawn for; other figures heed them not.
    """

    db: Path
    study: Study
    source: str | None = None
    workers: Workers = None
    progress: Progress | None = None
    variants: tuple[str, ...] = ()
    _games: dict[str, pl.DataFrame | None] = field(default_factory=dict)

    @cached_property
    def trials(self) -> pl.DataFrame:
        """Return a row per trial, labelled, in the study's order. If the design's own view has other columns, a trial
        that did not end answered counts as a refusal."""
        view = self.study.design.analyses.trials_view
        with reading(self.db) as connection:
            is_typed = view in stored_views(connection) and set(_COLUMNS) <= set(connection.view(view).columns)
            if is_typed:
                rows: pl.DataFrame = frame_of(ordered_view(connection, view).select("study", *_COLUMNS))
                trials = rows.filter(pl.col("study") == self.study.name).drop("study")
            else:
                trials = _trials_of_other_designs(connection, self.study.name)
        return trials if self.source is None else trials.filter(pl.col("source") == self.source)

    @cached_property
    def topics(self) -> dict[str, pl.DataFrame]:
        # the study's own fit of today's texts; where there is none, the last one, and a column `note` says so
        with reading(self.db) as connection:
            if not set(_VIEWS) <= set(stored_views(connection)):
                return {}
            views = {name: read_view(connection, name, study=self.study.name) for name in _VIEWS}
        models = models_to_show(self.db, self.study).select(
            "call_id", note=pl.when(~pl.col("is_own")).then(pl.lit(STALE))
        )
        words = views["topic_proportions"].select(
            "call_id", "topic", words=pl.col("frex_words").str.split(", ").list.head(_N_WORDS).list.join(", ")
        )
        prevalence = (
            views["topic_prevalence"]
            .join(models, on="call_id", how="inner", maintain_order="left")
            .join(words, on=["call_id", "topic"], how="left", maintain_order="left")
        )
        labels = {condition.condition: condition.label for condition in self.study.conditions}
        numbers = {condition.label: condition.condition_no for condition in self.study.conditions}
        prevalence = prevalence.with_columns(pl.col("condition").replace(labels)).with_columns(
            condition_no=pl.col("condition").replace_strict(numbers, default=None, return_dtype=pl.Int64)
        )
        searches = views["topic_searches"].drop("searched_at", "versions", strict=False)
        return {"topic_prevalence": prevalence, "search_k": searches}

    @property
    def grains(self) -> list[dict[str, str]]:
        """Return sources, study versions and variants, in the order of the trials; without variants where the design
        has them side by side."""
        if not self.study.design.analyses.compares_variants:
            return self.trials.select(GRAIN).unique(maintain_order=True).to_dicts()
        query = "SELECT DISTINCT source, study_version FROM trials WHERE study = ? ORDER BY ALL"
        rows = fetched(self.db, query, [self.study.name])
        return [{"source": s, "study_version": version} for s, version in rows if self.source in (None, s)]

    def games(self, view: str) -> pl.DataFrame | None:
        """Return the rows of one view of games, of this study and source, with `game_variant` (the variant without the
        format of answers); None if there are none, or the database was made before there was such a view.
        """
        if view not in self._games:
            rows = rows_if_kept(self.db, view, study=self.study.name, source=self.source)
            self._games[view] = with_game_variant(rows, self.study.variants) if rows.height else None
        return self._games[view]

    @cached_property
    def model_labels(self) -> pl.DataFrame:
        """Return the columns study_version, model, model_label, model_no of the study's runs."""
        models = view_rows(self.db, "models", study=self.study.name)
        return models.select("study_version", "model", "model_no", model_label="label")

    @cached_property
    def labels(self) -> pl.DataFrame:
        """Return the columns LABELS of each model and test that there are trials of, by study version."""
        return self.trials.select("study_version", *LABELS).unique(["study_version", "model", "test"], keep="first")


def _trials_of_other_designs(connection: duckdb.DuckDBPyConnection, study: str) -> pl.DataFrame:
    columns = [*GRAIN, "study", "model", "test", "condition", "position", "tokens", "token_source", "outcome"]
    flags = [*columns, "is_left_out"]
    trials = frame_of(connection.view("trials").select(*flags)).filter(pl.col("study") == study, ~pl.col("is_left_out"))
    ordered = with_labels(trials, connection).sort(
        *GRAIN, "model_no", "model", "test_no", "test", "position", nulls_last=True
    )
    typed: pl.DataFrame = ordered.with_columns(
        is_refusal=pl.col("outcome") == "refused", is_valid=pl.col("outcome") == "answered"
    ).select(_COLUMNS)
    return typed


_SPECIFICATION_COLUMNS = (
    *(*GRAIN, "model", "test", "spec", "spec_no", "label", "unit"),
    *("estimate", "conf_low", "conf_high", "d", "d_low", "d_high", "status"),
)


def rows_to_draw(table: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Return the columns that the figure is drawn from; each dimension of the choices is a column `choice_…`.

    `labels` are those of models and tests, by study version.
    """
    row_choices = [json.loads(text or "{}") for text in table["choices"]]
    dimensions = dict.fromkeys(dimension for choices in row_choices for dimension in choices)
    columns = [
        pl.Series(f"choice_{dimension}", [choices.get(dimension) for choices in row_choices], pl.String)
        for dimension in dimensions
    ]
    rows = table.select(_SPECIFICATION_COLUMNS).with_columns(columns)
    return rows.join(labels, on=["study_version", "model", "test"], how="left", maintain_order="left")


def _specifications(data: FigureData) -> pl.DataFrame | None:
    """Return the kept rows; those of a specification that the study no longer has are no part of its curve."""
    has_it = pl.col("spec").str.split(":").list.first().is_in(list(data.study.sensitivity))
    kept = kept_specifications(data.db).filter(has_it, study=data.study.name)
    rows = kept.sort("row_no", "spec_no", maintain_order=True)
    return None if rows.is_empty() else rows_to_draw(rows, data.labels)


ROWS: dict[str, Rows] = {"specifications": _specifications}
