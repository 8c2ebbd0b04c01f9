"""The table of engines: which R function fits what a study calls a fit, and what it is told."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from slant.analysis.rows.cells import STEP
from slant.collector.studies.catalogue import Fit


@dataclass(frozen=True)
class Engine:
    """One row of the table of engines (R's run_fit() has its function): the packages and keys it needs, its arguments.

    `files`: the fitted model itself (its argument `save_to`) and whatever else of a fit is kept in a file beside the
    database, with the ending of its name. `tables`: the names of those that this engine alone keeps; in the database
    the name of the engine stands before them. `are_of_cells`: a row of them that names no model or domain is of those
    of its fit, rather than of all together. `takes_all_cores`: one fit spreads over the cores by itself (its argument
    `cores`), so that fits are made one after another. `settings`: what a caller may set otherwise than the study does;
    `asides`: what he may set besides, which changes no number.
    """

    packages: tuple[str, ...]
    needs: tuple[str, ...]
    arguments: Callable[[Fit], dict[str, Any]]
    describe: Callable[[Fit], str]
    files: Mapping[str, str] = field(default_factory=dict)
    tables: tuple[str, ...] = ()
    are_of_cells: bool = True
    takes_all_cores: bool = False
    settings: tuple[str, ...] = ()
    asides: tuple[str, ...] = ()

    @property
    def keeps_model(self) -> bool:
        return bool(self.files)


FITS, ESTIMATES, VARIANCES = "fit_cells", "estimates", "variances"


def tables_of(name: str) -> dict[str, str]:
    """By the name of the frame that an engine's function returns, the table of the database that keeps it."""
    own = {("model" if table == "models" else table): f"{name}_{table}" for table in ENGINES[name].tables}
    return {"fits": FITS, "estimates": ESTIMATES, "variances": VARIANCES, **own}


def _levels(fit: Fit) -> dict[str, list[Any]]:
    return {column: list(values) for column, values in fit.levels.items()}


def _sides(fit: Fit) -> list[Any]:
    return list(fit.levels[fit.contrast or ""])


def _renamed(fit: Fit, **names: str) -> dict[str, Any]:
    """Those of the settings that a study or a caller gives, under R's names for them."""
    return {names[name]: value for name, value in fit.settings.items() if name in names}


def _effects(fit: Fit) -> dict[str, str]:
    """R's own default compares models; where the formula has no models, there is nothing to compare."""
    return {} if "model" in re.findall(r"\w+", fit.formula or "") else {"effects": f"~ {fit.contrast}"}


ENGINES = {
    "lme4": Engine(
        ("lme4", "lmerTest"),
        ("formula",),
        lambda fit: {"formula": fit.formula, "levels": _levels(fit),
                     **{name: fit.settings[name] for name in ("family", "n_agq") if name in fit.settings}},
        lambda fit: fit.formula or "",
        tables=("predictions", "contrasts"),
        settings=("family", "n_agq", "random"),
    ),
    "leave_one_out": Engine(
        ("lme4", "lmerTest"),
        ("formula",),
        lambda fit: {"formula": fit.formula, "levels": _levels(fit)},
        lambda fit: f"{fit.formula}, each prompt left out in turn",
    ),
    "effect_size": Engine(
        (),
        ("outcome", "contrast"),
        lambda fit: {"outcome": fit.outcome, "contrast": fit.contrast, "levels": _sides(fit)},
        lambda fit: f"d: {fit.outcome} ~ {fit.contrast}",
    ),
    "welch": Engine(
        (),
        ("outcome", "contrast"),
        lambda fit: {"outcome": fit.outcome, "contrast": fit.contrast, "levels": _sides(fit)},
        lambda fit: f"Welch: {fit.outcome} ~ {fit.contrast}",
    ),
    "trimmed_difference": Engine(
        (),
        ("outcome", "contrast"),
        lambda fit: {"outcome": fit.outcome, "contrast": fit.contrast, "levels": _sides(fit),
                     **{name: fit.settings[name] for name in ("trim",) if name in fit.settings}},
        lambda fit: f"trimmed means: {fit.outcome} ~ {fit.contrast}",
        settings=("trim",),
    ),
    "median_difference": Engine(
        (),
        ("outcome", "contrast"),
        lambda fit: {"outcome": fit.outcome, "contrast": fit.contrast, "levels": _sides(fit),
                     **_renamed(fit, seed="seed", draws="n_draws")},
        lambda fit: f"medians: {fit.outcome} ~ {fit.contrast}",
        settings=("draws", "seed"),
    ),
    "step_sensitivity": Engine(
        (),
        ("outcome", "contrast"),
        lambda fit: {"outcome": fit.outcome, "contrast": fit.contrast, "levels": _sides(fit), "step": STEP,
                     **_renamed(fit, step="step", seed="seed", draws="n_draws")},
        lambda fit: f"d drawn within steps: {fit.outcome} ~ {fit.contrast}",
        settings=("step", "draws", "seed"),
    ),
    "stm": Engine(
        ("stm", "tm", "SnowballC"),
        ("formula", "outcome", "contrast"),
        lambda fit: {"formula": fit.formula, "outcome": fit.outcome, "contrast": fit.contrast, "levels": _levels(fit),
                     **_effects(fit), **fit.settings},
        lambda fit: f"topics {fit.formula}",
        files={"save_to": ".rds"},
        tables=(
            "models", "topics", "words", "prevalence", "contrasts", "shifts", "correlations", "examples",
        ),
        are_of_cells=False,
        settings=("topics", "preprocessing", "lower_thresh", "max_em_its", "seed", "n_examples", "effects"),
    ),
    "brms": Engine(
        ("brms", "rstan", "StanHeaders", "posterior", "loo"),
        ("formula",),
        lambda fit: {"formula": fit.formula, "levels": _levels(fit), **fit.settings},
        lambda fit: fit.formula or "",
        files={"save_to": ".brmsfit.rds", "draws_to": ".draws.parquet"},
        tables=("models", "predictions", "contrasts", "checks", "loo"),
        takes_all_cores=True,
        settings=(
            "priors", "coding", "random", "chains", "iterations", "warmup", "adapt_delta", "max_treedepth", "seed",
        ),
        asides=("force",),
    ),
}  # fmt: skip
