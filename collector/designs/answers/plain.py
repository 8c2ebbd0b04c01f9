"""Share what all kinds of answers need: the text without its wrapping, the result of reading it, refusals."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from slant.collector.designs.labels.sentences import own_refusal, refuses_task
from slant.collector.designs.labels.spelling import folded_lines
from slant.collector.designs.refusals import EVASION, refusal_detail
from slant.collector.providers.templates import split
from slant.collector.records import Outcome

LONGEST_READ = 100_000
"""Limit the characters of an answer. A longer one answers no question of one value, and takes long to read."""

_DECLINES = re.compile(
    r"\bi (?:do not|don't|will not|won't|would not|wouldn't|am not able to|am unable to|must not) "
    r"(?:feel comfortable|role-?play|engage|participate|take part|pretend|rate|rank|assign|judge|evaluate|assess|answer"
    r"|provide|give|offer|express|have (?:personal )?(?:opinions|feelings|preferences|beliefs|views))\b"
    r"|\bi(?:'d| would) (?:rather|prefer) not\b"
)
_FENCES = re.compile(r"```[a-zA-Z]*[ \t]*\n?|~~~[a-zA-Z]*[ \t]*\n?")
_BOXED = re.compile(r"\\(?:boxed|text(?:bf|it|rm)?|math(?:rm|bf)) ?\{([^{}]*)\}")
_SIGN_OF_NUMBER = re.compile(
    "(?P<before>\\d?)(?P<sign>[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2079\u2080-\u2089\u2150-\u215e"
    "\u2460-\u249b\u24ea-\u24ff\u2776-\u2793\u3220-\u3229\u3251-\u325f\u3280-\u3289\u32b1-\u32bf])"
)
LEAD = (
    r"(?:(?:so|well|okay|ok|sure|certainly)[,.!:]?\s+)?"
    r"(?:(?:my|the|final|overall)\s+)*"
    r"(?:(?:answer|rating|score|response|choice|verdict|rank|decision|estimate|label|value|number)\b"
    r"(?:\s+(?:is|would be|from me is))?\s*(?:[:=–—]|-(?=\s))?\s*"
    r"|i(?:'d| would| will|'ll)?\s+(?:say|rate (?:it|this|them|him|her)(?: (?:as|at))?|give (?:it|this|them|him|her)"
    r"|choose|pick|select|answer|go with|go for|estimate|prefer)\s*:?\s*)?"
)
"""Match what may introduce a value, in a folded text."""


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """Hold what an answer to one question says: the outcome, the value as text (None if there is none), and the kind of
    an answer without a value."""

    outcome: Outcome
    value: str | None = None
    detail: str | None = None


def answered(value: str) -> AnswerReading:
    return AnswerReading("answered", value)


def without_value(text: str, detail: str) -> AnswerReading:
    """Return the reading of an answer in which no value was found: a refusal if it says so, else malformed."""
    if refuses(text):
        return AnswerReading("refused", detail=refusal_detail(text))
    return AnswerReading("malformed", detail=detail)


def refuses(text: str) -> bool:
    """Return whether a folded text without value refuses."""
    return refuses_task(text) or bool(_DECLINES.search(text))


def declines(text: str) -> bool:
    """Return whether the author of a free text refuses (not a person quoted in it)."""
    return bool(own_refusal(text) or _DECLINES.search(text) or EVASION.search(text))


def spoken(answer: str) -> str:
    """Return the answer itself, without reasoning that a server left in it."""
    parts = split(answer) if len(answer) <= LONGEST_READ else None
    return answer if parts is None else parts[1]


def without_bullets(text: str) -> str:
    """Return a text without the dashes of a list: "- 5" is 5 if no number below 0 was asked for."""
    return re.sub(r"^[-–—•]\s+(?=\S)", "", text, flags=re.MULTILINE)


def _in_digits(match: re.Match[str]) -> str:
    """Return ⑤, ❺ and ⁵ as 5, ½ as .5 (2½ as 2.5); after a digit, ² is a power or a note: ^2."""
    number = unicodedata.numeric(match["sign"])
    if not number.is_integer():
        return match["before"] + f"{number:.4f}".removeprefix("0").rstrip("0")
    return f"{match['before']}{'^' if match['before'] else ''}{int(number)}"


def plain_lines(answer: str) -> str:
    """Return an answer folded (`labels/spelling.py`), without fences, Markdown and boxes, and with plain digits for ⑤
    and ⁵; lines stay lines."""
    text = folded_lines(_FENCES.sub("\n", answer))
    if not text.isascii():
        text = _SIGN_OF_NUMBER.sub(_in_digits, text)
    return re.sub(r"\*+|__+|`+|^#+\s*|^>(?!\d)\s*", "", _BOXED.sub(r"\1", text), flags=re.MULTILINE).strip()
