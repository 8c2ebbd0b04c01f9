"""Plan one permutation test: which fit of which rows, what is swapped in it, and how it is recognised again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from slant.analysis.calls.call import Call
from slant.analysis.fitting.fit_plan import PlannedFit, plan_fits
from slant.analysis.fitting.repeated_fits import RepeatedFit
from slant.analysis.rows.cells import word_for
from slant.analysis.rows.study_choice import find_fits, no_rows_error, study_in
from slant.analysis.rows.views import open_trials
from slant.collector.errors import StudyError, UnknownNameError, UsageError
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
        return {
            "formula": fit.formula,
            "engine": self.engine,
            "seed": self.seed,
            "levels": dict(self.levels),
            "priors": fit.settings.get("priors"),
            "coding": fit.settings.get("coding"),
            "contrast": self.contrast,
            "unit": self.unit,
            "within": list(self.within),
            **self.settings,
        }

    @property
    def about(self) -> dict[str, Any]:
        work, key = self.work, self.work.cell.key
        return {
            "study": work.study,
            **{name: key[name] for name in ("study_version", "source", "variant")},
            "fit": work.definition.name,
            "engine": self.engine,
            "seed": self.seed,
            "settings": dict(self.settings),
        }

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
    if engine not in PACKAGES:
        raise UnknownNameError("engine", engine, PACKAGES)
    for name in settings:
        if name not in SETTINGS[engine]:
            raise UnknownNameError(f"setting of a permutation by {engine}", name, SETTINGS[engine])
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
    consistent = [pair for pair in pairs if (pair[1].formula or "").partition("~")[0].strip() == CONSISTENT]
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
    """Return the levels of every factor: those that the study lists, else those in the data, in the study's
    order.
    """
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
