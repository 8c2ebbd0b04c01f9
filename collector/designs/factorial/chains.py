"""What follows from an answer: its measures, and chains.

Chains are questions whose prompts show earlier answers of the same conversation, perhaps in a fresh one.

A placeholder {answer.QUESTION} or {reasoning.QUESTION} names a question that is asked before. What is put in its place
is the model's text, and is searched for no placeholder. An answer that was refused or not read ends its chain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from slant.collector.designs.factorial.parts import FactorialData, check_measure_name
from slant.collector.designs.factorial.questions import ANSWER, OF_PROFILE, REASONING, REVERSED
from slant.collector.errors import UnknownNameError
from slant.collector.reading.plain import spoken
from slant.collector.reading.text_measures import TYPED, TextMeasure
from slant.collector.records import Reading, Reply, Trial, Turn


def earlier_texts(data: FactorialData, trials: Iterable[Trial], history: Sequence[Turn]) -> dict[str, str]:
    """Return the texts of these turns that a later prompt can show, by placeholder."""
    texts = {}
    for trial, turn in zip(trials, history, strict=False):
        (name,) = trial.factors["questions"]
        texts[f"{ANSWER}.{name}"] = _answer(data, name, trial, turn)
        texts[f"{REASONING}.{name}"] = turn.reply.reasoning_text or ""
    return texts


def _answer(data: FactorialData, name: str, trial: Trial, turn: Turn) -> str:
    """Return an answer as it was given: a text to the byte, what a form found, the point as the scale was shown."""
    question, shown = data.questions[name], trial.factors
    if question.kind == "text" and data.form_of(name, shown) is None:
        return spoken(turn.reply.answer or "")
    value = str((turn.reading.factors.get("values") or [""])[0])
    if value and question.shown_kind == OF_PROFILE:
        return data.profiles.labels(shown["template"])[int(value) - 1]
    if value and question.kind == "scale" and shown["directions"][0] == REVERSED:
        return str(question.scale.low + question.scale.high - int(value))
    return value


def with_measures(data: FactorialData, shown: Mapping[str, Any], reading: Reading) -> Reading:
    """Return the reading with the measures of its answers, by name ("": not read), and those that are not reached."""
    asked = list(shown["questions"])
    values = list(reading.factors.get("values") or [""] * len(asked))
    outcomes = list(reading.factors.get("outcomes") or [reading.outcome] * len(asked))
    kept = {name: found for name, *found in zip(*(shown.get(key) or () for key in _KEYS), strict=True)}
    found: dict[str, list[str]] = {}
    for name, measure in data.measures.items():
        if measure.function == TYPED and measure.call is None:  # what an earlier reading made
            found |= {name: kept[name]} if name in kept else {}
        elif measure.question in asked:
            place = asked.index(measure.question)
            value = measure.value(values[place]) if values[place] else None
            found[name] = ["" if value is None else f"{value:.10g}", outcomes[place]]
    left = reading.factors.get("not_asked") or {}
    if later := {name: 0 for name, measure in data.measures.items() if measure.question in left}:  # no turns
        reading = replace(reading, factors={**reading.factors, "not_asked": {**left, **later}})
    if not found:
        return reading
    named = dict(zip(_KEYS, ([*found], *map(list, zip(*found.values(), strict=True))), strict=True))
    return replace(reading, factors={**reading.factors, **named})


_KEYS = ("measures", "measured", "measured_outcomes")


def with_typed(
    data: FactorialData, functions: Mapping[str, Callable[[str], float | None] | None], of: str | None
) -> FactorialData:
    """Return a study's data with measures by functions of a person (None: only kept), of the question `of` or the only
    one with a text."""
    texts = [name for name, one in data.questions.items() if one.kind == "text"]
    if not any(functions.values()):  # what was measured is only kept, whatever the question
        of = next(iter(data.questions))
    of = of or (texts[0] if len(texts) == 1 else None)
    if of is None or of not in data.questions:
        raise UnknownNameError("question (--of) to measure", of or "", data.questions)
    for name in functions:
        check_measure_name(name, data.questions, "--measure")
    return replace(data, measures={**data.measures, **{n: TextMeasure(of, TYPED, (), f) for n, f in functions.items()}})


def not_reached(data: FactorialData, trial: Trial, reply: Reply, reading: Reading) -> Mapping[str, int]:
    """Return the questions of a chain that this answer leaves unasked; empty if the chain goes on."""
    if not data.is_chain or "n_turns" not in trial.factors or "goes_on" in trial.factors:
        return {}
    wanted = f"{REASONING}.{trial.factors['questions'][0]}"
    later = list(data.questions.values())[trial.round :]
    is_lacking = not reply.reasoning_text and any(wanted in question.links for question in later)
    return {question.name: 1 for question in later} if reading.outcome != "answered" or is_lacking else {}
