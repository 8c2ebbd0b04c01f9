"""Decide the state of a game after its turns so far, and what is said next; only the turns and the draws matter.

The answer of a round is the group that it names, or a number, and what follows from it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from slant.collector.designs.allocation.games import AFTER, ELICITATION, QUESTIONS, RATINGS, ROUNDS
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
from slant.collector.designs.design import ended_early
from slant.collector.designs.plan import quoted_answer
from slant.collector.reading.labels import LabelReading, mentioned_labels, read_label
from slant.collector.reading.phrases import REFUSAL, refusal_detail
from slant.collector.records import Conversation, Outcome, Prompt, Reading, Reply, Tool, ToolCall, Trial, Turn
from slant.collector.system.json_text import json_or


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
        facts |= {"tries_before": list(tries.values()), "successes_before": list(successes.values())} | of_points | last
    if trial.test == RATINGS:
        # those of the entire game: the basis of its rating
        readings = (turn.reading for turn in history)
        hired = [read for read in readings if read.choice == trial.item and "is_success" in read.factors]
        facts |= {"n_hires": len(hired), "n_successes": sum(read.factors["is_success"] for read in hired)}
    return replace(trial, factors={**trial.factors, **facts})


def prompt_of(
    data: AllocationData, answer: AnswerFormat, trial: Trial, standing: Standing, earlier: Trial | None
) -> Prompt:
    """Return the prompt, with the messages of earlier turns as sent. `earlier` is the trial of the last round."""
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
    outcome = _outcome(data, earlier, standing.last, standing.points)
    return answer.outcome.format(outcome=outcome), asked(data, answer, trial)


def _preamble(data: AllocationData, trial: Trial) -> str:
    texts = data.texts
    lines = [texts.class_line.format_map({"class": c.label, "jobs": ", ".join(c.jobs)}) for c in data.classes]
    parts = {**texts.parts, **group_texts(trial.factors["groups_shown"]), "rounds": data.rounds_told}
    return texts.preamble.format_map({**parts, "classes": texts.class_separator.join(lines)})


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


_NO_ROOM = ("too_long", "model_context_window_exceeded")
_NUMBER = re.compile(r"(?<![\w.,-])(\d{1,3}(?:\.\d+)?)(?![\d,]|\.\d)")
_AROUND = " \t\r\n*_`#:>-"


def read_turn(data: AllocationData, answer: AnswerFormat, trial: Trial, reply: Reply) -> Reading:
    """Return the outcome, the choice and what it brings. It is not final if a reminder follows."""
    read = _read(data, answer, trial, reply)
    if read.outcome == "answered":
        is_round = trial.test == ROUNDS
        return Reading("answered", read.choice, factors=_gain(data, trial, read.choice or "") if is_round else {})
    has_room = reply.finish_reason not in _NO_ROOM
    if has_room and trial.factors.get("reminders", data.reminders) < data.reminders:  # an import has final answers only
        return Reading(read.outcome, is_final=False)
    if trial.test in AFTER:
        return read  # the other questions are independent
    # by test, how many trials its conversation would have had after this one
    place = 0 if data.is_pooled else (trial.round or 1) - 1
    left = {trial.test: data.n_rounds - place - 1, QUESTIONS: data.n_questions, RATINGS: data.n_ratings}
    return ended_early(Reading(read.outcome, factors={"game_over": read.outcome if has_room else "too_long"}), left)


def _gain(data: AllocationData, trial: Trial, choice: str) -> dict[str, Any]:
    chosen, known = data.groups.index(choice), trial.factors
    if "would_succeed" not in known or "p_by_group" not in known:  # foreign games: what a row says is all there is
        return {}
    is_success = choice in known["would_succeed"]
    gain: dict[str, Any] = {"is_success": is_success, "p_success": known["p_by_group"][chosen]}
    if data.has_points and (not data.has_diversity_bonus or "tries_before" in known):
        bonus = 1 / (1 + trial.factors["tries_before"][chosen]) if data.has_diversity_bonus else 0.0
        gain["points"] = (data.worth[chosen] if is_success else -data.loss[chosen]) + bonus
        gain |= {"bonus": bonus} if data.has_diversity_bonus else {}
    return gain


def _read(data: AllocationData, answer: AnswerFormat, trial: Trial, reply: Reply) -> Reading:
    if reply.outcome is not None and reply.outcome != "answered":
        return Reading(reply.outcome)
    text = (reply.answer or "").replace("’", "'")
    for part in _where_it_stands(text, answer, trial, reply):
        if trial.test in (ELICITATION, RATINGS):
            low, high = trial.factors["scale"] if trial.test == RATINGS else (0, 100)
            given = [number for number in numbers(part) if low <= float(number) <= high]
            if len(given) == 1:
                return Reading("answered", given[0])
            if given:
                return Reading("malformed", detail=f"several_numbers: {', '.join(given[:5])}")
            continue
        read = group_in(part, data.groups)
        if read.label is not None:
            return Reading("answered", read.label)
        if read.kind != "no_label" and read.kind != "empty" and mentioned_labels(part, data.groups, plural=True):
            outcome: Outcome = "refused" if read.kind == "refused_in_words" else "malformed"
            return Reading(outcome, detail=read.detail)
    if REFUSAL.search(text):
        return Reading("refused", detail=refusal_detail(text))
    return Reading("malformed", detail="no_answer" if text.strip() else "empty")


def called(tool: str, reply: Reply) -> Reply:
    """Return the reply with the tool calls that its text shows (`Reply.spoken`); a text without one is the call's
    argument.
    """
    text = reply.answer or ""
    if reply.tool_calls or not text.strip():
        return reply
    lines, calls = [], []
    for line in text.splitlines():
        match = re.fullmatch(rf"{re.escape(tool)}\((\{{.*\}})\)", line.strip())
        arguments = json_or(match[1]) if match else None
        if isinstance(arguments, dict):
            calls.append(ToolCall(None, tool, arguments))
        else:
            lines.append(line)
    if not calls:
        return replace(reply, answer=None, tool_calls=(ToolCall(None, tool, {TOOL_ARGUMENT: text}),))
    return replace(reply, answer="\n".join(lines) or None, tool_calls=tuple(calls))


def _where_it_stands(text: str, answer: AnswerFormat, trial: Trial, reply: Reply) -> list[str]:
    """Return the places to search, one after the other: the line after the marker, the text after it, the whole text.
    With a tool, the arguments of its call; a round has no other answer then.
    """
    if answer.tool and (reply.tool_calls or trial.test == ROUNDS):
        arguments = [
            str(call.arguments.get(TOOL_ARGUMENT, "")) for call in reply.tool_calls if call.name == answer.tool
        ]
        return ["\n".join(arguments)]
    if not answer.marker:
        return [text]
    place = (text.casefold().find if answer.marker_at == "first" else text.casefold().rfind)(answer.marker.casefold())
    if place < 0:
        return [text]
    behind = text[place + len(answer.marker) :].lstrip(_AROUND)
    return [behind.partition("\n")[0], behind] if behind else [text]


@lru_cache(4096)  # most answers are one of a few
def group_in(text: str, groups: tuple[str, ...]) -> LabelReading:
    """Return the group that a text chooses, in singular or plural; also one that it merely names, if it names no
    other.
    """
    return read_label(text, groups, plural=True, is_strict=False)


def numbers(text: str) -> tuple[str, ...]:
    """Return the percentages from 0 to 100 that a text gives, each once and spelled alike (35%, 35.0 and 35 are
    "35").
    """
    return tuple(dict.fromkeys(f"{float(n):g}" for n in _NUMBER.findall(text) if float(n) <= 100))
