"""What R is given for each check: rows, and arguments. The table (checks.toml) says which of both a check wants.

Rows (`reads`): "trials"; of these "answered" ones, and rounds of "complete" games; "profiles" (the design's
`profiles_view`, each attribute a column). Of fits: "effects" of conditions in the study's own model, all its
"estimates", those without a prompt each ("leave_one_out"), effects "over_words" and wordings, "variances" with those of
words. Arguments (`takes`): "by", "contrast", "levels" (of the contrast, or "levels_by_factor"), "outcome" (the design's
`choice`), "formula", "alpha", "bound", "with_words" (the estimates of the model with words).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call
from slant.analysis.questions.checks.check_table import CheckInfo, checks_of_study, mixed_model_checks
from slant.analysis.questions.checks.trials import CELL, has_mixed_fit, with_token_limits
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.study_choice import rows_of_source
from slant.analysis.rows.views import read_view, set_measure, with_labels
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.stored_attempts import attributes_apart
from slant.collector.keep.view_heads import ordered_view
from slant.collector.studies.catalogue import Fit, Study

Calls = Iterator[tuple[str, Call]]
_BY = {"cell": CELL, "model": tuple(name for name in CELL if name != "test"), "variant": GRAIN}
_USED = (
    *CELL, "condition", "group", "item", "wording", "repetition", "position", "outcome", "is_refusal", "tokens",
    "output_tokens", "token_limit", "temperature", "finish_reason", "choice", "first_option", "game", "history",
    "class", "job", "round", "n_reminders", "is_complete", "ended_as", "respondent", "rating",
)  # fmt: skip
"""Columns of trials that checks use unasked: others (all of the reasoning, say) would take time to send."""


def has_checks(study: Study) -> bool:
    """Return True if there is anything to check: the design's answers, or a mixed model."""
    return bool(study.design.analyses.checked_view) or has_mixed_fit(study)


def read_answers(db: str | Path, study: Study, source: str | None, measure: str | None) -> pl.DataFrame:
    """Return the answers that checks of the study's design read (`checked_view`), missing ones among them, those of
    conversations that are still open not; with the limits of tokens and how each answer ended.
    """
    with reading(db) as connection:
        set_measure(connection, measure)
        frame = with_labels(read_view(connection, study.design.analyses.checked_view), connection)
        frame = with_token_limits(frame, connection)
        ends = frame_of(connection.view("trials").select("trial_id, finish_reason")).unique("trial_id", keep="any")
    frame = rows_of_source(frame, db, study, source)
    frame = frame.join(ends, on="trial_id", how="left", maintain_order="left")
    return frame.filter(~pl.col("is_open")) if "is_open" in frame.columns else frame


def conditions_in(trials: pl.DataFrame) -> list[str]:
    """Return these trials' conditions in the study's order; the first one is the reference level."""
    ordered = trials.sort("condition_no", nulls_last=True, maintain_order=True)
    return list(ordered["condition"].unique(maintain_order=True))


def read_profiles(db: str | Path, study: Study, source: str | None) -> pl.DataFrame | None:
    """Return the rows of the design's `profiles_view`, each attribute a column; None of a design without one."""
    if not study.design.analyses.profiles_view:
        return None
    with reading(db) as connection:
        view = ordered_view(connection, study.design.analyses.profiles_view)
        frame = frame_of(attributes_apart(view.filter(f"study = '{study.name}'")))
    return rows_of_source(frame, db, study, source)


def calls_of_answers(trials: pl.DataFrame, study: Study, alpha: float, profiles: pl.DataFrame | None = None) -> Calls:
    """Yield the checks of answers; each source, version and variant is corrected for the number of its own tests.
    `profiles` as read_profiles() returns them.
    """
    own, checks = study.design.analyses.check_arguments(study), checks_of_study(study)
    for values, rows in trials.group_by(*GRAIN, maintain_order=True):
        levels, outcome = conditions_in(rows), study.design.analyses.choice
        given = {"contrast": "condition", "levels": levels, "outcome": outcome, "alpha": alpha}
        frames = _frames(rows)
        if profiles is not None:
            frames["profiles"] = profiles.filter(**dict(zip(GRAIN, values, strict=True)))
        yield from calls_of((check for check in checks if check.is_about(values[0])), frames, given, own)


def calls_of_trials(trials: pl.DataFrame, paper: Fit, alpha: float, only: Iterable[CheckInfo] | None = None) -> Calls:
    """Yield the checks of the trials of a mixed model (of these, `only` some). There is one job for each model, so that
    all cores have something to do; those that compare models are one for each variant.
    """
    contrast = next(iter(paper.levels))
    levels = list(paper.levels[contrast])
    given = {"formula": paper.formula, "levels_by_factor": {contrast: levels}, "contrast": contrast, "levels": levels}
    checks = mixed_model_checks() if only is None else only
    for of_each, keys in ((("cell", "model"), (*GRAIN, "model")), (("variant",), GRAIN)):
        for values, rows in trials.group_by(*keys, maintain_order=True):
            own = (check for check in checks if check.of_each in of_each and check.is_about(values[0]))
            yield from calls_of(own, _frames(rows), {**given, "alpha": alpha})


def _frames(trials: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the rows that a check of trials may read, by name."""
    flags = {"answered": "is_valid", "complete": "is_complete"}
    parts = {
        name: trials.filter(pl.col(flag).fill_null(False)) for name, flag in flags.items() if flag in trials.columns
    }
    return {"trials": trials, **parts}


def calls_of(
    checks: Iterable[CheckInfo],
    frames: Mapping[str, pl.DataFrame],
    given: Mapping[str, Any],
    own: Mapping[str, Mapping[str, Any]] | None = None,
) -> Calls:
    """Yield the name and the call of each of these checks that R makes of one of `frames`, which are by their names.

    given: what arguments of the table are. own: by the key of a check, what its design adds to them.
    """
    for check in checks:
        if not check.takes or check.reads not in frames:
            continue
        arguments = {_ARGUMENTS.get(name, name): given[name] for name in check.takes if name != "by"}
        arguments = {"by": list(_BY[check.of_each]), **arguments, **(own or {}).get(check.key, {})}
        frame = frames[check.reads]
        for column, values in arguments.pop("where", {}).items():
            frame = frame.filter(pl.col(column).is_in(values))
        if frame.is_empty():
            continue
        yield check.check, Call(check.function, _used(frame, arguments), arguments, packages=check.packages)


_ARGUMENTS = {"levels_by_factor": "levels"}


def _used(rows: pl.DataFrame, arguments: Mapping[str, Any]) -> pl.DataFrame:
    """Return trials with the columns for R: what checks know, and what their arguments name."""
    if "trial_id" not in rows.columns:
        return rows
    named = set(re.findall(r"\w+", " ".join(_texts(arguments.values()))))
    return rows.select(name for name in rows.columns if name in _USED or name in named)


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, Mapping):
            yield from map(str, value)
            yield from _texts(value.values())
        elif isinstance(value, str):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _texts(value)
