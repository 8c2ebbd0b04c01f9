"""Pool the effects of tests and models into one number. R's meta_analysis() does it; here they are fitted, and put into
one unit.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from slant.analysis.calls.call import Call, answered
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.results import Progress
from slant.analysis.fitting.choices import crossed_choices, read_choices
from slant.analysis.fitting.fit_plan import plan_fits
from slant.analysis.fitting.fits import fit
from slant.analysis.questions.checks.check_calls import conditions_in
from slant.analysis.questions.checks.trials import (
    CELL,
    SIGN_KEPT,
    has_mixed_fit,
    mixed_fit,
    read_trials,
    refusals_call,
    with_signs,
)
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.result_warnings import grouped_doubts, mixture_warnings
from slant.analysis.rows.study_choice import study_in
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError, StudyError, UsageError
from slant.collector.keep.database import opens_once
from slant.collector.studies.catalogue import Study, fits_of
from slant.collector.study.crossed_fits import CROSSED, crossed_fit

Effects = Literal["crossed", "paper"]
Unit = Literal["sd", "outcome", "log_ratio"]
EFFECTS: dict[Effects, tuple[str, str]] = {
    "crossed": ("estimate", "std_error"),
    "paper": ("reference_estimate", "reference_std_error"),
}
MIN_CELLS = 3


@dataclass(frozen=True)
class MetaAnalysis:
    """Hold what `meta_analysis()` found.

    table: for each source, study_version and variant the rows that R's meta_analysis() describes: row ("cell", "mean",
    "new_test", "new_model", "new_cell", "tau_test", "tau_model", "tau_cell"), model, test, estimate, std_error, df,
    p_value, conf_low, conf_high, n, is_sign_kept_by_missing (of cells: whether missing answers leave the effect its
    sign, whatever they would have been), status, messages. warnings: what is doubtful, in sentences.
    """

    table: pl.DataFrame
    warnings: list[str]


@checked_arguments()
@opens_once
def meta_analysis(
    db: str | Path,
    study: str | Study | None = None,
    effects: Effects = "crossed",
    unit: Unit = "sd",
    source: str | None = None,
    measure: str | None = None,
    alpha: float = 0.05,
    workers: Workers = None,
    refit: bool = False,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> MetaAnalysis:
    """Return the mean effect over the tests and models of `study`, how much they vary, and what to expect of new ones.

    `effects`: "crossed", from the fit over words and wordings, or "paper", from the study's own mixed model. `unit`:
    "sd", standard deviations of the outcome within conditions (models that count differently can be compared),
    "outcome", or "log_ratio", the logarithm of the ratio of the conditions' means (for counts that differ by a factor
    between models, as tokens of other tokenizers do; with the standard error of the delta method). Fits are taken from
    the database if they are unchanged, and kept there. For forced choices the effects are differences in the share of
    consistent answers (the unit "outcome"), second condition minus first, over words and wordings; they are not kept.
    `workers` and `executor` are as for `fit()`.

    Raise UsageError for another value, StudyError for a study without a mixed model, DatabaseError for fewer than
    three effects, RError without R or its package metafor.
    """
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must lie between 0 and 1, not at {alpha:g}.")
    study = study_in(db, study, can_pool, "has effects of conditions that could be pooled")
    if not can_pool(study):
        raise StudyError(
            f'Can\'t pool effects of "{study.name}": pooled are those of a mixed model of counts by model and test, or '
            "of forced choices, and it has neither.",
            "For another study: --study NAME",
        )
    answering = executor or workers
    if study.design.analyses.choice:
        if unit == "log_ratio":
            raise UsageError("Forced choices have no ratio of counts.", "To pool their differences: --unit outcome")
        rows, doubtful = _of_choices(db, study, effects, source, answering, progress), []
    else:
        crossed = fits_of(study).get(CROSSED, crossed_fit(mixed_fit(study)))
        n_cells = len(plan_fits(db, study, crossed, source=source, measure=measure))
        if n_cells < MIN_CELLS:  # before they are fitted
            raise _too_few(n_cells)
        result = fit(
            db, study, crossed.name, source=source, measure=measure, workers=answering, refit=refit, progress=progress
        )
        rows = result.diagnostics.select(CELL)
        rows = rows.join(result.tables[CROSSED]["effects"], on=CELL, how="left", maintain_order="left")
        trials = read_trials(db, study, source, measure)
        rows = with_signs(rows, answered(refusals_call(trials, mixed_fit(study)), answering))
        if unit == "log_ratio":
            rows = _log_ratios(rows, result.table, effects)
        doubtful = list(map(str, grouped_doubts([result.diagnostics])))
    call = pooling(rows, alpha, effects, unit)
    if call is None:
        raise _too_few(rows.drop_nulls(["estimate", "std_error"]).height)
    table: pl.DataFrame = answered(call, answering)
    r_messages = [text for text in table["messages"].unique(maintain_order=True) if text]
    warnings = [*mixture_warnings(db, study.name, source, measure), *doubtful, *r_messages]
    return MetaAnalysis(table, warnings)


def _too_few(number: int) -> DatabaseError:
    return DatabaseError(
        f"It takes the effects of {MIN_CELLS} tests and models to pool them; there are {number} here.",
        "To list them: analyze tables effects_over_words",
    )


def can_pool(study: Study) -> bool:
    """Return whether it has effects of conditions by model and test."""
    return bool(study.design.analyses.choice) or has_mixed_fit(study)


def _log_ratios(rows: pl.DataFrame, estimates: pl.DataFrame, effects: Effects) -> pl.DataFrame:
    """Return the effects of the fit `crossed` as log((m + e / 2) / (m - e / 2)), m the mean of both conditions, its
    intercept.

    The conditions are coded -1/2 and 1/2, so that m and e are independent in a balanced design. Cells whose mean is not
    above half of the effect have no ratio.
    """
    if effects != "crossed":
        raise UsageError(
            "Ratios need the means over words and wordings, not the study's own model.",
            "Remove --effects paper",
        )
    means = estimates.filter(term="intercept").select(*CELL, mean="estimate", mean_error="std_error")
    rows = rows.join(means, on=CELL, how="left", maintain_order="left")
    product = pl.col("mean") ** 2 - pl.col("estimate") ** 2 / 4
    is_ratio = (pl.col("mean") > 0) & (product > 0)
    other, reference = (pl.col("mean") + sign * pl.col("estimate") / 2 for sign in (1, -1))
    variance = (pl.col("mean") * pl.col("std_error")) ** 2 + (pl.col("estimate") * pl.col("mean_error")) ** 2
    return rows.with_columns(
        estimate=pl.when(is_ratio).then((other / reference).log()),
        std_error=pl.when(is_ratio).then(variance.sqrt() / product),
    )


def _of_choices(
    db: str | Path, study: Study, effects: Effects, source: str | None, workers: Workers, progress: Progress | None
) -> pl.DataFrame:
    if effects != "crossed":
        raise UsageError(
            f'The own model of "{study.name}" covers all models and tests together: it has no separate effects.',
            "To pool those over words and wordings: --effects crossed",
        )
    rows = crossed_choices(db, study, source, workers, progress)["effects"]
    trials, choice = read_choices(db, study, source), study.design.analyses.choice
    sides = {"by": list(CELL), "outcome": choice, "contrast": "condition", "levels": conditions_in(trials)}
    call = Call("check_missing_bounds", trials.select(*CELL, "condition", choice), sides)
    return with_signs(rows, answered(call, workers))


def pooling(rows: pl.DataFrame, alpha: float, effects: Effects = "crossed", unit: Unit = "sd") -> Call | None:
    """Return the call that pools the effects of `rows` (of the fit `crossed`, one row per cell) within each source,
    study version and variant that has enough of them; None if none has.
    """
    scale = pl.col("sd") if unit == "sd" else pl.lit(1.0)
    estimate, std_error = (pl.col(name) / scale for name in EFFECTS[effects])
    signs = [name for name in (SIGN_KEPT,) if name in rows.columns]
    cells = rows.select(*CELL, *signs, estimate=estimate, std_error=std_error)
    is_known = pl.col("estimate").is_not_null() & pl.col("std_error").is_not_null()
    cells = cells.filter(is_known.sum().over(GRAIN) >= MIN_CELLS)
    if cells.is_empty():
        return None
    return Call("meta_analysis", cells, {"by": list(GRAIN), "alpha": alpha}, packages=("metafor",))
