"""Check a Bayesian fit's sampler. R's calibrate_data_set() draws a data set from the fit's priors and
fits it; here they are requested one after another, and each is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from slant.analysis.calls.call import Call
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.results import Progress, Results, not_kept_yet, results
from slant.analysis.calls.stages import Stage, compile_here, put_together, summed_up
from slant.analysis.fitting.fit_plan import plan_fits
from slant.analysis.fitting.frames import ENGINE
from slant.analysis.fitting.repeated_fits import RepeatedFit
from slant.analysis.rows.study_choice import find_fits, no_rows_error, study_in
from slant.collector.arguments import checked_arguments
from slant.collector.errors import RError, UsageError, check_known
from slant.collector.keep.database import opens_once
from slant.collector.studies.catalogue import Study, fits_of

LEVEL = 0.05
SETTINGS = ("chains", "iterations", "warmup", "adapt_delta", "n_draws", "max_rows", "truth_priors")
"""List what a caller may set; R's calibrate() has the defaults (except adapt_delta, which the fit has)."""
_KINDS = ("thresholds_by", "disc_by")
_OF_FIT = ("formula", "levels", "priors", "coding", "family", "step")
_GRAIN = ("source", "study", "study_version", "variant", "fit", "model", "test")


@dataclass(frozen=True)
class Calibration:
    """Hold what `calibrate()` found, each frame beginning with source (of the rows that outcomes were drawn for),
    study, study_version, variant, fit, model and test (null: of all together).

    summary: one row per quantity: n, n_failed, n_doubtful, p_value …, as the view calibration_summary has them and R's
    calibrate() describes. ranks: one row per data set and quantity: truth, rank, estimate …; a fit that failed is one
    row without a quantity. fits: one row per data set: status (ok, divergent, unconverged, failed), n_divergent,
    iterations, messages, seconds. not_kept: why the results could not be written to the database; None if they were.
    """

    summary: pl.DataFrame
    ranks: pl.DataFrame
    fits: pl.DataFrame
    not_kept: str | None


@dataclass(frozen=True)
class CalibratedFit(RepeatedFit):
    """Hold one fit whose repetitions are data sets, each drawn from its priors."""

    kind = "calibration"
    function = "calibrate_data_set"
    compile_function = "compile_calibration_job"
    of_model = (*_OF_FIT, "max_rows")
    tables: ClassVar = {"fit": "calibration_fits", "quantities": "calibration_posteriors"}
    of_cell = tuple(name for name in _GRAIN if name not in ("study", "fit"))
    n_column = "n_data_sets"
    packages = ("brms", "rstan", "posterior")

    @cached_property
    def arguments(self) -> dict[str, Any]:
        of_fit = self.work.arguments
        own = {name: of_fit[name] for name in (*_OF_FIT, "adapt_delta") if of_fit.get(name) is not None}
        return {**own, "seed": self.seed, **self.settings}

    def summary(self, ranks: pl.DataFrame, fits: pl.DataFrame) -> Call:
        """Return the summary of the ranks."""
        named = ("number", "quantity", "truth", "rank", "n_draws", "estimate", "std_dev", "conf_low", "conf_high")
        return Call(
            "summarise_calibration",
            ranks.select(*named, "ess_bulk", "status"),
            about={self.kind: self.about},
            tables={"about": "calibrations", "": "calibration_quantities"},
            columns={
                **self.summary_columns(fits.height),
                "family": self.arguments.get("family", "bernoulli"),
                "priors": fits["priors"].drop_nulls().first(),
                "n_rows": fits["n_rows"].max(),
                "fit_seconds": fits["seconds"].sum(),
            },
            packages=self.packages,
        )


def can_calibrate(study: Study) -> bool:
    """Return whether it has a Bayesian fit."""
    return any(fit.engine == ENGINE for fit in fits_of(study).values())


@checked_arguments(data_sets=2, seed=0)
@opens_once
def calibrate(
    db: str | Path,
    study: str | Study | None = None,
    fit: str = ENGINE,
    data_sets: int = 200,
    seed: int = 1,
    source: str | None = None,
    workers: Workers = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Calibration:
    """Draw `data_sets` from the priors of `study`'s Bayesian fits (or of the one named `fit`), fit each, and keep its
    result: the rank of every truth among the draws of its posterior, which is uniform if all is right.

    The rows are those of the database with their columns (1,000 of them, evenly spaced, if there are more); only the
    outcome is drawn. A data set depends only on `seed` and its number. Each is kept at once: the same call after a kill
    goes on where it ended, and one with more data sets adds to the existing ones. One that failed is tried again.
    `workers` and `executor` are as for `fit()`. `settings` go to R: chains, iterations, warmup, adapt_delta, n_draws,
    max_rows; truth_priors, by class, for truths from other priors than the fits'. `progress(done, all)` is called after
    each fit.

    Raise UsageError for fewer than two data sets or a study without Bayesian fits, UnknownNameError for an unknown fit
    or setting, DatabaseError without rows, RError if no data set could be fitted.
    """
    for name in settings or {}:
        check_known("setting of a calibration", name, SETTINGS)
    study = study_in(db, study, can_calibrate, "has a Bayesian fit to calibrate")
    parts = _planned(db, study, fit, seed, source, settings or {})
    total = len(parts) * data_sets
    calibrated = [
        _run(Path(db), part, data_sets, executor or workers, Stage(progress, number * data_sets, total))
        for number, part in enumerate(parts)
    ]
    return Calibration(**put_together(calibrated, ("summary", "ranks", "fits")))


def _planned(
    db: str | Path, study: Study, fit: str, seed: int, source: str | None, settings: Mapping[str, Any]
) -> list[CalibratedFit]:
    if not can_calibrate(study):
        raise UsageError(
            f'"{study.name}" has no Bayesian fit (of the engine {ENGINE}), whose sampler could be calibrated.',
            "For another study: --study NAME",
        )
    definitions = [definition for _, definition in find_fits(fit, db, study)]
    if others := [definition for definition in definitions if definition.engine != ENGINE]:
        bayesian = [name for name, definition in fits_of(study).items() if definition.engine == ENGINE]
        raise UsageError(
            f'Can\'t calibrate "{others[0].name}", which is of the engine {others[0].engine}: it has no priors.',
            f"Bayesian fits of {study.name}: {', '.join(bayesian)}.",
        )
    for definition in definitions:
        if own := [name for name in _KINDS if definition.settings.get(name)]:
            raise UsageError(
                f'Can\'t calibrate "{definition.name}", whose {own[0]} gives parts of the rows thresholds or '
                "discriminations of their own: no such data sets are drawn yet.",
                f"Calibrate the fit without {own[0]}.",
            )
    plan = [work for definition in definitions for work in plan_fits(db, study, definition, source=source)]
    if not plan:
        raise no_rows_error("calibrate", db, source)
    return [CalibratedFit(work, seed, settings) for work in plan]


def _run(db: Path, part: CalibratedFit, n: int, workers: Workers, stage: Stage) -> Calibration:
    calls = [part.repetition(number) for number in range(1, n + 1)]
    if not_kept_yet(db, calls):
        compile_here(db, part.compile(), workers, stage)
    made = results(db, calls, workers=workers, progress=stage)
    fits, ranks = _frames(made)
    if (made.calls["status"] == "failed").all():
        raise RError("Can't calibrate: no data set could be fitted.", made.calls["messages"][0])
    summary = part.summary(ranks, fits)
    rows, not_kept = summed_up(db, summary, "calibration_quantities", workers, is_of_fewer=n < part.n_kept(db))
    named = [pl.lit(part.about[name], pl.String).alias(name) for name in _GRAIN]
    return Calibration(
        rows.drop("call_id", "term_no").select(*named, pl.all()),
        ranks.select(*named, pl.all()),
        fits.select(*named, pl.all()),
        made.not_kept or not_kept,
    )


def _frames(made: Results) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a row per data set, and a row per data set and quantity (none if the fit failed)."""
    of_calls = made.calls.select("call_id", "status", "messages", "seconds")
    fits = made.frames["calibration_fits"].drop("calibration_id")
    fits = fits.join(of_calls, on="call_id", how="left", maintain_order="left")
    posteriors = made.frames["calibration_posteriors"]
    ranks = fits.select("call_id", "number", "status", "n_divergent", "iterations").join(
        posteriors.drop("number"), on="call_id", how="left", maintain_order="left_right"
    )
    order = ("number", *(name for name in posteriors.columns if name not in ("call_id", "number", "term_no")))
    return fits.drop("call_id"), ranks.select(*order, "status", "n_divergent", "iterations")


def last_calibrations(summary: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the view calibration_summary for the last calibration of each fit."""
    ids = summary.group_by(_GRAIN, maintain_order=True).agg(pl.col("calibration_id").sort_by("finished_at").last())
    return summary.join(ids.select("calibration_id"), on="calibration_id", how="semi", maintain_order="left")


def calibration_sentences(summary: pl.DataFrame) -> Iterator[str]:
    """Say for people, for each fit, whether a quantity is off, and what is doubtful about the data sets.

    `summary`: rows of the view calibration_summary."""
    for values, rows in summary.group_by(_GRAIN, maintain_order=True):
        name = ", ".join(part for part in values[_GRAIN.index("fit") :] if part)
        off = rows.filter(pl.col("p_adjusted") < LEVEL)
        first = rows.row(0, named=True)
        of_all = f"{name}: of {rows.height} quantities in {first['n']} data sets"
        if off.height:
            worst = off.sort("p_adjusted").row(0, named=True)
            yield (
                f"{of_all}, {off.height} {'is' if off.height == 1 else 'are'} not calibrated, after Holm's correction: "
                f"{', '.join(off['quantity'])} (smallest p {worst['p_adjusted']:.2g}). Priors, coding, likelihood or "
                "sampler are not what the simulation takes them for."
            )
        else:
            smallest = rows.sort("p_value").row(0, named=True)
            outside = rows.filter(~pl.col("is_in_band")).height
            yield (
                f"{of_all} none is off, as far as that many data sets can tell: the smallest p is "
                f"{smallest['p_value']:.2g} ({smallest['quantity']}), {smallest['p_adjusted']:.2g} after Holm's "
                f"correction. {outside} {'leaves its' if outside == 1 else 'leave their'} 95 % band, as 1 in 20 does "
                "by chance."
            )
        if n := first["n_failed"]:
            yield (
                f"{name}: {'one data set' if n == 1 else f'{n} data sets'} could not be fitted and have no ranks; "
                "--show fits says why. The same command tries again."
            )
        if n := first["n_doubtful"]:
            yield (
                f"{name}: {'one fit' if n == 1 else f'{n} fits'} had divergent transitions or did not converge, and "
                f"{'is' if n == 1 else 'are'} among the ranks."
            )
