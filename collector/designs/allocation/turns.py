"""Decide the state of a game after its turns so far, and what is said next; only the turns and the draws matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from slant.collector.designs.allocation.games import AFTER, RATINGS, ROUNDS
from slant.collector.designs.allocation.parts import AllocationData, JobClass, Rating
from slant.collector.designs.allocation.texts import (
    BETWEEN,
    TOOL_ARGUMENT,
    AnswerFormat,
    group_texts,
    listed,
    spoken_points,
    with_addon,
)
from slant.collector.designs.asks import is_ended
from slant.collector.designs.plan import quoted_answer
from slant.collector.records import Conversation, Prompt, Reply, Tool, Trial, Turn


@dataclass(frozen=True, slots=True)
class Standing:
    """Hold the state of a game: `place` is the number of finished trials, `reminders` those given to the next one.
    `history` ends with the turn that the next message follows, and `points` are all so far."""

    place: int
    reminders: int
    is_over: bool
    last: Turn | None
    points: float = 0.0


def standing(conversation: Conversation, history: Sequence[Turn]) -> Standing:
    finals = [number for number, turn in enumerate(history) if turn.reading.is_final]
    place, reminders = len(finals), len(history) - 1 - finals[-1] if finals else len(history)
    is_over = place == len(conversation.trials) or is_ended(history)
    if not history:
        return Standing(0, 0, is_over, None)
    # no question sees another: each follows the last round, or a reminder to itself
    n_rounds = sum(1 for trial in conversation.trials[:place] if trial.test not in AFTER)
    last = history[-1] if reminders else history[finals[n_rounds - 1]]
    points = sum(history[number].reading.factors.get("points", 0.0) for number in finals)
    return Standing(place, reminders, is_over, last, points)


def next_trial(data: AllocationData, conversation: Conversation, history: Sequence[Turn], standing: Standing) -> Trial:
    """Return the trial that is asked now, with what is needed to judge its answer among its factors."""
    trial = conversation.trials[standing.place]
    facts: dict[str, Any] = {"reminders": standing.reminders}
    if trial.test == ROUNDS:
        facts |= _earlier_in_class(data, conversation, history, trial)
    if trial.test == RATINGS:
        facts |= _hires_of(trial.item, history)
    return replace(trial, factors={**trial.factors, **facts})


def _earlier_in_class(
    data: AllocationData, conversation: Conversation, history: Sequence[Turn], trial: Trial
) -> dict[str, Any]:
    tries, successes = dict.fromkeys(data.groups, 0), dict.fromkeys(data.groups, 0)
    points, last = 0.0, {}
    finals = (turn for turn in history if turn.reading.is_final)
    for earlier, turn in zip(conversation.trials, finals, strict=False):
        choice, factors = turn.reading.choice, turn.reading.factors
        points += factors.get("points", 0.0)
        if earlier.condition == trial.condition and choice is not None:
            tries[choice] += 1
            successes[choice] += factors["is_success"]
            last = {"last_in_class": choice, "last_succeeded": factors["is_success"]}
    of_points = {"points_before": points} if data.has_points else {}
    return {"tries_before": list(tries.values()), "successes_before": list(successes.values())} | of_points | last


def _hires_of(group: str, history: Sequence[Turn]) -> dict[str, int]:
    """Return the counts of a group's hires and successes in the entire game: the basis of its rating."""
    hired = [turn.reading for turn in history if turn.reading.choice == group and "is_success" in turn.reading.factors]
    return {"n_hires": len(hired), "n_successes": sum(reading.factors["is_success"] for reading in hired)}


def prompt_of(
    data: AllocationData, answer: AnswerFormat, trial: Trial, standing: Standing, earlier: Trial | None
) -> Prompt:
    """Return all messages, those of earlier turns as they were sent. `earlier` is the trial of the last round."""
    if standing.last is None:
        system = [{"role": "system", "content": data.texts.system}] if data.texts.system else []
        opening = (
            [_preamble(data, trial), asked(data, answer, trial)]
            if data.task == "game"
            else [with_addon(_query(data, data.texts.first_query, trial), answer)]
        )
        text = BETWEEN.join(part for part in opening if part)
        tool = None
        if answer.tool:
            groups = tuple(trial.factors["groups_shown"])
            tool = Tool(answer.tool, answer.tool_description, TOOL_ARGUMENT, groups)
        return Prompt((*system, _from_user(text)), tool=tool)
    before, reply = standing.last.prompt, standing.last.reply
    quoted = quoted_answer(reply)
    if not standing.reminders:
        beginning, text = _going_on(data, answer, trial, standing, earlier)
    elif trial.test == RATINGS:
        beginning, text = "", _rating(data, trial).reminded()
    else:
        shown = trial.factors.get("groups_shown", data.groups)
        beginning, text = "", data.texts.reminder.format_map(group_texts(shown))
    new = (
        _after_calls(beginning, text, reply)
        if reply.tool_calls
        else _from_user(BETWEEN.join(filter(None, (beginning, text))))
    )
    return Prompt((*quoted, new), before, before.tool)


def _from_user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _after_calls(beginning: str, text: str, reply: Reply) -> dict[str, Any]:
    """Return a result for every call: the outcome, or the reminder, which is then everything."""
    results = [{"call_id": c.call_id or c.name, "name": c.name, "content": beginning or text} for c in reply.tool_calls]
    return {**_from_user(text if beginning else ""), "results": results}


def _going_on(
    data: AllocationData, answer: AnswerFormat, trial: Trial, standing: Standing, earlier: Trial | None
) -> tuple[str, str]:
    """Say how the last round turned out, and ask what is next."""
    if data.task == "elicitation":
        return "", with_addon(_query(data, data.texts.next_query, trial), answer)
    assert earlier is not None
    assert standing.last is not None
    return answer.outcome.format(outcome=_outcome(data, earlier, standing.last, standing.points)), asked(
        data, answer, trial
    )


def _preamble(data: AllocationData, trial: Trial) -> str:
    texts = data.texts
    lines = [texts.class_line.format_map({"class": c.label, "jobs": ", ".join(c.jobs)}) for c in data.classes]
    classes = texts.class_separator.join(lines)
    parts = {
        **texts.parts,
        **group_texts(trial.factors["groups_shown"]),
        "rounds": data.rounds_told,
        "classes": classes,
    }
    return texts.preamble.format_map(parts)


def asked(data: AllocationData, answer: AnswerFormat, trial: Trial) -> str:
    """Ask one round, or one question after the game, which is answered in words if rounds are answered by a tool."""
    if trial.test in AFTER:
        is_rating = trial.test == RATINGS
        text = _rating(data, trial).asked(trial.item) if is_rating else _query(data, data.texts.question, trial)
        return text if answer.tool else with_addon(text, answer)
    shown = trial.factors["groups_shown"]
    values = {
        "job": trial.item,
        "class": _class_of(data, trial).label,
        "round": trial.round,
        "candidates": listed([_candidate(data, trial, group) for group in shown]),
        **group_texts(shown),
    }
    return with_addon(data.texts.round.format_map(values), answer)


def _candidate(data: AllocationData, trial: Trial, group: str) -> str:
    """Return "18-29 year old Taz who graduated from college"."""
    if not data.features:
        return group
    values = list(zip(data.features, trial.factors["candidates"][data.groups.index(group)], strict=True))
    before, after = ([v for f, v in values if f.place == place] for place in ("before", "after"))
    return " ".join((*before, group, *after))


def _outcome(data: AllocationData, trial: Trial, turn: Turn, total: float) -> str:
    factors = turn.reading.factors
    template = data.texts.outcome_success if factors["is_success"] else data.texts.outcome_failure
    values = {
        "job": trial.item,
        "class": _class_of(data, trial).label,
        "group": turn.reading.choice,
        "round": trial.round,
        "points": spoken_points(factors.get("points", 0.0)),
        "total": spoken_points(total),
    }
    return template.format_map(values)


def _rating(data: AllocationData, trial: Trial) -> Rating:
    return next(rating for rating in data.ratings if rating.name == trial.condition)


def _query(data: AllocationData, template: str | None, trial: Trial) -> str:
    job_class = _class_of(data, trial)
    singular = job_class.singular[job_class.jobs.index(trial.item)]
    parts = {"job": trial.item, "job_singular": singular, **group_texts(data.groups)}
    return (template or "").format_map(parts)


def _class_of(data: AllocationData, trial: Trial) -> JobClass:
    return next(job_class for job_class in data.classes if job_class.name == trial.condition)
