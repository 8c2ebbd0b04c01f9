"""Choose which trials are asked again, and on which occasion: a balanced sample of those answered, always the same.

What was asked on an earlier occasion is taken first, so that occasions have the same trials; the rest follows in the
seeded order of the plan. An interrupted occasion is finished before a new one begins.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import compress
from pathlib import Path

from slant.collector.designs.study import Study
from slant.collector.errors import DatabaseEmptyError, UsageError, as_typed
from slant.collector.keep.database import reading
from slant.collector.keep.final_trials import Finals, read_finals
from slant.collector.keep.journal_loader import offsets_in
from slant.collector.keep.stored_attempts import attempts_where, unloaded_lines
from slant.collector.plan.conversations import Occasion, done_in, quotas
from slant.collector.plan.run_plan import ModelPlan, RunPlan, up_to_date

GIVEN_UP_AFTER = 2  # runs in which a trial failed on one occasion before its answer is given up
_LATER = "occasion IS NOT NULL AND study = $study AND variant = $variant"
_COLUMNS = "first_trial_id, trial_id, occasion, run_id, outcome"


@dataclass
class _Earlier:
    """Hold what was asked on later occasions: occasions by trial of the plan, runs by occasion, and by trial of an
    occasion the runs in which it failed."""

    occasions: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    runs: dict[tuple[str, int], set[str]] = field(default_factory=lambda: defaultdict(set))
    failures: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def again_of(run_plan: RunPlan, trials: int) -> RunPlan:
    """Return the same run plan, asking about `trials` of each model's answered trials once more.

    Models without an answer are left out with that reason. Raise UsageError if no model has one, if `trials` is less
    than one per condition, and for games, whose rounds follow from each other.
    """
    if run_plan.study.design.asks.plays_games:
        raise UsageError(
            f'The trials of "{run_plan.study.name}" can\'t be asked again one by one: each round of a game follows '
            "from those before it.",
            "To play whole games once more, as games of their own: collect --repetitions N, or another --seed.",
        )
    earlier = _read_earlier(run_plan.db, run_plan.study)
    finals = read_finals(run_plan.db, run_plan.study.name)
    plans = [
        (model_plan, _with_occasion(run_plan, model_plan, trials, earlier, finals))
        for model_plan in run_plan.model_plans
    ]
    unanswered = [(model_plan.name, "nothing of it is here to ask again") for model_plan, plan in plans if plan is None]
    if unanswered and len(unanswered) == len(plans):
        raise UsageError(
            f'Nothing of "{run_plan.study.name}" can be asked again: no trial has an answer in {run_plan.db} yet.',
            f"Ask it first: leave out --again. To see what is there: collect status --db {as_typed(run_plan.db)}",
        )
    model_plans = tuple(plan for _, plan in plans if plan is not None)
    return up_to_date(replace(run_plan, model_plans=model_plans, left_out=(*run_plan.left_out, *unanswered)))


def occasion_notes(run_plan: RunPlan) -> Iterator[str]:
    """Yield a sentence for each model: which occasion it is, and what is to be finished first."""
    for model_plan in run_plan.model_plans:
        if (occasion := model_plan.occasion) is None:
            continue
        if occasion.is_resumed:
            yield (
                f"{model_plan.name}: occasion {occasion.number} was broken off with "
                f"{model_plan.already_done:,} of {model_plan.planned:,} trials, and is finished first. The same "
                "command then begins another."
            )
        else:
            n_trials = f"{model_plan.planned:,} trials that have an answer"
            yield f"{model_plan.name}: occasion {occasion.number}, {n_trials}."


def _with_occasion(
    run_plan: RunPlan, model_plan: ModelPlan, trials: int, earlier: _Earlier, finals: Finals
) -> ModelPlan | None:
    """Return the model with the occasion that it is asked on; None if it has no answer."""
    design_plan = run_plan.study.design.asks.plan(run_plan.study, model_plan.model, run_plan.seed)
    conversations = [
        _Answered(design_plan.conversation_id(place), design_plan.cell(place), design_plan.trial_ids(place))
        for place in compress(
            design_plan.places(run_plan.repetitions), done_in(*run_plan.plan_of(model_plan.model), finals).conversations
        )
    ]
    if not conversations:
        return None
    before = (n for each in conversations for trial_id in each.trial_ids for n in earlier.occasions.get(trial_id, ()))
    latest = max(before, default=1)
    if latest > 1:
        wanted = _n_again(run_plan, latest, conversations, earlier) or trials
        resumed = Occasion(latest, wanted, _sample(run_plan.study, conversations, wanted, earlier), is_resumed=True)
        chosen = [each for each in conversations if each.conversation_id in resumed.chosen]
        if _is_broken_off(chosen, resumed, earlier, finals):
            return _planned(model_plan, chosen, resumed)
    occasion = Occasion(latest + 1, trials, _sample(run_plan.study, conversations, trials, earlier))
    return _planned(model_plan, [c for c in conversations if c.conversation_id in occasion.chosen], occasion)


@dataclass(frozen=True, slots=True)
class _Answered:
    conversation_id: str
    cell: tuple[str, str]
    trial_ids: tuple[str, ...]


def _sample(study: Study, conversations: list[_Answered], trials: int, earlier: _Earlier) -> frozenset[str]:
    """Choose whole conversations that fill each test and condition alike, those of earlier occasions first."""
    tests = [test.test for test in study.tests]
    left = quotas({each.cell for each in conversations}, tests, trials, "--again")
    chosen: set[str] = set()
    for each in sorted(conversations, key=lambda c: not any(name in earlier.occasions for name in c.trial_ids)):
        if left[each.cell] > 0:
            left[each.cell] -= len(each.trial_ids)
            chosen.add(each.conversation_id)
    return frozenset(chosen)


def _planned(model_plan: ModelPlan, chosen: list[_Answered], occasion: Occasion) -> ModelPlan:
    return replace(model_plan, planned=sum(len(each.trial_ids) for each in chosen), occasion=occasion)


def _is_broken_off(chosen: list[_Answered], occasion: Occasion, earlier: _Earlier, finals: Finals) -> bool:
    """Return whether a part of an occasion is still to be asked. What failed in run after run is given up: otherwise a
    trial that can't be answered would keep every later occasion from beginning."""
    later = [tuple(map(occasion.later_id, each.trial_ids)) for each in chosen]
    flags = finals.among_conversations(later)
    ids = (trial_id for conversation in later for trial_id in conversation)
    pending = [trial_id for trial_id, flag in zip(ids, flags, strict=True) if not flag]
    return any(len(earlier.failures.get(trial_id, ())) < GIVEN_UP_AFTER for trial_id in pending)


def _read_earlier(db: Path, study: Study) -> _Earlier:
    earlier = _Earlier()
    for part in attempts_where(db, _LATER, {"study": study.name, "variant": study.variant}, _COLUMNS):
        for first_id, trial_id, occasion, run_id, outcome in part.iter_rows():
            earlier.occasions[first_id].add(occasion)
            earlier.runs[first_id, occasion].add(run_id)
            if outcome == "failed":
                earlier.failures[trial_id].add(run_id)
    return earlier


def _n_again(run_plan: RunPlan, occasion: int, conversations: list[_Answered], earlier: _Earlier) -> int | None:
    """Return the planned number of trials of an occasion: its runs have it, in the database or in a journal."""
    runs = {run for each in conversations for name in each.trial_ids for run in earlier.runs.get((name, occasion), ())}
    return max((n for run_id, of, n in _wanted(run_plan.db) if run_id in runs and of == occasion and n), default=None)


def _wanted(db: Path) -> Iterator[tuple[str, int, int]]:
    """Yield run, occasion and intended number of trials, for every run that asked again."""
    offsets: dict[str, int] = {}
    if db.exists():
        with suppress(DatabaseEmptyError), reading(db) as connection:
            offsets = offsets_in(connection)
            query = "SELECT run_id, occasion, n_again FROM run_models WHERE occasion IS NOT NULL"
            yield from connection.execute(query).fetchall()
    for lines in unloaded_lines(db, offsets):
        for record in lines.special:
            for model in json.loads(record.get("models") or "[]") if record["kind"] == "run" else ():
                if model.get("occasion"):
                    yield record["run_id"], model["occasion"], model["n_again"]
