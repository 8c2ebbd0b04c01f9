"""Say how many prompts it takes to decide whether a successor answers alike: from the variance of the old answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from slant.collector.errors import UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.view_heads import ordered_view
from slant.collector.studies.catalogue import Study, fits_of

MEASURES = {"scale": "rating", "yes_no": "is_yes", "profile": "chosen"}
"""Name what is measured by a kind of question."""
_PROMPT = ("test", "condition", "item", "wording", "position")
_NUISANCE = ("item", "template")
# Two one-sided tests at 5 % both reject with a probability of 80 % where nothing differs if the bound is this many
# standard errors: 1.645 + 1.282.
_ERRORS_IN_BOUND = 2.927


def measured_by(study: Study) -> tuple[str, str]:
    """Return the view and the column that one prompt's answers of two models are compared by; empty for games."""
    analyses = study.design.analyses
    return analyses.measured if analyses.measured[0] else analyses.compared


def bounds_of(study: Study, typed: Sequence[str] = ()) -> dict[str, float]:
    """Return the bound by measure ("" for any but rates): as typed, "0.2" or "rate=0.1", else half the smallest effect
    that the study names. Raise UsageError for one that is no number above 0."""
    own = dict(study.smallest_effect) or ({"": study.data.bound} if getattr(study.data, "bound", None) else {})
    bounds = {name: effect / 2 for name, effect in own.items()}
    for text in typed:
        name, _, number = text.rpartition("=")
        try:
            bounds[name] = float(number)
        except ValueError:
            bounds[name] = 0.0
        if not 0 < bounds[name] < math.inf:
            raise UsageError(
                f'"{text}" is no bound: it must be a number above 0.', "As in: --bound 0.2 --bound rate=0.05"
            )
    return bounds


def deciding_trials(db: Path, study: Study, model: str, bounds: Mapping[str, float]) -> int:
    """Return the smallest number of prompts, of all tests, with which every mean and effect of a level is found
    equivalent with a probability of 80 % if nothing differs.

    Errors are those of independent prompts: the variance is that of repetitions of a prompt, or without repetitions
    that of all answers to a test, twice. Raise UsageError without a bound or without answers of `model`.
    """
    view, outcome = measured_by(study)
    if not view or not bounds:
        what = "names no smallest effect" if view else "is not compared by prompt"
        raise UsageError(
            f'How many prompts decide can\'t be said: "{study.name}" {what}.',
            "Name a bound (--bound 0.2), or how many to ask: --trials 200",
        )
    rows = _answers(db, study, view, outcome, model)
    if rows.height < 2:
        raise UsageError(
            f'How many prompts decide can\'t be said: "{db}" has no answers of {model} to "{study.name}".',
            "Say how many to ask of both: --trials 200",
        )
    most = max((len(levels) for name, levels in _levels(study).items() if name not in _NUISANCE), default=1)
    kind = pl.col("kind").replace(MEASURES) if "kind" in rows.columns else pl.lit(outcome)
    per_test = []
    for (test, measure), own in rows.with_columns(measure=kind).group_by("test", "measure"):
        bound = bounds.get(str(measure), bounds.get(""))
        variance = _variance(own, outcome)
        if bound is not None and variance is not None:
            shares = 1 if most < 2 else 2 * most  # 1 / n of a mean; of two levels of n / most prompts each
            per_test.append((test, 2 * variance * shares * (_ERRORS_IN_BOUND / bound) ** 2))
    n_tests = rows["test"].n_unique() if "kind" not in rows.columns else 1  # questions share a prompt
    return max(math.ceil(max((n for _, n in per_test), default=0)) * n_tests, 2 * n_tests)


def _levels(study: Study) -> Mapping[str, Sequence[object]]:
    own = next((fit.levels for fit in fits_of(study).values() if fit.engine in ("amce", "paired")), None)
    return own if own is not None else {"condition": study.conditions}


def _answers(db: Path, study: Study, view: str, outcome: str, model: str) -> pl.DataFrame:
    if not db.exists():
        return pl.DataFrame()
    with reading(db) as connection:
        rows = ordered_view(connection, view).filter(f"study = '{study.name}' AND {outcome} IS NOT NULL")
        known = [name for name in ("model", "kind", *_PROMPT) if name in rows.columns]
        frame: pl.DataFrame = frame_of(rows.select(*dict.fromkeys((*known, outcome))))
    name = model.rpartition("/")[2]
    asked = [one.model for one in study.models if model in (one.model, f"{one.provider}/{one.requested_model}")]
    return frame.filter(pl.col("model").is_in([model, name, *asked])).with_columns(pl.col(outcome).cast(pl.Float64))


def _variance(rows: pl.DataFrame, outcome: str) -> float | None:
    """Return the variance of the same prompt's repetitions, if thirty were repeated; else that of all answers."""
    by = [name for name in _PROMPT if name in rows.columns and name != "position"]
    squares = pl.col(outcome).var() * (pl.len() - 1)
    groups = rows.group_by(by).agg(n=pl.len(), squares=squares).filter(pl.col("n") > 1)
    if groups.height >= 30:
        return float(groups.select(pl.col("squares").sum() / (pl.col("n") - 1).sum()).item())
    found = rows.select(pl.col(outcome).var()).item()
    return None if found is None else float(found)
