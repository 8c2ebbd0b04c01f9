"""Which figures a study has in a database, and the rows that each is drawn from: for every source, version, variant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import polars as pl

from analysis.cells import GRAIN
from analysis.fits import FitResult, Progress, fit
from analysis.open import read_view, stored_views
from analysis.topic_figures import kept_topics
from collector.errors import UnknownNameError
from collector.store import reading
from collector.study import Study

# By the name that people type; the R function is `plot_` and that name.
FIGURES = {
    "effect_sizes": "Cohen's d with its interval, by model and test (the paper's main figure).",
    "tokens": "The distribution of tokens, by model, test and condition.",
    "refusals": "The share of refused trials, by model, test and condition.",
    "token_steps": "A histogram of token counts, fine enough to show the steps in which a provider counts.",
    "topic_prevalence": "How large each topic is, by model, condition and test (after analyze --fit stm).",
    "search_k": "What speaks for which number of topics (after analyze topics search).",
}
_LABELS = ("model", "model_label", "model_no", "test", "test_label", "test_no")
_COLUMNS = (*GRAIN, *_LABELS, "condition", "tokens", "token_source", "is_refusal")


@dataclass(frozen=True)
class FigureRows:
    """What one figure is drawn from: the rows of one source, study version and variant; `note`: what to say with it."""

    grain: dict[str, str]
    figure: str
    rows: pl.DataFrame
    note: str | None = None


def figure_rows(
    db: str | Path,
    study: Study,
    names: Sequence[str] = (),
    source: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Iterator[FigureRows]:
    """The rows of the named figures (default: of all) that the data of `study` have something for.

    Raises UnknownNameError for an unknown figure, RError where effect sizes must be computed and R is missing.
    """
    for name in names:
        if name not in FIGURES:
            raise UnknownNameError("figure", name, FIGURES)
    wanted = names or list(FIGURES)
    trials = _trials(db, study)
    if source is not None:
        trials = trials.filter(pl.col("source") == source)
    has_sizes = "effect_sizes" in wanted and any(one.engine == "effect_size" for one in study.fits.values())
    sizes = fit("effect_size", db, study, workers=workers, progress=progress) if has_sizes else None
    topics = kept_topics(db, study) if {"topic_prevalence", "search_k"} & set(wanted) else {}
    for values, rows in trials.group_by(GRAIN, maintain_order=True):
        grain = dict(zip(GRAIN, map(str, values), strict=True))
        found = {
            "effect_sizes": None if sizes is None else _effects(sizes, rows, grain),
            "tokens": rows.filter(pl.col("tokens").is_not_null() & ~pl.col("is_refusal")),
            "refusals": _refusals(rows),
            "token_steps": rows.filter(pl.col("tokens").is_not_null()).drop("test_label", "condition"),
            **{name: frame.filter(is_of(grain)) for name, frame in topics.items()},
        }
        for name in wanted:
            frame = found.get(name)
            if frame is not None and frame.height:
                note = frame["note"][0] if "note" in frame.columns else None
                yield FigureRows(grain, name, frame.drop("note", strict=False), note)


def is_of(grain: dict[str, str]) -> pl.Expr:
    """The rows of this source, study version and variant."""
    return pl.all_horizontal(pl.col(name) == value for name, value in grain.items())


def _trials(db: str | Path, study: Study) -> pl.DataFrame:
    """One row a trial, with labels. A study without a typed view of its own calls refusal what did not end answered."""
    view = f"{study.name}_trials"
    with reading(db) as connection:
        if view in stored_views(connection):
            typed: pl.DataFrame = connection.view(view).select(*_COLUMNS).pl()
            return typed
        return _untyped(connection, study.name)


def _untyped(connection: duckdb.DuckDBPyConnection, study: str) -> pl.DataFrame:
    columns = [*GRAIN, "study", "model", "test", "condition", "position", "tokens", "token_source", "outcome"]
    flags = [*columns, "is_left_out"]
    trials = connection.view("trials").select(*flags).pl().filter(pl.col("study") == study, ~pl.col("is_left_out"))
    for name in ("model", "test"):
        named = read_view(connection, f"{name}s").rename({"label": f"{name}_label"})
        labels = named.select("study", "study_version", name, f"{name}_label", f"{name}_no")
        trials = trials.join(labels, on=["study", "study_version", name], how="left", maintain_order="left")
    ordered = trials.sort(*GRAIN, "model_no", "model", "test_no", "test", "position", nulls_last=True)
    labelled = [pl.coalesce(f"{name}_label", name).alias(f"{name}_label") for name in ("model", "test")]
    shown: pl.DataFrame = ordered.with_columns(*labelled, is_refusal=pl.col("outcome") != "answered").select(_COLUMNS)
    return shown


def _effects(sizes: FitResult, trials: pl.DataFrame, grain: dict[str, str]) -> pl.DataFrame:
    first = sizes.diagnostics["fit"].first()
    named = trials.select(_LABELS).unique(["model", "test"], maintain_order=True)
    of_it = sizes.diagnostics.filter(is_of(grain), pl.col("fit") == first)
    effects = sizes.table.filter(is_of(grain), pl.col("fit") == first).drop_nulls(["model", "test"])
    for more in (named, of_it.select("model", "test", "token_source")):
        effects = effects.join(more, on=["model", "test"], how="inner", maintain_order="left")
    return effects


def _refusals(trials: pl.DataFrame) -> pl.DataFrame:
    counts = [pl.len().alias("n_trials"), pl.col("is_refusal").sum().alias("n_refusals")]
    keys = [*GRAIN, *_LABELS, "condition"]
    return trials.drop_nulls("condition").group_by(keys, maintain_order=True).agg(*counts)
