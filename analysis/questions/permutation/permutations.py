"""Compare a difference between conditions with those that arbitrary labels give (`permute()`).

A plan says which fit of which rows, what is swapped in it, and how it is recognised again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from slant.analysis.calls.call import Call
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.results import Progress, Results, not_kept_yet, results
from slant.analysis.calls.stages import Stage, compile_here, put_together, summed_up
from slant.analysis.fitting.fit_plan import PlannedFit, plan_fits
from slant.analysis.fitting.repeated_fits import RepeatedFit
from slant.analysis.questions.permutation.conditions import GRAIN, has_conditions, permute_conditions
from slant.analysis.rows.cells import word_for
from slant.analysis.rows.study_choice import find_fits, no_rows_error, study_in
from slant.analysis.rows.views import open_trials, read_view
from slant.collector.arguments import checked_arguments
from slant.collector.errors import RError, StudyError, UsageError, check_known
from slant.collector.keep.database import opens_once, reading
from slant.collector.keep.frames import frame_of
from slant.collector.studies.catalogue import Fit, Study

PACKAGES = {"brms": ("brms", "rstan", "posterior"), "lme4": ("lme4",)}
"""List the R packages that each engine refits with."""
CELL, CONSISTENT = ("model", "test"), "is_consistent"
SETTINGS = {"brms": ("chains", "iterations", "warmup", "adapt_delta"), "lme4": ("n_agq",)}
"""List what a caller may set, by engine; R's refit_permutation() has the defaults."""
_BAR = re.compile(r"\|\s*(\w+)\s*\)")


@dataclass(frozen=True)
class PermutationTest(RepeatedFit):
    """Hold the permutation test of one fit; repetition 0 is the data as observed."""

    levels: Mapping[str, list[Any]]
    contrast: str
    unit: str
    within: tuple[str, ...]

    kind = "permutation"
    function = "refit_permutation"
    compile_function = "compile_permutation_job"
    of_model = ("formula", "levels", "priors", "coding")
    tables: ClassVar = {"refit": "permutation_refits", "cells": "permutation_draws"}
    of_cell = ("study_version", "source", "variant")
    n_column = "n_permutations"

    @property
    def engine(self) -> str:
        return self.work.definition.engine

    @property
    def packages(self) -> tuple[str, ...]:
        return PACKAGES[self.engine]

    @property
    def arguments(self) -> dict[str, Any]:
        fit = self.work.definition
        of_fit = {"formula": fit.formula, "levels": dict(self.levels), "engine": self.engine, "seed": self.seed}
        of_fit |= {name: fit.settings.get(name) for name in ("priors", "coding")}
        of_test = {"contrast": self.contrast, "unit": self.unit, "within": list(self.within)}
        return {**of_fit, **of_test, **self.settings}

    def summary(self, cells: pl.DataFrame, refits: pl.DataFrame) -> Call:
        """Return the summary of the refits, including number 0."""
        return Call(
            "summarise_permutations",
            arguments={"cells": cells, "refits": refits.drop("seconds", "messages"), "within": list(self.within)},
            about={self.kind: self.about},
            tables={"about": "permutations", "": "permutation_cells"},
            columns={
                **self.summary_columns(refits.height - 1),
                **self.counts(),
                "contrast": self.contrast,
                "unit": self.unit,
                "within": ", ".join(self.within),
                "refit_seconds": refits["seconds"].sum(),
            },
            packages=self.packages,
        )

    def counts(self) -> dict[str, int]:
        """Return the number of rows used, of units (items within a model and test), and of those in only one
        condition."""
        names = re.findall(r"\w+", self.work.definition.formula or "")
        rows = self.work.cell.rows
        rows = rows.drop_nulls([name for name in rows.columns if name in names])
        units = rows.group_by(*self.within, self.unit).agg(n_conditions=pl.col(self.contrast).n_unique())
        n_one = units.filter(pl.col("n_conditions") < 2).height
        return {"n_rows": rows.height, "n_units": units.height, "n_one_condition": n_one}


def list_tests(
    db: str | Path, study: str | Study | None, engine: str, seed: int, source: str | None, settings: Mapping[str, Any]
) -> list[PermutationTest]:
    """Return the tests that the data have rows for, one for each source, study version and variant.

    Raise UnknownNameError for an unknown engine or setting, or if the study has no such fit; StudyError if its fit has
    nothing to permute; DatabaseError without rows.
    """
    check_known("engine", engine, PACKAGES)
    for name in settings:
        check_known(f"setting of a permutation by {engine}", name, SETTINGS[engine])
    study, definition = _fit_of(db, study, engine)
    plan = plan_fits(db, study, definition, source=source)
    if not plan:
        raise no_rows_error("permute", db, source)
    contrast, unit, within = _units_and_strata(study, definition, plan[0].cell.rows.columns)
    return [
        PermutationTest(planned, seed, settings, _levels(db, planned, within), contrast, unit, within)
        for planned in plan
    ]


def _fit_of(db: str | Path, study: str | Study | None, engine: str) -> tuple[Study, Fit]:
    """Return this engine's fit of choices: if there are several, that of consistent answers."""
    has_choices = "has a fit of choices with a factor `condition`"
    study = study_in(db, study, lambda candidate: any(map(compares_choices, candidate.fits.values())), has_choices)
    if not any(map(compares_choices, study.fits.values())):
        raise UsageError(
            f'"{study.name}" has neither a mixed model of each model and test nor a fit of choices with a factor '
            "`condition`, whose labels could be swapped.",
            "For another study: --study NAME",
        )
    pairs = find_fits(engine, db, study)
    consistent = [pair for pair in pairs if pair[1].fitted == CONSISTENT]
    return (consistent or pairs)[0]


def compares_choices(fit: Fit) -> bool:
    """Return whether this is a model of yes or no, with the two conditions as a factor."""
    family = fit.settings.get("family", {"brms": "bernoulli"}.get(fit.engine, "gaussian"))
    is_of_choices = fit.engine in PACKAGES and family in ("bernoulli", "binomial") and "step" not in fit.settings
    return is_of_choices and _contrast(fit) is not None


def _contrast(fit: Fit) -> str | None:
    names = re.findall(r"\w+", fit.formula or "")
    contrast = word_for("condition", names)
    return contrast if contrast in names else None


def _units_and_strata(study: Study, fit: Fit, columns: list[str]) -> tuple[str, str, tuple[str, ...]]:
    """Return the column whose labels are swapped, the unit that has them, and the columns within which they are: from
    the formula.
    """
    contrast = _contrast(fit)
    units = _BAR.findall(fit.formula or "")
    fixed = re.findall(r"\w+", re.sub(r"\([^()]*\|[^()]*\)", "", (fit.formula or "").partition("~")[2]))
    if contrast not in fixed or contrast not in columns or len(set(units)) != 1:
        raise StudyError(
            f'Can\'t permute "{fit.name}" of "{study.name}": its formula is {fit.formula}.',
            "It needs a fixed effect of condition, whose labels are swapped, and one random effect, of the items.",
        )
    within = tuple(name for name in dict.fromkeys(fixed) if name not in (contrast, "0", "1"))
    if not set(within) <= {word_for(name, within) for name in CELL}:
        raise StudyError(
            f'Can\'t permute "{fit.name}" of "{study.name}": besides {contrast} its formula has {", ".join(within)}.',
            f"A cell can only consist of {' and '.join(CELL)} only.",
        )
    return contrast, units[0], within


def _levels(db: str | Path, work: PlannedFit, within: tuple[str, ...]) -> dict[str, list[Any]]:
    """Return the levels of every factor: those that the study lists, else those in the data, in the study's order."""
    levels = {name: list(values) for name, values in work.definition.levels.items()}
    frame = None
    for name in within:
        if name not in levels:
            frame = open_trials(db, view=work.definition.view) if frame is None else frame
            order = [f"{name}_no", name] if f"{name}_no" in frame.columns else [name]
            present_values = work.cell.rows[name].unique().to_list()
            ordered = frame.filter(pl.col(name).is_in(present_values)).sort(order, nulls_last=True)
            levels[name] = ordered[name].unique(maintain_order=True).to_list()
    return levels


_CELL = ("model", "test", "kind", "scale")
_MAIN = {**dict.fromkeys(_CELL, pl.String), "observed_main_fit": pl.Float64}


@dataclass(frozen=True)
class PermutationResult:
    """Hold what `permute()` found, each frame beginning with source, study, study_version, variant, fit, engine.

    tests: one row per cell, kind (population, item_averaged) and scale (delta_p, s): observed, observed_main_fit,
    null_mean … p_one_sided …, as the view permutation_tests has them and R's summarise_permutations() describes.
    values: one row per refit and cell; number 0 is the data as observed, fitted with the same settings.
    refits: one row per refit: seed, status (ok, divergent, unconverged, warned, failed), messages, seconds.
    not_kept: why the results could not be written to the database; None if they were.
    left_out: models and tests that have answers in one condition only.
    """

    tests: pl.DataFrame
    values: pl.DataFrame
    refits: pl.DataFrame
    not_kept: str | None
    left_out: tuple[str, ...] = ()


def can_permute(study: Study) -> bool:
    """Return whether it has a fit of choices in two conditions, or a mixed model of each model and test."""
    return has_conditions(study) or any(map(compares_choices, study.fits.values()))


@checked_arguments(permutations=1, seed=0)
@opens_once
def permute(
    db: str | Path,
    study: str | Study | None = None,
    permutations: int = 1000,
    engine: str | None = None,
    seed: int = 1,
    source: str | None = None,
    workers: Workers = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    settings: Mapping[str, Any] | None = None,
) -> PermutationResult:
    """Refit `study`'s fit of this engine to `permutations` relabellings of its rows, and keep each result.

    For a study of numbers (association): in each model and test the two conditions of a word are swapped with
    probability 1/2, within a wording, which deals words to groups at random. `engine` "difference" (of means, Welch's
    test; the default, without a refit) or "lme4" (the study's mixed model); `settings` whole_words: a word's wordings
    together. tests then have the scale "difference", in units of the outcome, p_engine and false_positives.

    For a study of choices, whose default is "brms": an item's two labels are swapped with probability 1/2, within its
    model and test (R's permute_labels()). A permutation's result depends only on `seed` and its number. Each is
    kept at once: the same call after a kill goes on where it ended, and one with more permutations adds to the existing
    ones. One that failed is tried again. `workers` and `executor` are as for `fit()`. `settings` go to R's
    refit_permutation(): chains, iterations, warmup, adapt_delta; n_agq of lme4. `progress(done, all)` is called after
    each refit.

    Raise UsageError for fewer than one permutation, UnknownNameError, StudyError or DatabaseError if there is nothing
    to permute, RError if the rows as observed can't be fitted.
    """
    study = study_in(db, study, can_permute, "has conditions to permute")
    if has_conditions(study) and not any(map(compares_choices, study.fits.values())):
        frames, left_out, not_kept = permute_conditions(
            Path(db), study, permutations, engine or "difference", seed, source, executor or workers, progress,
            settings or {},
        )  # fmt: skip
        return PermutationResult(**frames, not_kept=not_kept, left_out=left_out)
    tests = list_tests(db, study, engine or "brms", seed, source, settings or {})
    n = permutations + 1
    test_results = [
        _run_test(Path(db), test, permutations, executor or workers, Stage(progress, number * n, len(tests) * n))
        for number, test in enumerate(tests)
    ]
    return PermutationResult(**put_together(test_results, ("tests", "values", "refits")))


def _run_test(
    db: Path, test: PermutationTest, permutations: int, workers: Workers, progress: Stage
) -> PermutationResult:
    """Run a test. The data as observed are fitted first: that shows whether the rows can be fitted at all."""
    calls = [test.repetition(number) for number in range(permutations + 1)]
    if test.engine == "brms" and not_kept_yet(db, calls):
        compile_here(db, test.compile(), workers, progress)
    observed = results(db, calls[:1], workers=workers)
    if observed.calls["status"][0] == "failed":
        raise RError("Can't permute: the data as observed can't be fitted.", observed.calls["messages"][0])
    if observed.computed:
        progress(1, len(calls))
    permuted = results(db, calls[1:], workers=workers, progress=progress.after(1))
    refits, cells = _refits([observed, permuted])
    summary = test.summary(cells, refits)
    is_of_fewer = refits.height - 1 < test.n_kept(db)
    rows, not_kept = summed_up(db, summary, "permutation_cells", workers, is_of_fewer=is_of_fewer)
    values = cells.join(refits.select("number", "status"), on="number", how="left", maintain_order="left")
    fitted = _main_fit(db, test)
    joined = rows.drop("call_id").join(fitted, on=_CELL, how="left", nulls_equal=True, maintain_order="left")
    names = [name for name in joined.columns if name != "observed_main_fit"]
    names.insert(names.index("observed") + 1, "observed_main_fit")
    grain = [pl.lit(test.about[name]).alias(name) for name in GRAIN]
    tests, values, refits = (frame.select(*grain, pl.all()) for frame in (joined.select(names), values, refits))
    return PermutationResult(tests, values, refits, permuted.not_kept or not_kept)


def _refits(parts: Sequence[Results]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a row per refit, and a row per refit and cell."""
    calls = pl.concat([part.calls for part in parts]).select("call_id", "status", "messages", "seconds")
    rows = pl.concat([part.frames["permutation_refits"] for part in parts]).drop("permutation_id")
    joined = rows.join(calls, on="call_id", how="left", maintain_order="left")
    order = ("number", "seed", "status", "n_divergent", "n_max_treedepth", "is_singular", "messages", "seconds")
    return joined.select(order), pl.concat([part.frames["permutation_draws"] for part in parts]).drop("call_id")


def _main_fit(db: Path, test: PermutationTest) -> pl.DataFrame:
    """Return the latest of the study's own fits of these very rows, as the view permutation_main_fits chooses it."""
    with reading(db) as connection:
        fits = read_view(connection, "fits")
        contrasts = frame_of(connection.table(f"{test.engine}_contrasts"))
    fits = fits.filter(data_hash=test.rows_hash, **{name: test.about[name] for name in GRAIN})
    fits = (
        fits.join(contrasts.select("call_id").unique(), on="call_id", how="semi").sort("fitted_at", "call_id").tail(1)
    )
    main_fit = contrasts.join(fits.select("call_id"), on="call_id", how="semi").rename(
        {"estimate": "observed_main_fit"}
    )
    return main_fit.select(list(_MAIN)).cast(pl.Schema(_MAIN))
