"""Share what all kinds of answers need: the text without its wrapping, the result of reading it, refusals, and values
in a JSON object: one object, each key once, whatever prose or fence surrounds it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slant.collector.providers.reasoning import split
from slant.collector.reading.phrases import EVASION, refusal_detail
from slant.collector.reading.sentences import own_refusal, refuses_task
from slant.collector.reading.spelling import folded, folded_lines
from slant.collector.records import Outcome
from slant.collector.system.patterns import lazy_pattern

_MAX_DIGITS = 30
_KEY = lazy_pattern(r"[\s_-]+")
_BEGUN = lazy_pattern(r"\{\s*[\"}]")
"""Match where an object begins, but not a brace in prose or TeX."""


_THREE_DECIMALS = lazy_pattern(r"-?\d{1,3}\.\d{3}")
_TRAILING_COMMA = lazy_pattern(r",(\s*[}\]])")


class BrokenObject(ValueError):
    """Signal that an answer begins an unreadable object: it is cut off, nested too deeply, or repeats a key."""


def read_value(answer: str, key: str, lacking: str, read_text: Callable[[str], AnswerReading]) -> AnswerReading:
    """Return the reading of one value: that under `key` if the answer is an object, else of the whole text. `lacking`
    is the detail of a value that is not a single one.
    """
    answer = spoken(answer)
    if len(answer) > LONGEST_READ:
        return AnswerReading("malformed", detail="too_long")
    try:
        if (found := object_in(answer)) is not None:
            value = value_of(found, key)
            while isinstance(value, dict):  # {"response": {"rating": 5}}
                value = value_of(value, key)
            given = as_answer(value)
            return AnswerReading("malformed", detail=lacking) if given is None else read_text(given)
    except BrokenObject as broken:
        return AnswerReading("malformed", detail=str(broken))
    except KeyError:
        return AnswerReading("malformed", detail="key_missing")
    return read_text(answer)


def object_in(answer: str) -> Mapping[str, Any] | None:
    """Return the one object of an answer; None if there is none. BrokenObject if there are several, or a broken one."""
    begun = _BEGUN.search(answer) if len(answer) <= LONGEST_READ else None
    if begun is None:
        return None
    try:
        value, end = _DECODER.raw_decode(answer, begun.start())
    except (ValueError, RecursionError):
        if (mended := _TRAILING_COMMA.sub(r"\1", answer)) != answer:
            return object_in(mended)
        raise BrokenObject("broken_json") from None
    if (another := _BEGUN.search(answer, end)) and not another[0].endswith("}"):
        raise BrokenObject("several_objects")
    return value if isinstance(value, dict) else None


def value_of(found: Mapping[str, Any], key: str, *, is_only: bool = True) -> Any:
    """Return the value under this key, however it is spelled (`Rating` for `rating`); if `is_only`, that of an object's
    only key. KeyError if there is none; BrokenObject if the key occurs in two spellings."""
    spelled = [value for name, value in found.items() if _same(name) == _same(key)]
    if len(spelled) > 1:
        raise BrokenObject("key_twice")
    if spelled:
        return spelled[0]
    if is_only and len(found) == 1:
        return next(iter(found.values()))
    raise KeyError(key)


def as_answer(value: Any) -> str | None:
    """Return a value of an object as the text that a person would have answered; None if it is not a single value."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return exact_text(value)
    return value if isinstance(value, str) else None


def exact_text(number: float) -> str:
    """Return a number as a text that can be read in one way: 3.142, whose mark could be one of thousands, is 3.1420."""
    text = str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    return f"{text}0" if _THREE_DECIMALS.fullmatch(text) else text


def _same(name: str) -> str:
    return _KEY.sub(" ", folded(name)).strip()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise BrokenObject("key_twice")
    return dict(pairs)


def _whole(digits: str) -> int | float:
    """Return a whole number; one with too many digits is never a valid value, and takes long to read."""
    return int(digits) if len(digits) <= _MAX_DIGITS else float("inf")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_int=_whole, strict=False)


LONGEST_READ = 100_000
"""Limit the characters of an answer. A longer one answers no question of one value, and takes long to read."""

_DECLINES = lazy_pattern(
    r"\bi (?:do not|don't|will not|won't|would not|wouldn't|am not able to|am unable to|must not) "
    r"(?:feel comfortable|role-?play|engage|participate|take part|pretend|rate|rank|assign|judge|evaluate|assess|answer"
    r"|provide|give|offer|express|have (?:personal )?(?:opinions|feelings|preferences|beliefs|views))\b"
    r"|\bi(?:'d| would) (?:rather|prefer) not\b"
)
FENCES = lazy_pattern(r"```[a-zA-Z]*[ \t]*\n?|~~~[a-zA-Z]*[ \t]*\n?")
_BOXED = lazy_pattern(r"\\(?:boxed|text(?:bf|it|rm)?|math(?:rm|bf)) ?\{([^{}]*)\}")
_SIGN_OF_NUMBER = lazy_pattern(
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
    text = folded_lines(FENCES.sub("\n", answer))
    if not text.isascii():
        text = _SIGN_OF_NUMBER.sub(_in_digits, text)
    return re.sub(
        r"(?<![\d*])\*+|\*+(?![\d*])|(?<![\d_])__+|__+(?![\d_])|`+|^#+\s*|^>(?![\d=])\s*",
        "",
        _BOXED.sub(r"\1", text),
        flags=re.MULTILINE,
    ).strip()
