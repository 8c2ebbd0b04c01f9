"""Resume games that were left in the middle: read their finished turns from the database and the journals.

The meaning of the answers is what was stored, for the model was given that. What was sent is made again from it, and
must have the stored hash: a game goes on with exactly the conversation that it had, or not at all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from slant.collector.ask.retries import judge
from slant.collector.ask.uncounted_answers import next_turn_no, read_exchange
from slant.collector.designs.study import Study
from slant.collector.keep.journal_loader import repeated_of
from slant.collector.keep.stored_attempts import attempts_where
from slant.collector.plan.run_plan import ModelPlan, RunPlan
from slant.collector.providers.error_meanings import speakers
from slant.collector.providers.exchange import Exchange
from slant.collector.records import Conversation, Reading, Turn

_ANSWERED = "study = $study AND game IS NOT NULL AND outcome <> 'failed'"
_COLUMNS = (
    "attempt_id, conversation_id, trial_id, turn, is_final, outcome, choice, factors, prompt_hash, http_status, "
    "response"
)
Turns = dict[tuple[str, int], dict[str, object]]
"""Hold the rows of answered attempts, by trial and turn."""


@dataclass(frozen=True)
class Begun:
    """Hold the turns of games to go on with, by model and conversation. `unusable` are games that can't go on, and
    `problems` says why."""

    of_model: dict[str, dict[str, list[Turn]]] = field(default_factory=dict)
    unusable: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)


def begun_games(run_plan: RunPlan) -> Begun:
    """Return the games of a run plan that have turns already, but are not over."""
    begun = Begun()
    started: set[str] = set()
    if run_plan.study.design.asks.has_turns(run_plan.study):
        parts = attempts_where(run_plan.db, _ANSWERED, {"study": run_plan.study.name}, "DISTINCT conversation_id")
        started = {game_id for part in parts for game_id in part["conversation_id"]}
    for model_plan in run_plan.model_plans if started else ():
        games = run_plan.study.design.asks.plan(run_plan.study, model_plan.model, run_plan.seed)
        ids = list(map(games.conversation_id, games.places(run_plan.repetitions)))
        if (occasion := model_plan.occasion) is not None:
            ids = list(map(occasion.later_id, ids))
        is_open = [
            game_id in started and not (model_plan.skip and model_plan.skip[no]) for no, game_id in enumerate(ids)
        ]
        rows = stored_turns(
            run_plan.db, run_plan.study.name, [i for i, is_one in zip(ids, is_open, strict=True) if is_one]
        )
        turns = begun.of_model.setdefault(model_plan.name, {})
        others = bytes(not is_one for is_one in is_open)
        for game in run_plan.conversations(model_plan, others):
            try:
                turns_of_game = rows.get(game.conversation_id, {})
                turns[game.conversation_id] = replayed(run_plan.study, model_plan, game, turns_of_game)
            except ValueError as error:
                begun.unusable.add(game.conversation_id)
                begun.problems.append(
                    f"Game {game.trials[0].repetition} of {model_plan.name} can't be resumed, and is left unchanged:"
                    f" {error}. With another --seed all games start again."
                )
    return begun


def replayed(study: Study, model_plan: ModelPlan, game: Conversation, stored_turns: Turns) -> list[Turn]:
    """Return the turns of one game, made again; ValueError if they differ from those that were kept."""
    design = study.design
    history: list[Turn] = []
    whose = speakers(model_plan.provider.name, model_plan.base_url, model_plan.model.requested_model)
    while step := design.asks.next(study, model_plan.model, game, history):
        trial, prompt = step
        row = stored_turns.get((trial.trial_id, next_turn_no(history, trial)))
        if row is None:
            break
        if row["prompt_hash"] != prompt.hash:
            where = f"round {trial.round}" if trial.round else "its questions"
            raise ValueError(f"in {where} the prompt differs from the one that this version of slant would send")
        body = row["response"]
        exchange = Exchange(status=row["http_status"], body=body)  # type: ignore[arg-type]
        reply, _ = read_exchange(model_plan.provider, exchange, judge(exchange, 1, whose), trial, 1)
        factors = json.loads(str(row["factors"] or "{}"))
        reading = Reading(row["outcome"], row["choice"], is_final=bool(row["is_final"]), factors=factors)  # type: ignore[arg-type]
        history.append(Turn(prompt, reply, reading, trial.trial_id))
    if len(history) != len(stored_turns):
        raise ValueError(f"{len(stored_turns)} answers are stored, of which {len(history)} are consecutive")
    return history


def stored_turns(db: Path, study: str, conversation_ids: list[str]) -> dict[str, Turns]:
    """Return answered attempts by conversation, trial and turn. Those of a game that another collector played
    and that does not count are left out."""
    turns: dict[str, Turns] = {}
    of_these, values = f"{_ANSWERED} AND conversation_id IN $ids", {"study": study, "ids": conversation_ids}
    aside = repeated_of(db, conversation_ids) if conversation_ids else set()
    for part in attempts_where(db, of_these, values, _COLUMNS) if conversation_ids else ():
        for row in part.iter_rows(named=True):
            if row["attempt_id"] in aside:
                continue
            turns.setdefault(row["conversation_id"], {})[row["trial_id"], row["turn"]] = row
    return turns
