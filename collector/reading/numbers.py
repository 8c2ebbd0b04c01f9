"""Read answers to a question for a number: one number, with its unit.

A number that could be read in two ways is not read: `1.250,50` and `1.250` may have thousands or decimals (unless the
question's range or its decimal mark says which), `10-20` has two, and `0.75` to a question for percent may be a share.
Numbers that are no answer because another one is are taken out first: "5 because she has 4 years of experience" gives
one rating. Only things of a closed list are taken to be counted: of "4 good, 5" nothing is taken out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from slant.collector.reading.plain import (
    LEAD,
    AnswerReading,
    answered,
    plain_lines,
    read_value,
    without_bullets,
    without_value,
)
from slant.collector.reading.written_numbers import (
    NUMBER,
    NUMBER_WORDS,
    PARTS,
    WORDS,
    as_figures,
    numbers_in,
    with_magnitudes,
    with_signs,
)
from slant.collector.system.patterns import lazy_pattern

_THINGS = (
    "years? months? weeks? days? hours? minutes? semesters? jobs? positions? roles? degrees? languages? child "
    "children kids? people persons? men women companies company firms? employers? projects? skills? reasons? "
    "trips? visits? times criteria criterion candidates? applicants? profiles? options? articles? papers? "
    "books? certificates? traits? qualities strengths weaknesses concerns? factors? jahre?n? monate?n? "
    "wochen? kinder stellen sprachen gründe ans? années mois enfants langues años meses hijos idiomas anni "
    "mesi figli lingue anos filhos jaar kinderen talen år"
)
_NOUNS = "|".join(_THINGS.split())
_COUNTED = lazy_pattern(
    r"(?<![\w.,/$€£¥-])(?:\d+\s*(?:-|–|to|or|of(?:\s+the)?|out of)\s*)?\d+(?:[.,]\d)?\+?(?:\s+|-)"
    rf"(?:(?:full|long|more|other|young|small|different|good|main|previous|relevant)\s+)?(?P<thing>{_NOUNS})\b"
)
_DENIED = lazy_pattern(
    r"(?:,|\b(?:and|but))?\s*\b(?:not|nicht|pas|rather than|instead of)\s+(?:an?\s+|eine?\s+|un\s+)?\d+"
    r"(?=\s*(?:[.;:!)]?\s*$|[.;:!)]\s|\n|because\b|since\b|,?\s*(?:but|sondern|mais|rather|instead|so)\b|,\s*(?:an?|it's|i'd)\b))",
    re.MULTILINE,
)
_CONFIDENCE = lazy_pattern(
    r"[(\[,;–—-]?\s?\b(?:confidence|certainty|probability|sicherheit|confiance|confianza|confiança)"
    r"(?: (?:level|score|rating))?\s*(?:is|of|at)?\s*[:=]?\s*(?:about |around )?"
    r"(?:0?[.,]\d{1,9}|\d{1,3}(?:[.,]\d{1,9})?\s*(?:%|percent|/\s*\d{1,3}))[)\].]?"
    r"|[(\[,;–—-]?\s?(?<![\d.,])\d{1,3}(?:[.,]\d{1,9})?\s?(?:%|percent) (?:confident|certain|sure|confidence)\b[)\].]?"
)
"""Match how sure an answer says to be, which is not what was asked."""
_DIGIT = lazy_pattern(r"\d")
_STATEMENT = lazy_pattern(
    r"(?:^|[.!?:;,\n])\s*(?:(?:so|therefore|thus|hence|overall|in conclusion|taken together|and|but),?\s+)*"
    r"(?:my|the|final|overall)\s+(?:(?:final|overall|own)\s+)?(?:answer|rating|score|choice|response|verdict|decision)"
    r"\s*(?:is|would be|will be|=|:)+\s*:?\s*(?P<said>[^\n]+)",
    re.MULTILINE,
)


def without_counted(text: str, unit: str = "") -> str:
    """Return a folded text without numbers that count things (other than the unit) or are denied, if another number is
    left."""

    def shortened(match: re.Match[str]) -> str:
        return match[0] if unit and match["thing"].rstrip("sn")[:4] in unit.casefold() else " "

    for pattern, by in ((_COUNTED, shortened), (_DENIED, " ")):
        rest = pattern.sub(by, text)
        if rest != text and _DIGIT.search(rest):
            text = rest
    return text


def without_confidence(text: str) -> str:
    """Return a folded text without the share by which it says how sure it is, if another number is left; only for a
    question that asks for no share itself."""
    rest = _CONFIDENCE.sub("\n", text)
    return rest if _DIGIT.search(rest) else text


def last_statement(text: str) -> str | None:
    """Return a folded text's last statement of its answer ("…. My rating is 5."); None if there is none, or if that is
    all of it."""
    said = list(_STATEMENT.finditer(text))
    return said[-1]["said"].strip() if said and said[-1].start() > 0 else None


_PERCENT = ("%", "percent", "per cent")
_CURRENCIES = (
    ("$", "dollar", "usd"),
    ("€", "euro", "eur"),
    ("£", "pound", "gbp"),
    ("¥", "yen", "jpy"),
    ("₹", "rupee", "inr"),
    ("franc", "chf"),
    _PERCENT,
    ("cent", "pence"),  # after percent, which has it in its name
)
_TIMES_OF_DAY = (
    ("second", "sekunde", "seconde", "segundo"), ("minute", "minuut", "minuto"), ("hour", "stunde", "heure", "hora"),
    ("day", "tag", "tage", "jour", "día", "dag"), ("week", "woche", "semaine", "semana", "weken"),
    ("month", "monat", "monate", "mois", "mes", "mese", "maand"),
    ("year", "jahr", "jahre", "année", "año", "anno", "jaar"),
)  # fmt: skip
_UNITS = (_CURRENCIES, _TIMES_OF_DAY)
"""Kinds of units: the names of each unit of a kind."""
_ABOUT = r"(?:about|around|roughly|approximately|exactly|maybe|probably|perhaps|etwa|ungefähr|environ|unos|circa|ca\.)"
_BEFORE_BOUND = lazy_pattern(
    r"(?:\b(?:less|more|fewer|greater|higher|lower|better|worse|other|weniger|mehr|kleiner|größer)\s+(?:than|als)"
    r"|\b(?:(?:no|not)\s+)?(?:above|below|under|over|exceeding|up to|at least|at most|minimum(?: of)?|maximum(?: of)?"
    r"|anything but|mindestens|höchstens|über|unter|bis zu|au moins|au plus|(?:plus|moins) de|al menos|como máximo"
    r"|(?:más|menos) de|almeno|al massimo|minstens|hoogstens|not|nicht|pas|minus)|(?<![=-])(?:[<>]=?|[≤≥]))"
    r"\s*(?:an?|ein|eine|un|una)?\s*$"
)
_AFTER_BOUND = lazy_pattern(
    r"\s?[+](?!\d)|-(?=\s|$)(?!\s*[^\W\d_])|-?ish\b|\s+or\s+(?:more|less|fewer|higher|lower|above|below)\b"
)
"""What makes a number an end of what is meant, or what is not meant, before and after it."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Define what a question for a number asks for. `low` and `high` are the ends of its range (None: open), `mark` is
    before decimals (None: where an answer doesn't show which it is, it is not read)."""

    unit: str = ""
    low: float | None = None
    high: float | None = None
    whole: bool = False
    mark: str | None = field(default=None, repr=False)  # contents of prompts are hashes of what questions are


def read_number(answer: str, amount: Amount = Amount(), key: str = "number") -> AnswerReading:
    """Return the reading of an answer to a question for a number: one number in the range, in the requested unit."""
    return read_value(answer, key, "no_number", lambda text: _read_text(text, amount))


def _read_text(answer: str, amount: Amount) -> AnswerReading:
    text = plain_lines(with_magnitudes(answer))
    if amount.low is not None and amount.low >= 0:
        text = without_bullets(text)
    text = with_signs(text, is_below_zero=amount.low is None or amount.low < 0)
    if not text:
        return AnswerReading("malformed", detail="empty")
    if (stated := last_statement(text)) is not None and (read := _read_text(stated, amount)).outcome == "answered":
        return read
    if amount.unit and _has_parts(text, amount.unit):
        return AnswerReading("malformed", detail="several_numbers")
    if amount.unit:
        text = without_counted(text, amount.unit)
        text = text if any(name in amount.unit.casefold() for name in _PERCENT) else without_confidence(text)
    text = as_figures(_without_maximum(text, amount))
    first = re.sub(rf"^{LEAD}", "", text.splitlines()[0].strip()) if text.strip() else ""
    if not re.search(r"\d", text) and re.search(rf"\b(?:{WORDS})[\s-]+{PARTS}\b", text):
        return AnswerReading("malformed", detail="ambiguous")
    if word := re.fullmatch(rf"(?:{_ABOUT}\s+)?({WORDS})((?:\s+[^\W\d_]+)?[\s.!]*)", text):
        text = first = f"{NUMBER_WORDS[word[1]]}{word[2]}"
    settled = (amount.mark, amount.low, amount.high, amount.unit)
    alone = numbers_in(first, *settled)
    numbers = alone if len(alone) == 1 and _is_alone(first) else numbers_in(text, *settled)
    values = set(numbers)
    if len(values) != 1 or None in values:
        return without_value(text, "no_number" if not values else "ambiguous" if None in values else "several_numbers")
    value = values.pop()
    assert value is not None
    if len(numbers) == 1 and (match := NUMBER.search(text)) and is_bound(text, match):
        return AnswerReading("malformed", detail="bound")
    if _other_unit(text, amount.unit):
        return AnswerReading("malformed", detail="other_unit")
    if _may_be_a_share(value, text, amount):
        return AnswerReading("malformed", detail="ambiguous")
    if (amount.low is not None and value < amount.low) or (amount.high is not None and value > amount.high):
        return AnswerReading("malformed", detail="out_of_range")
    if amount.whole and not value.is_integer():
        return AnswerReading("malformed", detail="not_whole")
    return answered(str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value))


def _without_maximum(text: str, amount: Amount) -> str:
    """Return a text without the right maximum after a number: 85/100, 4 out of 7."""
    if amount.high is None or amount.low is None or not float(amount.high).is_integer():
        return text
    return re.sub(rf"(?<=\d)\s*(?:/|\bout of\b)\s*{int(amount.high)}(?![\d.,/]*\d)", "", text)


def _is_alone(line: str) -> bool:
    """Return True if a line is a number with at most three words for its unit."""
    rest = NUMBER.sub(" ", line)
    return len(re.findall(r"[^\W\d_]+", rest)) <= 3 and not re.search(r"\b(?:or|to|and|between|not|than)\b", rest)


def _may_be_a_share(value: float, text: str, amount: Amount) -> bool:
    """Return True for 0.75 without a sign, to a question for percent: it may be three quarters, or less than one
    percent."""
    asks_percent = any(name in amount.unit.casefold() for name in _PERCENT) and (amount.high is None or amount.high > 1)
    return asks_percent and 0 < abs(value) < 1 and not any(name in text for name in _PERCENT)


def is_bound(text: str, number: re.Match[str]) -> bool:
    """Return True if a number in a folded text is only an end of what is meant, or what is not: "at least 5", "5+"."""
    if "<" in text[: number.start()] and ">" in text[number.end() :]:  # in brackets
        return False
    is_price = number[0].endswith((",", "."))  # 1250.-
    is_after = not is_price and bool(_AFTER_BOUND.match(text, number.end()))
    return is_after or bool(_BEFORE_BOUND.search(text, 0, number.start()))


def _has_parts(text: str, unit: str) -> bool:
    """Return True for an amount in two units of a kind: "5 years and 6 months"."""
    for kind in _UNITS:
        if any(name in unit.casefold() for names in kind for name in names):
            words = "|".join(rf"{name}(?:s|n|e|en)?" for names in kind for name in names if name.isalpha())
            return re.search(rf"\d\s*(?:{words})\s*(?:,|and|und|et|y|e|en)?\s*\d+\s*(?:{words})\b", text) is not None
    return False


def _other_unit(text: str, unit: str) -> bool:
    """Return True if a text names another unit of the same kind than the requested one, and not that one."""
    for kind in _UNITS:
        asked = next((names for names in kind if any(name in unit.casefold() for name in names)), None)
        if asked is None or any(name in text for name in asked):
            continue
        others = [name for names in kind if names is not asked for name in names]
        words = (rf"\b{name}(?:s|n|e|en)?\b" if name.isalpha() else re.escape(name) for name in others)
        pattern = "|".join(words)
        if re.search(pattern, text):
            return True
    return False
