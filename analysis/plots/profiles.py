"""Figures of profiles whose attributes change: what is answered at each level of each attribute, by question.

Figures of forced choices: the two-stage Bayesian analysis and null distributions, from fits and permutations that
were kept, never from new ones."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

import polars as pl

from slant.analysis.calls.call import Call, answered
from slant.analysis.fitting.engines import ENGINES
from slant.analysis.fitting.fits import fit
from slant.analysis.fitting.frames import CELL, fits_to_show, stale_fit_warning
from slant.analysis.plots.figure_data import FigureData, Rows
from slant.analysis.questions.calibration import last_calibrations
from slant.analysis.rows.cells import GRAIN, LABELS
from slant.analysis.rows.views import rows_if_kept, view_rows
from slant.collector.provenance.methods import listed
from slant.collector.sources import sources_that
from slant.collector.studies.catalogue import fits_of

_CELL = ["model", "test", "condition"]


def _fit_rows(data: FigureData, view: str, outcome: str | None = None) -> pl.DataFrame | None:
    """Return the rows of the shown fits in a view of bayes_…, labelled."""
    fits = fits_to_show(data.db, data.study)
    if fits.is_empty():
        return None
    own = view_rows(data.db, view)
    note = pl.when(~pl.col("is_own")).then(pl.lit(stale_fit_warning(data.study.name)))
    fit_notes = fits.select("call_id", note=note, fit_no=pl.int_range(pl.len()))
    rows = own.join(fit_notes, on="call_id", how="inner", maintain_order="left")
    rows = rows.filter(pl.col("outcome") == outcome) if outcome else rows
    keys = ["study_version", "model", "test"]
    labelled = rows.join(data.labels, on=keys, how="left", maintain_order="left")
    ordered = labelled.sort(*GRAIN, "fit_no", "model_no", "test_no", maintain_order=True)
    if "condition" not in ordered.columns:
        return ordered
    conditions = pl.DataFrame(
        [(condition.condition, condition.label, condition.condition_no) for condition in data.study.conditions],
        schema={"condition": pl.String, "condition_label": pl.String, "condition_no": pl.Int64},
        orient="row",
    )
    return ordered.join(conditions, on="condition", how="left", maintain_order="left")


def compared_conditions(rows: pl.DataFrame, data: FigureData) -> pl.DataFrame:
    """Return the rows with `reference` and `compared`: the labels of the two conditions whose difference they are."""
    first, second = (condition.label for condition in data.study.conditions[:2])
    return rows.with_columns(reference=pl.lit(first), compared=pl.lit(second))


def _compliance(data: FigureData) -> pl.DataFrame | None:
    rows = _fit_rows(data, "bayes_predictions", "is_valid")
    if rows is None:
        return None
    observed = data.trials.group_by(*GRAIN, *_CELL).agg(observed=pl.col("is_valid").mean())
    return _in_parts(rows.join(observed, on=[*GRAIN, *_CELL], how="left", maintain_order="left"))


def _condition_contrasts(data: FigureData) -> pl.DataFrame | None:
    rows = _in_parts(_fit_rows(data, "bayes_contrasts", "is_consistent"))
    return None if rows is None else compared_conditions(rows, data)


def _predictive_checks(data: FigureData) -> pl.DataFrame | None:
    """Return shares of ones in each cell; of counts, where a model has such, the share of zeros."""
    rows = _fit_rows(data, "bayes_checks")
    if rows is None:
        return None
    has_zeros = (pl.col("observed") > 0).any().over(*GRAIN, "fit", "model")
    is_shown = (pl.col("statistic") == "share") | ((pl.col("statistic") == "zeros") & has_zeros)
    return rows.filter(is_shown).drop_nulls(_CELL).with_columns(part=pl.col("fit"))


def _permutations(data: FigureData) -> pl.DataFrame | None:
    """Return the last test of each engine. glmer's ΔP is shown averaged over items: for a median item it is little
    worth where its random effects grow large. A model with random slopes has no such average, and is shown as it is.
    """
    tests = rows_if_kept(data.db, "permutation_tests", study=data.study.name, scale="delta_p")
    if tests.is_empty():
        return None
    values = view_rows(data.db, "permutation_values")
    last = tests.group_by(*GRAIN, "engine").agg(pl.col("permutation_id").sort_by("finished_at").last())
    rows = values.join(last.select("permutation_id"), on="permutation_id", how="semi", maintain_order="left")
    has_items = pl.col("delta_p_items").is_not_null().any().over("permutation_id")
    is_averaged = (pl.col("engine") == "lme4") & has_items
    draws = rows.drop_nulls("model").select(
        *GRAIN,
        "number",
        *LABELS,
        delta_p=pl.when(is_averaged).then("delta_p_items").otherwise("delta_p"),
        kind=pl.when(is_averaged).then(pl.lit("item_averaged")).otherwise(pl.lit("population")),
        part="engine",
    )
    return None if draws.is_empty() else compared_conditions(draws, data)


def _calibration(data: FigureData) -> pl.DataFrame | None:
    """Return the last calibration of each Bayesian fit, a part each."""
    summary = rows_if_kept(data.db, "calibration_summary", study=data.study.name)
    if summary.is_empty():
        return None
    ranks = view_rows(data.db, "calibration_ranks")
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


CHOICE_ROWS: dict[str, Rows] = {
    "compliance": _compliance,
    "condition_contrasts": _condition_contrasts,
    "predictive_checks": _predictive_checks,
    "permutations": _permutations,
    "calibration": _calibration,
}


_OVER_PROFILES = (
    "Intervals allow for the sampling of profiles, not of templates, personas and words (a mixed "
    "model with slopes of templates does)."
)
_OVER_CLUSTERS = (
    "Errors are clustered by {}: intervals allow for the sampling of these, not of other words, templates and "
    "personas (a mixed model with slopes of templates does)."
)
_OVER_MATERIALS = (
    "Intervals are over the materials that were edited. A mean absolute difference is never 0: "
    "compare it with that of the same repetitions, shuffled."
)
_OVER_PEOPLE = "Intervals are over the people who answered, with what each of them was shown."
_IS_OF_PEOPLE = ~pl.col("source").is_in(sources_that("is_of_models"))


def _note(rows: pl.DataFrame) -> pl.Expr:
    """Return the note on what the intervals are over: the clusters of errors, if R names them."""
    known = rows.filter(~_IS_OF_PEOPLE).get_column("clusters", default=pl.Series(dtype=pl.String)).drop_nulls()
    clusters = known.filter(known != "row").unique(maintain_order=True).to_list()
    over = _OVER_PROFILES if set(clusters) <= {"item"} else _OVER_CLUSTERS.format(listed(clusters))
    return pl.when(_IS_OF_PEOPLE).then(pl.lit(_OVER_PEOPLE)).otherwise(pl.lit(over)).alias("note")


def _rows(data: FigureData, figure: str) -> pl.DataFrame:
    """Return the rows of the view that the design names for this figure, levels in the order of the study."""
    rows = view_rows(data.db, data.study.design.analyses.figures[figure], study=data.study.name, source=data.source)
    places = data.study.design.analyses.factor_levels(data.study)
    attribute = pl.col("attribute").replace_strict(
        {name: at for at, name in enumerate(places)}, default=None, return_dtype=pl.Int64
    )
    order = {f"{name}\n{level}": at for name, levels in places.items() for at, level in enumerate(levels)}
    level = pl.concat_str("attribute", pl.lit("\n"), "level").replace_strict(order, default=None, return_dtype=pl.Int64)
    labelled = rows.join(data.model_labels, on=["study_version", "model"], how="left", maintain_order="left")
    keys = (*GRAIN, "part", "model_no", "model", attribute, "attribute", level, "level")
    return labelled.with_columns(part="question").sort(*keys, nulls_last=True, maintain_order=True)


def _ratings(data: FigureData) -> pl.DataFrame | None:
    rows = _rows(data, "ratings").filter(kind="scale").with_columns(category=pl.col("answer").cast(pl.Int64))
    return None if rows.is_empty() else rows.drop("study", "kind", "answer", "share")


def _marginal_means(data: FigureData) -> pl.DataFrame | None:
    """Return the mean and interval of each level, by R's marginal_means()."""
    rows = _rows(data, "marginal_means").filter(pl.col("kind").is_in(["scale", "number", "profile", "yes_no"]))
    answer = pl.when(kind="scale").then("scored").when(kind="number").then("number").otherwise("chosen")
    rows = rows.with_columns(answer=answer.cast(pl.Float64))
    rows = rows.drop_nulls("answer")
    if rows.is_empty():
        return None
    by = [*GRAIN, "part", "model", "model_label"]
    item = pl.when(_IS_OF_PEOPLE).then(pl.col("participant").cast(pl.String)).otherwise("item").alias("item")
    means: pl.DataFrame = answered(
        Call("level_means", rows.select(*by, "attribute", "level", item, "answer"), {"by": by}), data.workers
    )
    return _with_outcome(means, "part", data).with_columns(_note(means))


def _of_fit(data: FigureData, figure: str, table: str = "") -> pl.DataFrame | None:
    """Return the estimates (or `table`) of the fits of the engine that the design names for this figure, a part a
    question, levels in the order of the fit.
    """
    engine = data.study.design.analyses.figures[figure]
    fits = {name: one for name, one in fits_of(data.study).items() if one.engine == engine}
    if not fits:
        return None
    names = list(fits) if engine in fits else [engine]  # a fit of an engine's name hides the others of that engine
    parts = []
    for name in names:
        result = fit(data.db, data.study, name, source=data.source, workers=data.workers, progress=data.progress)
        if table:
            parts.append(result.tables[engine][table])
        elif own := next((name for name in ("levels", "versions") if name in ENGINES[engine].tables), None):
            levels = result.tables[engine][own]
            parts.append(
                result.table.join(levels, on=[*CELL, "term"], how="left", nulls_equal=True, maintain_order="left")
            )
        else:
            parts.append(result.table)
    rows = pl.concat(parts, how="diagonal_relaxed")
    if rows.is_empty():
        return None
    rows = rows.join(data.model_labels, on=["study_version", "model"], how="left", maintain_order="left")
    order = ["model_no", "model"]  # of the others the order of R
    flags = {one.name: one.flag or None for one in fits.values()}
    flag = pl.col("fit").replace_strict(flags, return_dtype=pl.String)
    rows = rows.with_columns(test=pl.concat_str("test", flag, separator=", ", ignore_nulls=True))
    rows = _with_outcome(rows, "test", data, flags.values()).with_columns(_note(rows), part="test")
    return rows.drop("study", "measure").sort(*GRAIN, "part", *order, nulls_last=True, maintain_order=True)


def _with_outcome(
    rows: pl.DataFrame, question: str, data: FigureData, flags: Collection[str | None] = ()
) -> pl.DataFrame:
    """Add `outcome`, the question, and `unit`, what its answers are measured in; `flags` are shares of trials."""
    measured_in, names = data.study.design.analyses.measured_in, rows[question].unique()
    units = {
        name: "share of trials" if name and name.rpartition(", ")[2] in flags else measured_in(data.study, name)
        for name in names
    }
    unit = pl.col(question).replace_strict(units, return_dtype=pl.String)
    return rows.with_columns(outcome=question, unit=unit)


def _paired(data: FigureData) -> pl.DataFrame | None:
    """Return the differences of each model, and separately those over all models."""
    rows = _of_fit(data, "paired_differences")
    if rows is None:
        return None
    over_all = pl.concat_str("test", pl.lit(", all models"))
    rows = rows.with_columns(part=pl.when(pl.col("model").is_null()).then(over_all).otherwise("test"))
    return rows.with_columns(note=pl.lit(_OVER_MATERIALS))


ROWS: dict[str, Rows] = {
    "marginal_means": _marginal_means,
    "amce": partial(_of_fit, figure="amce"),
    "impact_ratios": partial(_of_fit, figure="impact_ratios", table="ratios"),
    "interactions": partial(_of_fit, figure="interactions"),
    "paired_differences": _paired,
    "ratings": _ratings,
}
