"""Which checks a design has, and which rows each of them sees. A design that is not named here is checked by the mixed
model of its study (study_checks.py), if it has one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call
from slant.analysis.questions.checks.trials import CELL, has_mixed_fit, rows_of_study, with_token_limits
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.views import read_view, set_measure
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.studies.catalogue import Study

_FIRST = "A"
_CHOICES = {
    "domain": "test",
    "domain_label": "test_label",
    "domain_no": "test_no",
    "block": "condition",
    "block_label": "condition_label",
    "block_no": "condition_no",
}
_GAMES = {"class": "condition", "class_label": "condition_label", "class_no": "condition_no"}
_GAME = ("source", "study", "study_version", "variant", "model", "game")


Calls = Iterator[tuple[str, Call]]
Read = Callable[[str | Path, Study, str | None, str | None], pl.DataFrame]


@dataclass(frozen=True)
class DesignChecks:
    """The checks of a design that need no fit.

    read: the trials, one row each, with `model`, `test` and `condition`, their labels and numbers. calls: those for
    the trials of one source, version and variant.
    """

    read: Read
    calls: Callable[[pl.DataFrame, float], Calls]


def has_checks(study: Study) -> bool:
    """Whether there is anything to check: its design has checks, or it has a mixed model."""
    return study.design.name in DESIGN_CHECKS or has_mixed_fit(study)


def _answers(view: str, db: str | Path, study: Study, source: str | None, measure: str | None) -> pl.DataFrame:
    """Return the rows of a view of trials, with the limits of tokens and how each answer ended."""
    with reading(db) as connection:
        set_measure(connection, measure)
        frame = with_token_limits(read_view(connection, view), connection)
        ends = frame_of(connection.view("trials").select("trial_id, finish_reason")).unique("trial_id", keep="any")
    frame = rows_of_study(frame, db, study, source)
    return frame.join(ends, on="trial_id", how="left", maintain_order="left")


def read_choices(db: str | Path, study: Study, source: str | None, measure: str | None) -> pl.DataFrame:
    """Answers of a forced choice, missing ones among them: a domain is a test, a block a condition. `first_letter` is
    the option that was shown first, `expected_is_first` whether that is the consistent one."""
    frame = _answers("forced_choice_trials", db, study, source, measure).rename(_CHOICES)
    expected = pl.col("consistent_letter")
    frame = frame.with_columns(first_letter=pl.lit(_FIRST), expected_is_first=expected == _FIRST)
    order = (*GRAIN, "model_no", "model", "test_no", "test", "condition_no", "condition", "position", "trial_id")
    return frame.sort(order, nulls_last=True)


def read_rounds(db: str | Path, study: Study, source: str | None, measure: str | None) -> pl.DataFrame:
    """Return rounds of games: the class of the job is the condition; with what the view allocation_games knows of the
    game.
    """
    frame = _answers("allocation_rounds", db, study, source, measure)
    with reading(db) as connection:
        games = read_view(connection, "allocation_games")
    game_columns = games.select(*_GAME, "n_rounds", "n_groups", "is_complete", "is_pooled", "ended_as")
    frame = frame.join(game_columns, on=_GAME, how="left", maintain_order="left")
    frame = frame.with_columns(pl.col(name).alias(alias) for name, alias in _GAMES.items())
    frame = frame.with_columns(test=pl.lit("rounds"), test_label=pl.lit("rounds"), test_no=pl.lit(1))
    order = (*GRAIN, "model_no", "model", "repetition", "game", "round", "trial_id")
    return frame.sort(order, nulls_last=True)


def read_pairings(db: str | Path, study: Study, source: str | None, measure: str | None) -> pl.DataFrame:
    """Answers of a pairing, missing ones among them: the wording is the condition."""
    return _answers("pairing_trials", db, study, source, measure)


def read_decisions(db: str | Path, study: Study, source: str | None, measure: str | None) -> pl.DataFrame:
    """Conversations that came to an end, with or without a decision: the wording is the condition."""
    return _answers("decision_trials", db, study, source, measure).filter(~pl.col("is_open"))


def conditions_in(trials: pl.DataFrame) -> list[str]:
    """Return the conditions of these trials in the study's order; the first one is the reference."""
    ordered = trials.sort("condition_no", nulls_last=True, maintain_order=True)
    return list(ordered["condition"].unique(maintain_order=True))


def _choices(trials: pl.DataFrame, alpha: float) -> Calls:
    sides = {"by": list(CELL), "contrast": "condition", "levels": conditions_in(trials)}
    order = {**sides, "alpha": alpha}
    letters = {"chosen": "chosen_letter", "first": "first_letter", "expected": "consistent_letter"}
    yield "first_option", _call("check_first_option", trials, {**sides, **letters})
    yield "order_effect", _call("check_order_effect", trials, {**order, "order": "expected_is_first"})
    yield "block_order", _call("check_order_effect", trials, {**order, "order": "block_position"})
    yield "missing_answers", _call("check_missing_answers", trials, sides)
    yield "missing_bounds", _call("check_missing_bounds", trials, sides)
    yield "left_out", _call("check_left_out", trials, {**sides, "parts": ["item", "wording", "repetition"]})
    yield "separation", _call("check_separation", trials, sides)
    yield "token_limits", _call("check_token_limits", trials, {"by": list(CELL)})


def _games(trials: pl.DataFrame, alpha: float) -> Calls:
    sides = {"by": list(CELL), "contrast": "condition", "levels": conditions_in(trials)}
    complete = trials.filter("is_complete")
    yield "first_option", _call("check_first_option", trials, {**sides, "n_options": "n_groups", "cluster": "history"})
    yield "missing_answers", _call("check_missing_answers", trials, sides)
    yield "games_ended", _call("check_games_ended", trials, {"by": list(CELL)})
    yield "game_influence", _call("check_game_influence", complete, {"by": list(CELL)})
    yield "answer_lengths", _call("check_answer_lengths", trials, sides)
    yield "token_limits", _call("check_token_limits", trials, {"by": list(CELL)})


def _one_answer_each(trials: pl.DataFrame, alpha: float) -> Calls:
    sides = {"by": list(CELL), "contrast": "condition", "levels": conditions_in(trials)}
    yield "missing_answers", _call("check_missing_answers", trials, sides)
    yield "token_limits", _call("check_token_limits", trials, {"by": list(CELL)})


def _call(check: str, trials: pl.DataFrame, arguments: dict[str, Any]) -> Call:
    """With the columns that R's checks use: others (all of the reasoning, say) would only take time to send."""
    return Call(check, trials.select(name for name in _USED if name in trials.columns), arguments)


_USED = (
    *CELL,
    "condition",
    "item",
    "wording",
    "repetition",
    "block_position",
    "chosen_letter",
    "consistent_letter",
    "first_letter",
    "expected_is_first",
    "is_consistent",
    "outcome",
    "finish_reason",
    "tokens",
    "token_limit",
    "game",
    "history",
    "class",
    "job",
    "round",
    "choice",
    "first_option",
    "n_groups",
    "n_reminders",
    "is_complete",
    "ended_as",
    "output_tokens",
)
DESIGN_CHECKS: dict[str, DesignChecks] = {
    "forced_choice": DesignChecks(read_choices, _choices),
    "allocation": DesignChecks(read_rounds, _games),
    "pairing": DesignChecks(read_pairings, _one_answer_each),
    "decision": DesignChecks(read_decisions, _one_answer_each),
}
"""By the name of a design; checks.csv says what each check asks, check_findings.py what it found."""
