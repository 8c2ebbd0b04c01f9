"""Pool the effects of tests and models into one number. R's meta_analysis() does it; here they are fitted, and put into
one unit.

Correlate measures of the same models, by R's convergent_validity(): do they agree?
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import combinations
from math import isfinite
from pathlib import Path
from statistics import NormalDist
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
from slant.analysis.questions.games.indices import INDICES, has_games, index_of_models
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.result_warnings import grouped_doubts, mixture_warnings
from slant.analysis.rows.study_choice import study_in
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError, StudyError, UnknownNameError, UsageError, check_known
from slant.collector.keep.database import opens_once
from slant.collector.studies.catalogue import Study, fits_of
from slant.collector.study.crossed_fits import CROSSED, crossed_fit
from slant.collector.study.folder import csv_rows, read_text

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
            "Ratios need the means over words and wordings, not the study's own model.", "Remove --effects paper"
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


_MEASURE = re.compile(r"(?P<study>[\w.-]+?)(?:@(?P<variant>\w+))?\.(?P<fit>\w+)(?::(?P<term>.+))?")
_D = "d"
_ENGINES_OF_D = ("effect_size", "t_test")
"""Resolve `d`: Cohen's d, or else the mean of D."""
_TO_ERROR = 1 / (2 * NormalDist().inv_cdf(0.975))
UNIT = ("source", "model", "test")


@dataclass(frozen=True)
class Validity:
    """Hold what `validity()` found.

    table: for each source and pair of measures the rows that R's convergent_validity() describes: measure_x, measure_y,
    row ("pearson", "spearman", "corrected", "between_models", "between_tests", "within_cells", "pearson_without",
    "corrected_without"), left_out, estimate, conf_low, conf_high (missing under five models), p_value, n, n_models,
    n_tests, status, messages. units: one row per pair and unit: x, x_error, y, y_error.
    warnings: what is doubtful, and how many units have no counterpart, in sentences.
    """

    table: pl.DataFrame
    units: pl.DataFrame
    warnings: list[str]


@checked_arguments()
@opens_once
def validity(
    db: str | Path,
    measures: Sequence[str],
    source: str | None = None,
    alpha: float = 0.05,
    workers: Workers = None,
    refit: bool = False,
    progress: Progress | None = None,
    executor: Executor | None = None,
    scores: str | Path | None = None,
) -> Validity:
    """Correlate measures over models and tests, plainly and with the errors of both taken into account.

    `measures`: two or more, each "STUDY.FIT" (the estimate of a fit with one effect for each model and test), or
    "STUDY.FIT:TERM" for a fit with several; "STUDY.d" is Cohen's d, or the mean of D, and "STUDY@VARIANT.FIT" is of a
    variant. All pairs are compared. A unit is a model and test of the same names in both studies. If a fit gives no
    standard error, it is taken from its 95 % interval. Fits are taken from the database if they are unchanged.
    `workers` and `executor` are as for `fit()`. `scores`: a CSV of other scores of the models (`model`, `score`,
    `std_error`, 0 for an exact one), a benchmark's; each measure's mean over tests is set beside them, and regressed on
    them (the row "slope").

    Raise UsageError for fewer than two measures or one that can't be read, UnknownNameError for an unknown fit or term,
    DatabaseError if no unit has two measures.
    """
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must lie between 0 and 1, not at {alpha:g}.")
    if scores is None and len(set(measures)) < 2:
        raise UsageError("A comparison needs two measures.", "As in: rmiat.d, word_association.d")
    warnings: list[str] = []
    answering = executor or workers
    fits = _Fits(db, source, answering, refit, progress, warnings)
    values = {measure: _values(fits, measure) for measure in dict.fromkeys(measures)}
    if scores is None:
        pairs = [_pair(x, y, values, warnings) for x, y in combinations(values, 2)]
    else:
        pairs = [with_scores(measure, values[measure], Path(scores), warnings) for measure in values]
    units = pl.concat(pairs)
    if units.is_empty():
        raise DatabaseError(
            "No model and test have two of these measures.", "Units are matched by the names of models and tests."
        )
    by = ["source", "measure_x", "measure_y"]
    table: pl.DataFrame = answered(Call("convergent_validity", units, {"by": by, "alpha": alpha}), answering)
    warnings += [text for text in table["messages"].unique(maintain_order=True) if text]
    return Validity(table, units, warnings)


@dataclass(frozen=True)
class _Fits:
    """Hold where fits are taken from and how they are made; `warnings` about them are added."""

    db: str | Path
    source: str | None
    workers: Workers
    refit: bool
    progress: Progress | None
    warnings: list[str]


def _values(fits: _Fits, measure: str) -> pl.DataFrame:
    """Return UNIT, value, error and labels: one row for each model and test that has this measure."""
    match = _MEASURE.fullmatch(measure)
    if match is None:
        raise UsageError(
            f'"{measure}" is not a measure.', "A measure is a study and one of its fits: rmiat.d, decision.bias"
        )
    study = study_in(fits.db, match["study"])
    if has_games(study) and match["fit"] in INDICES:
        how = (fits.source, fits.workers, fits.refit, fits.progress)
        rows = index_of_models(fits.db, study, match["fit"], match["variant"], *how)
    else:
        rows = _of_fit(fits, study, match["fit"], match["variant"])
    rows = rows.filter(pl.col("term") == _term(rows, match["term"], measure))
    if rows.select(UNIT).is_duplicated().any():
        raise UsageError(f"The database holds {study.name} in several versions.", "Choose one: --study-version VERSION")
    labels, numbers = {m.model: m.label for m in study.models}, {t.test: t.test_no for t in study.tests}
    half_width = (pl.col("conf_high") - pl.col("conf_low")) * _TO_ERROR
    return rows.select(
        *UNIT,
        pl.col("model").replace(labels).alias("model_label"),
        pl.col("test").replace_strict(numbers, default=None, return_dtype=pl.Int32).alias("test_no"),
        pl.col("estimate").alias("value"),
        pl.coalesce("std_error", half_width).alias("error"),
    ).drop_nulls(["value", "error"])


def _of_fit(fits: _Fits, study: Study, name: str, variant: str | None) -> pl.DataFrame:
    """Return the estimates of the fit `name` in this variant, or the study's first."""
    known = fits_of(study)
    if name == _D and name not in known:
        name = next((fit.name for engine in _ENGINES_OF_D for fit in known.values() if fit.engine == engine), name)
    if name not in known:
        raise UnknownNameError(f"fit of {study.name}", name, [*known, *(INDICES if has_games(study) else (_D,))])
    if set(known[name].by) != {"model", "test"}:
        raise UsageError(
            f'The fit "{name}" of {study.name} doesn\'t cover each model and test, so it is no measure of them.'
        )
    result = fit(
        fits.db, study, name, source=fits.source, workers=fits.workers, refit=fits.refit, progress=fits.progress
    )
    mixtures = mixture_warnings(fits.db, study.name, fits.source, None)
    fits.warnings.extend([*mixtures, *map(str, grouped_doubts([result.diagnostics]))])
    rows = result.table.filter(pl.col("variant") == (variant or study.variants[0]))
    if rows.is_empty():
        variants = result.table["variant"].unique(maintain_order=True).to_list()
        raise UnknownNameError(f"variant of {study.name} with the fit {name}", variant or study.variants[0], variants)
    return rows


def _term(rows: pl.DataFrame, wanted: str | None, measure: str) -> str:
    """Return the intended term: the named one, the only one, or the only one besides the intercept."""
    terms = rows["term"].unique(maintain_order=True).to_list()
    if wanted is not None:
        check_known(f"term of {measure.partition(':')[0]}", wanted, terms)
        return wanted
    effects = [term for term in terms if term != "intercept"] or terms
    if len(effects) > 1:
        raise UsageError(f'"{measure}" has several terms: {", ".join(terms)}.', f"Name one: {measure}:{effects[0]}")
    return str(effects[0])


def with_scores(measure: str, values: pl.DataFrame, file: Path, warnings: list[str]) -> pl.DataFrame:
    """Return a unit for each model: its score in a file, and its measure, the mean over tests."""
    scores = _scores(file)
    by_label = dict(values.select("model_label", "model").iter_rows())
    scores = scores.with_columns(pl.col("model").replace(by_label))
    n, label = pl.len(), pl.col("test").first()
    means = values.group_by("source", "model", "model_label", maintain_order=True).agg(
        pl.when(n == 1).then(label).otherwise(pl.format("{} tests", n)).alias("test"),
        pl.lit(1, pl.Int32).alias("test_no"),
        pl.col("value").mean(),
        pl.col("error").pow(2).sum().sqrt() / n,
    )
    of_scores = means.drop("value", "error").join(scores, on="model", maintain_order="left")
    if unknown := sorted(set(scores["model"]) - set(means["model"])):
        warnings.append(f"{file.name} has models that {measure} lacks: {', '.join(unknown)}.")
    return _pair(file.stem, measure, {file.stem: of_scores, measure: means}, warnings)


def _scores(file: Path) -> pl.DataFrame:
    """Return a file's scores as model, value, error; UsageError for one that can't be read."""
    rows = csv_rows(read_text(file), file.name, ("model", "score", "std_error"), ())
    try:
        numbers = [(row["model"], float(row["score"]), float(row["std_error"])) for row in rows]
    except ValueError as error:
        raise UsageError(
            f"{file.name} has a score or a standard error that is no number ({error}).",
            "Its columns are model, score and std_error; the error of a score that is exact is 0.",
        ) from None
    models = [model for model, _, _ in numbers]
    if len(set(models)) < len(models) or any(not isfinite(value) or error < 0 for _, value, error in numbers):
        raise UsageError(f"{file.name} must have one row for each model, a finite score, and an error of 0 or more.")
    return pl.DataFrame(numbers, schema={"model": pl.String, "value": pl.Float64, "error": pl.Float64}, orient="row")


def _pair(x: str, y: str, found: dict[str, pl.DataFrame], warnings: list[str]) -> pl.DataFrame:
    """Return the units that have both measures; a sentence says how many have only one of them."""
    left = found[x].rename({"value": "x", "error": "x_error"})
    right = found[y].select(*UNIT, pl.col("value").alias("y"), pl.col("error").alias("y_error"))
    both = left.join(right, on=UNIT, how="inner", maintain_order="left")
    alone = [f"{frame.height - both.height} of {frame.height} of {name}" for name, frame in ((x, left), (y, right))
             if frame.height > both.height]  # fmt: skip
    if alone:
        warnings.append(f"Models and tests without a counterpart are excluded: {', '.join(alone)}.")
    return both.with_columns(measure_x=pl.lit(x), measure_y=pl.lit(y))
