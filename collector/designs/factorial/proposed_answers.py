"""Tell which columns of a table hold answers: those of known names, else by their values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from slant.collector.designs.factorial.proposed_questions import kind_of
from slant.collector.designs.proposed_table import AnswerTable, number_of

ANSWERS = (
    "answer", "rating", "rating_score", "likert", "score", "scored", "judgment", "judgement", "response",
    "answer_text", "model_answer", "reply", "output", "completion", "chosen", "choice", "support", "hire", "hired",
    "invite", "invited", "callback", "recommend", "recommended", "recommendation", "decision", "likelihood",
    "suitability", "salary", "amount", "estimate", "agreement", "verdict", "ruling", "vote", "opinion", "stance",
    "grade", "selected", "selection", "preference", "prediction",
)  # fmt: skip
_ASKED = re.compile(r"(?:q|question|frage|pregunta|survey|dv|outcome)[_ ]?\d{0,3}[a-z]?(?:_\d{1,2})?")
"""Match columns as programs for surveys name what was answered: q1, q3_2."""
_MOST_WHOLE = 0.9
_SHOWN = re.compile(
    r"(?:^|_)(?:input|inputs|prompt|given|shown|true|truth|gold|expected|target|reference|baseline|human|correct)(?:_|$)"
)
"""Match names of what was put into a prompt, or is right: no answers."""
_AMOUNT = re.compile(r"\W{0,3}(?:[A-Z]{3}\s?)?[$€£]?\s?[-–]?\d")
_LONGEST_AMOUNT = 40


def answers_in(table: AnswerTable, free: Sequence[str]) -> list[str]:
    """Return the columns of answers: those that somebody said, else those of known names, else numbers and yes or no
    whose values are not as frequent as a design has them."""
    if table.answers:
        return list(table.answers)
    if named := [name for name in free if name in ANSWERS and table.levels(name)]:
        long = [name for name in named if kind_of(table.columns[name]) == "text"]
        short = [name for name in named if name not in long]
        given = [name for name in short if not _is_input(table, name, free)]
        return given or short or long[:1]
    if asked := [name for name in free if _ASKED.fullmatch(name) and len(table.levels(name)) > 1]:
        return asked
    first = next((name for name in free if table.can_be_factor(name) and table.numbers(name) is None), None)
    if first is None:
        return []
    found = [
        name
        for name in free
        if name != first
        and not (table.is_counter(name) or _SHOWN.search(name))
        and (table.numbers(name) is not None or table.is_flag(name) or _are_amounts(table, name))
        and len(table.levels(name)) > 1
        and not table.says(first, name)
        and (not table.is_crossed(name) or _is_measured(table, name))
    ]
    return [name for name in found if not table.is_measure(name)] or _words(table, free) or found


def _are_amounts(table: AnswerTable, name: str) -> bool:
    """Return True for numbers with units or words around them ($95k, 10 mg)."""
    levels = table.levels(name)
    begun = sum(_AMOUNT.match(level) is not None and len(level) <= _LONGEST_AMOUNT for level in levels)
    return begun > _MOST_WHOLE * len(levels) and kind_of(table.columns[name]) == "number"


def _words(table: AnswerTable, free: Sequence[str]) -> list[str]:
    """Return the one column of a few words that no design has as frequent as they are, next to factors that are
    crossed."""
    texts = [name for name in free if table.can_be_factor(name) and not table.is_counter(name)]
    odd = [
        name
        for name in texts
        if not table.is_crossed(name) and not any(table.says(other, name) for other in texts if other != name)
    ]
    return odd if len(odd) == 1 < len(texts) and kind_of(table.columns[odd[0]]) in ("choice", "yes_no") else []


def _is_measured(table: AnswerTable, name: str) -> bool:
    """Return True for numbers of which nearly each is another one, in no order: neither levels nor numbers of rows."""
    values = [value for value in table.columns[name] if value]
    numbers = list(map(number_of, values)) if table.numbers(name) else []
    return len(set(numbers)) > _MOST_WHOLE * len(values) and numbers not in (sorted(numbers), sorted(numbers)[::-1])


def _is_input(table: AnswerTable, name: str, free: Sequence[str]) -> bool:
    """Return True for a column called as answers are that says what was shown: right answers, or what another column
    says in all rows (a score of each candidate, put into the prompt)."""
    if _SHOWN.search(name):
        return True
    says = (other for other in free if other != name and other not in ANSWERS and table.can_be_factor(other))
    return any(table.says(other, name) for other in says)
