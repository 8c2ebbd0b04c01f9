"""Correlate measures of the same models: do they agree? R's convergent_validity() does it; here each is taken from the
fits of its study, and units are matched by model and test.
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

import polars as pl

from slant.analysis.calls.call import Call, answered
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.results import Progress
from slant.analysis.fitting.fits import fit
from slant.analysis.rows.result_warnings import grouped_doubts, mixture_warnings
from slant.analysis.rows.study_choice import study_in
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError, UnknownNameError, UsageError
from slant.collector.keep.database import opens_once
from slant.collector.studies.catalogue import fits_of
from slant.collector.study.folder import csv_rows, read_text

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
    values = {
        measure: _values(db, measure, source, answering, refit, progress, warnings)
        for measure in dict.fromkeys(measures)
    }
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


def _values(
    db: str | Path,
    measure: str,
    source: str | None,
    workers: Workers,
    refit: bool,
    progress: Progress | None,
    warnings: list[str],
) -> pl.DataFrame:
    """Return UNIT, value, error and labels: one row for each model and test that has this measure."""
    match = _MEASURE.fullmatch(measure)
    if match is None:
        raise UsageError(
            f'"{measure}" is not a measure.', "A measure is a study and one of its fits: rmiat.d, decision.bias"
        )
    study = study_in(db, match["study"])
    fits = fits_of(study)
    name = match["fit"]
    if name == _D and name not in fits:
        name = next((fit.name for engine in _ENGINES_OF_D for fit in fits.values() if fit.engine == engine), name)
    if name not in fits:
        raise UnknownNameError(f"fit of {study.name}", name, [*fits, _D])
    if set(fits[name].by) != {"model", "test"}:
        raise UsageError(
            f'The fit "{name}" of {study.name} doesn\'t cover each model and test, so it is no measure of them.'
        )
    result = fit(db, study, name, source=source, workers=workers, refit=refit, progress=progress)
    warnings += [*mixture_warnings(db, study.name, source, None), *map(str, grouped_doubts([result.diagnostics]))]
    variant = match["variant"] or study.variants[0]
    rows = result.table.filter(pl.col("variant") == variant)
    if rows.is_empty():
        known = result.table["variant"].unique(maintain_order=True).to_list()
        raise UnknownNameError(f"variant of {study.name} with the fit {name}", variant, known)
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


def _term(rows: pl.DataFrame, wanted: str | None, measure: str) -> str:
    """Return the intended term: the named one, the only one, or the only one besides the intercept."""
    terms = rows["term"].unique(maintain_order=True).to_list()
    if wanted is not None:
        if wanted not in terms:
            raise UnknownNameError(f"term of {measure.partition(':')[0]}", wanted, terms)
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
