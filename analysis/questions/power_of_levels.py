"""Plan a study of factors by simulation: which differences between levels would one model's answers find?

The study's own simulated model (`[simulation]`) answers it many times over; each data set is analysed as the answers
of a real model will be, by R's mean_contrasts().
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from slant.analysis.calls.call import computed
from slant.analysis.calls.executors import Workers
from slant.analysis.fitting.fit_plan import PlannedFit, plan_fits
from slant.collector.api import collect
from slant.collector.errors import StudyError
from slant.collector.studies.catalogue import Study, fits_of

CONTRASTS = "mean_contrasts"
_PAIR = ("test", "attribute", "first", "second")


def simulated_power(
    study: Study, n_repetitions: Sequence[int], n_data_sets: int, alpha: float = 0.05, workers: Workers = None
) -> pl.DataFrame:
    """Return one row per number of repetitions, question and pair of levels.

    Columns: n_repetitions, n_calls (of a model, to all questions), test (the question), attribute, first, second,
    estimate (the mean difference, second less first, in units of the answer), std_error (the mean of those that R
    gives), power (the share of data sets with p < alpha, two-sided and uncorrected), power_error (its Monte Carlo
    standard error), n_data_sets (those with an estimate).
    """
    if not any(respondent.utilities for respondent in study.data.simulation.values()):
        raise StudyError(
            f'A plan of "{study.name}" simulates its answers, but its file has no [simulation] with utilities.',
            "Give log odds of levels there, as in: utilities.job = { nurse = 0.4 }",
        )
    definition = fits_of(study)[CONTRASTS]
    each = replace(
        definition, by=(*definition.by, "repetition"), settings={**definition.settings, "correction": "none"}
    )
    n_asked = max(n_repetitions) * n_data_sets
    with TemporaryDirectory(prefix="slant-power-") as folder:
        db = Path(folder) / "power.duckdb"
        model = study.models[0]
        report = collect(db, study, [f"simulated/{model.model}"], repetitions=n_asked, seed=study.seed)
        planned = plan_fits(db, study, each)
    n_calls = report.models[0]["planned"] // n_asked
    found = []
    for n in n_repetitions:
        data_sets: dict[tuple[str, int], list[PlannedFit]] = {}
        for one in planned:
            number = (int(one.cell.key["repetition"]) - 1) // n
            if number < n_data_sets:
                data_sets.setdefault((str(one.cell.key["test"]), number), []).append(one)
        calls = [
            replace(parts[0].call, rows=pl.concat(part.cell.rows for part in parts)) for parts in data_sets.values()
        ]
        tests = [test for test, _ in data_sets]
        for number, answer in sorted(computed(calls, workers), key=lambda numbered: numbered[0]):
            if answer.error or not (answer.value or {}).get("tables"):
                continue  # nothing to compare in this data set, as when all was refused: n_data_sets counts the others
            own = answer.value["estimates"].select("estimate", "std_error", "p_value")
            pairs = answer.value["tables"]["contrasts"].select("attribute", "first", "second")
            found.append(
                own.hstack(pairs).with_columns(
                    test=pl.lit(tests[number]), n_repetitions=pl.lit(n), n_calls=pl.lit(n * n_calls)
                )
            )
    if not found:
        raise StudyError(
            f'In no simulated data set of "{study.name}" were there answers to compare.',
            "See what [simulation] gives: collect --study FILE --simulated",
        )
    is_found = pl.col("p_value") < alpha
    summed: pl.DataFrame = (
        pl.concat(found)
        .group_by("n_repetitions", "n_calls", *_PAIR, maintain_order=True)
        .agg(pl.col("estimate", "std_error").mean(), power=is_found.mean(), n_data_sets=pl.col("p_value").count())
    )
    error = (pl.col("power") * (1 - pl.col("power")) / pl.col("n_data_sets")).sqrt()
    return summed.select(pl.exclude("n_data_sets"), power_error=error, n_data_sets="n_data_sets")
