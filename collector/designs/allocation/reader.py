"""Read the answer of one round: the group that it names, or a number, and what follows from it in the game."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

from slant.collector.designs.allocation.games import AFTER, ELICITATION, QUESTIONS, RATINGS, ROUNDS
from slant.collector.designs.allocation.parts import AllocationData
from slant.collector.designs.allocation.texts import TOOL_ARGUMENT, AnswerFormat
from slant.collector.designs.design import ended_early
from slant.collector.reading.labels import LabelReading, mentioned_labels, read_label
from slant.collector.reading.phrases import REFUSAL, refusal_detail
from slant.collector.records import Outcome, Reading, Reply, ToolCall, Trial

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
        arguments = _arguments(match[1]) if match else None
        if arguments is None:
            lines.append(line)
        else:
            calls.append(ToolCall(None, tool, arguments))
    if not calls:
        return replace(reply, answer=None, tool_calls=(ToolCall(None, tool, {TOOL_ARGUMENT: text}),))
    return replace(reply, answer="\n".join(lines) or None, tool_calls=tuple(calls))


def _arguments(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


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
