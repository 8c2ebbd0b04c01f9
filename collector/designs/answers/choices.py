"""Read answers that name one of several alternatives: yes or no, names, one of the profiles that were shown.

An alternative at the start decides ("Yes, because …"); elsewhere only one may be named, and it must be chosen, not only
mentioned (`labels/reader.py`). Numbered alternatives may be given by their number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from slant.collector.designs.answers.json_object import read_value
from slant.collector.designs.answers.plain import (
    LEAD,
    AnswerReading,
    answered,
    plain_lines,
    without_value,
)
from slant.collector.designs.answers.scales import Scale, read_scale
from slant.collector.designs.labels.reader import mentioned_labels, read_label
from slant.collector.designs.labels.spelling import folded

YES_NO = ("yes", "no")
_TAKES_BACK = re.compile(r"^\W*(?:wait|i mean|actually|correction|scratch that|on second thought)\b")


def read_choice(answer: str, options: Sequence[str], key: str = "choice", *, numbered: bool = False) -> AnswerReading:
    """Return the reading of an answer that is to be one of `options`, as they are spelled; if they are `numbered`, also
    by their number (from 1).
    """
    return read_value(answer, key, "no_option", lambda text: _read_text(text, tuple(options), numbered))


def _read_text(answer: str, options: tuple[str, ...], numbered: bool) -> AnswerReading:
    text = plain_lines(answer)
    if not text:
        return AnswerReading("malformed", detail="empty")
    if (start := _at_start(text, options)) is not None:
        return start
    named = mentioned_labels(text, options)
    if len(named) == 1:
        label = read_label(text, options).label
        return answered(label) if label is not None else without_value(text, "option_not_chosen")
    if named:
        return AnswerReading("malformed", detail="several_options")
    if numbered:
        number = read_scale(answer, Scale(1, len(options)))
        if number.value is not None:
            return answered(options[int(number.value) - 1])
    return without_value(text, "no_option")


@lru_cache(1024)
def _spelled(options: tuple[str, ...]) -> dict[str, str]:
    """Return the options by their spelling, the longest first."""
    return dict(sorted(((folded(option), option) for option in options), key=lambda item: (-len(item[0]), item[0])))


def _at_start(text: str, options: tuple[str, ...]) -> AnswerReading | None:
    lead = re.match(rf"[\W_]*{LEAD}[\"'(\[]*", text)
    at = lead.end() if lead else 0
    spelled = _spelled(options)
    for label, option in spelled.items():
        if text.startswith(label, at) and not re.match(r"\w", text[at + len(label) :]):
            rest, others = text[at + len(label) :], "|".join(map(re.escape, spelled))
            contradicts = rf"\W*(?:(?:and|or|but|nor|to)\b\W*(?:also\s+)?|/\s*)(?:{others})\b|\W{{0,3}}(?:{others})\b"
            if re.match(contradicts, rest) or _TAKES_BACK.match(rest) or re.match(r"[^.!\n]{0,80}\?", rest):
                return AnswerReading("malformed", detail="several_options")
            return None if _is_about(rest) else answered(option)
    return None


def _is_about(rest: str) -> bool:
    """Return True if what follows makes an option the subject of a sentence ("Person 1 is not suitable")."""
    return re.match(r"\s*(?:is|was|are|has|have|seems?|would|could|may|might|lacks?|can)\b", rest) is not None
