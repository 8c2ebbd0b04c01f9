"""Read what a study measures in answers to the same prompts: two models', or one's on several occasions.

A pair is a prompt (of profiles, one of them). What is measured, by which levels it can differ and over which clusters
its errors are comes from the study's own fit of its levels; of a study without one from its conditions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.rows.cells import read_rows
from slant.collector.cost.successor_size import MEASURES, measured_by
from slant.collector.errors import UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.records import WITHOUT_ANSWER
from slant.collector.studies.catalogue import Fit, Study, fits_of
from slant.collector.system.shipped_files import sql_query

RATES = ("answered", "refused")
"""List what is compared of all trials besides what the study measures: shares of them."""
RATE = "rate"
_NUISANCE = ("item", "template")
PROMPT = ("variant", "test", "condition", "item", "wording", "position", "prompt_hash")
"""List the columns that tell prompts apart."""


def can_pair(study: Study) -> bool:
    """Return True if answers of the study are numbers that prompts decide: no games, no coded texts."""
    return bool(measured_by(study)[0])


@dataclass(frozen=True)
class MeasuredAnswers:
    """Hold the answers of one database. trials: a row per trial of every occasion, as the query trials_to_pair has
    them, with the levels that it showed. rows: a row per answer of the first occasion and measure: the trial's columns,
    `position` (of a profile), `measure` and `value`. arguments: what R's compare_successor() takes of the study."""

    trials: pl.DataFrame
    rows: pl.DataFrame
    arguments: Mapping[str, Any]
    shown: tuple[str, ...]


def measured_answers(db: Path, study: Study, source: str | None) -> MeasuredAnswers:
    """Read them. Raise UsageError of a study whose answers are not paired by prompts."""
    if not can_pair(study):
        raise UsageError(
            f'Answers of "{study.name}" can\'t be paired by prompt: its design ({study.design.name}) has no number '
            "that a prompt alone decides.",
            "Games are compared by: analyze differences",
        )
    fit = _fit_of_levels(study)
    arguments = _arguments(fit)
    with reading(db) as connection:
        asked = {"study": study.name, "source": source}
        trials: pl.DataFrame = frame_of(connection.sql(sql_query("trials_to_pair"), params=asked))
    view = read_rows(db, study.name, [fit], None).frame
    declared = arguments["declared"]
    named = (*arguments["attributes"], *declared.get("properties", {}).values(), *declared.get("cells", ()))
    named = (*named, *declared.get("prompt", ()), *arguments.get("material", ()))
    shown = tuple(
        name for name in dict.fromkeys(named) if name in view.columns and name not in (*trials.columns, "position")
    )
    levels = view.unique("trial_id", keep="first", maintain_order=True).select("trial_id", *shown)
    trials = trials.join(levels, on="trial_id", how="left", maintain_order="left")
    for column, allowed in fit.where.items():
        view = view.filter(pl.col(column).cast(pl.String).is_in(allowed))
    for flag in fit.drop_flags:
        view = view.filter(~pl.col(flag).fill_null(value=False))
    kind = pl.col("kind").replace(MEASURES) if "kind" in view.columns else pl.lit(fit.outcome)
    position = pl.col("position").cast(pl.Int64) if "position" in fit.by else pl.lit(1, pl.Int64)
    value = pl.col(str(fit.outcome)).cast(pl.Float64)
    values = view.select("trial_id", "test", *shown, position=position, measure=kind, value=value)
    rows = values.join(trials.drop("test", *shown), on="trial_id", maintain_order="left")
    return MeasuredAnswers(trials, pl.concat([rows, rates_of(trials)], how="diagonal_relaxed"), arguments, shown)


def rates_of(trials: pl.DataFrame) -> pl.DataFrame:
    """Return a row per trial of the first occasion and rate, with `value` 0 or 1."""
    values = {"answered": pl.col("outcome") == "answered", "refused": pl.col("is_refusal")}
    own = trials.filter(occasion=1).with_columns(position=pl.lit(1, pl.Int64))
    parts = [own.with_columns(measure=pl.lit(name), value=values[name].cast(pl.Float64)) for name in RATES]
    return pl.concat(parts)


def _arguments(fit: Fit) -> dict[str, Any]:
    settings = {name: fit.settings[name] for name in ("linked", "material") if name in fit.settings}
    declared = dict(fit.settings.get("declared", {}))
    if "prompt" in declared:
        declared["prompt"] = [name for name in declared["prompt"] if name != "respondent"]
    cluster = fit.settings.get("cluster", ["item", "wording"])
    shown = {name: list(levels) for name, levels in fit.levels.items()}
    return {
        "attributes": list(shown), "levels": shown, "cluster": "item" if cluster == "respondent" else cluster,
        "declared": declared, **settings,
    }  # fmt: skip


def _fit_of_levels(study: Study) -> Fit:
    """Return the study's own comparison of levels, with the columns that name a profile; else that of conditions."""
    view, outcome = measured_by(study)
    fits = [fit for fit in fits_of(study).values() if fit.view == view]
    by = ("model", "test", "trial_id")
    for engine in ("paired", "amce", "marginal_means"):
        for fit in fits:
            if fit.engine == engine and "respondent" not in fit.settings:
                own = {name: known for name, known in fit.levels.items() if name not in _NUISANCE}
                return replace(fit, outcome=outcome, by=(*by, "position"), levels=own)
    conditions = tuple(condition.condition for condition in study.conditions)
    flags = next((fit.drop_flags for fit in fits if fit.engine == "crossed"), ())
    levels: Mapping[str, tuple[str, ...]] = {"condition": conditions} if len(conditions) > 1 else {}
    return Fit("levels", "amce", view, None, outcome, None, by, levels, (), flags, {}, WITHOUT_ANSWER)
