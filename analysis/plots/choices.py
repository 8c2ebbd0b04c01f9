"""Figures of forced choices: the two-stage Bayesian analysis and null distributions, from fits and permutations that
were kept, never from new ones.
"""

from __future__ import annotations

import polars as pl

from slant.analysis.fitting.bayes_fits import fits_to_show, stale_fit_warning
from slant.analysis.plots.figure_data import FigureData, FigureKind
from slant.analysis.questions.calibration import last_calibrations
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.views import read_view, stored_views
from slant.collector.keep.database import reading

_CELL = ["model", "test", "condition"]


def _rows(data: FigureData, view: str, outcome: str | None = None) -> pl.DataFrame | None:
    """Return the rows of the shown fits in a view of bayes_…, labelled."""
    fits = fits_to_show(data.db, data.study)
    if fits.is_empty():
        return None
    with reading(data.db) as connection:
        view_rows = read_view(connection, view)
    note = pl.when(~pl.col("is_own")).then(pl.lit(stale_fit_warning(data.study.name)))
    fit_notes = fits.select("call_id", note=note, fit_no=pl.int_range(pl.len()))
    rows = view_rows.join(fit_notes, on="call_id", how="inner", maintain_order="left")
    rows = rows.filter(pl.col("outcome") == outcome) if outcome else rows
    keys = ["study_version", "model", "test"]
    labelled = rows.join(data.labels, on=keys, how="left", maintain_order="left")
    ordered = labelled.sort(*GRAIN, "fit_no", "model_no", "test_no", maintain_order=True)
    return _with_conditions(ordered, data) if "condition" in ordered.columns else ordered


def _with_conditions(rows: pl.DataFrame, data: FigureData) -> pl.DataFrame:
    """Return the rows with condition_label and condition_no, as the study has them."""
    conditions = pl.DataFrame(
        [(condition.condition, condition.label, condition.condition_no) for condition in data.study.conditions],
        schema={"condition": pl.String, "condition_label": pl.String, "condition_no": pl.Int64},
        orient="row",
    )
    return rows.join(conditions, on="condition", how="left", maintain_order="left")


def compared_conditions(rows: pl.DataFrame, data: FigureData) -> pl.DataFrame:
    """Return the rows with `reference` and `compared`: the labels of the two conditions whose difference they are."""
    first, second = (condition.label for condition in data.study.conditions[:2])
    return rows.with_columns(reference=pl.lit(first), compared=pl.lit(second))


def _compliance(data: FigureData) -> pl.DataFrame | None:
    rows = _rows(data, "bayes_predictions", "is_valid")
    if rows is None:
        return None
    observed = data.trials.group_by(*GRAIN, *_CELL).agg(observed=pl.col("is_valid").mean())
    return _in_parts(rows.join(observed, on=[*GRAIN, *_CELL], how="left", maintain_order="left"))


def _condition_contrasts(data: FigureData) -> pl.DataFrame | None:
    rows = _in_parts(_rows(data, "bayes_contrasts", "is_consistent"))
    return None if rows is None else compared_conditions(rows, data)


def _predictive_checks(data: FigureData) -> pl.DataFrame | None:
    """Return shares of ones in each cell; of counts, where a model has such, the share of zeros."""
    rows = _rows(data, "bayes_checks")
    if rows is None:
        return None
    has_zeros = (pl.col("observed") > 0).any().over(*GRAIN, "fit", "model")
    is_shown = (pl.col("statistic") == "share") | ((pl.col("statistic") == "zeros") & has_zeros)
    return rows.filter(is_shown).drop_nulls(_CELL).with_columns(part=pl.col("fit"))


def _permutations(data: FigureData) -> pl.DataFrame | None:
    """Return the last test of each engine. glmer's ΔP is shown averaged over items: for a median item it is little
    worth where its random effects grow large. A model with random slopes has no such average, and is shown as it is.
    """
    with reading(data.db) as connection:
        if not {"permutation_tests", "permutation_values"} <= set(stored_views(connection)):
            return None
        tests = read_view(connection, "permutation_tests", study=data.study.name, scale="delta_p")
        values = read_view(connection, "permutation_values")
    last = tests.group_by(*GRAIN, "engine").agg(pl.col("permutation_id").sort_by("finished_at").last())
    rows = values.join(last.select("permutation_id"), on="permutation_id", how="semi", maintain_order="left")
    has_items = pl.col("delta_p_items").is_not_null().any().over("permutation_id")
    is_averaged = (pl.col("engine") == "lme4") & has_items
    draws = rows.drop_nulls("model").select(
        *GRAIN,
        "number",
        "model",
        "model_label",
        "model_no",
        "test",
        "test_label",
        "test_no",
        delta_p=pl.when(is_averaged).then("delta_p_items").otherwise("delta_p"),
        kind=pl.when(is_averaged).then(pl.lit("item_averaged")).otherwise(pl.lit("population")),
        part="engine",
    )
    return None if draws.is_empty() else compared_conditions(draws, data)


def _calibration(data: FigureData) -> pl.DataFrame | None:
    """Return the last calibration of each Bayesian fit, a part each."""
    with reading(data.db) as connection:
        if not {"calibration_summary", "calibration_ranks"} <= set(stored_views(connection)):
            return None
        summary = read_view(connection, "calibration_summary", study=data.study.name)
        ranks = read_view(connection, "calibration_ranks")
    last = last_calibrations(summary).select("calibration_id").unique()
    rows = ranks.join(last, on="calibration_id", how="semi", maintain_order="left")
    part = pl.concat_str("fit", "model", "test", separator=" ", ignore_nulls=True)
    figure_columns = ("number", "quantity", "rank", "n_draws", "status")
    return None if rows.is_empty() else rows.select(*GRAIN, *figure_columns, part=part)


def _in_parts(rows: pl.DataFrame | None) -> pl.DataFrame | None:
    """Return a part for each fit where a study has several of one outcome."""
    if rows is None or rows.unique([*GRAIN, "fit"]).height == rows.unique(GRAIN).height:
        return rows
    return rows.with_columns(part=pl.col("fit"))


_HINT = "analyze --fit brms --study {study}"
KINDS = {
    "compliance": FigureKind(
        "Valid answers by model, test and condition, as predicted and as observed (after analyze --fit brms).",
        _compliance, _HINT,
    ),
    "condition_contrasts": FigureKind(
        "The difference between the conditions in consistency, by model and test (after analyze --fit brms).",
        _condition_contrasts, _HINT,
    ),
    "predictive_checks": FigureKind(
        "Observed values and a fit's predictions, cell by cell (after analyze --fit brms).", _predictive_checks, _HINT
    ),
    "permutations": FigureKind(
        "The observed difference between conditions next to those of arbitrary labels (after analyze permute).",
        _permutations, "analyze permute --study {study}",
    ),
    "calibration": FigureKind(
        "Ranks of truths among posterior draws, compared with those of a correct sampler (after analyze calibrate).",
        _calibration, "analyze calibrate --study {study}",
    ),
}  # fmt: skip
