"""Read numbers as they are written: signs, thousands, decimals, magnitudes (`−5`, `1_000`, `$3B`, `1e6`), and words:
English ones up to a hundred, those of other languages up to ten.

A number that goes on as more of a token (`0x10`, `2e3x`, `5±1`) is none; a unit, a currency or a percent sign beside it
is no part of it (`5kg`, `$75`). Scales, questions for numbers and proposals of studies all read numbers here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from math import isfinite
from pathlib import Path

from slant.collector.system.patterns import lazy_pattern
from slant.collector.system.shipped_files import csv_rows

_FILE = Path(__file__).resolve().parent / "words.csv"


def listed_words(role: str) -> list[tuple[str, list[str]]]:
    """Return the lists of words with a role (words.csv), each with what its words mean; "" if their places say it."""
    return [(row["value"], row["words"].split()) for row in csv_rows(_FILE) if row["role"] == role]


_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"


def _read_table() -> dict[str, int]:
    numbers = {word: number for number, word in enumerate(_ONES.split())}
    for ten, word in enumerate(_TENS.split(), 2):
        numbers[word] = 10 * ten
        for one in range(1, 10):
            numbers |= {f"{word}{mark}{_ONES.split()[one]}": 10 * ten + one for mark in (" ", "-")}
    numbers |= dict.fromkeys(("hundred", "a hundred", "one hundred"), 100)
    for _, language in listed_words("number"):  # from 0; _: an English word
        for number, words in enumerate(language):
            numbers |= {word: number for word in words.split("|") if word != "_" and word not in numbers}
    return numbers


NUMBER_WORDS = _read_table()
WORDS = "|".join(sorted(map(re.escape, NUMBER_WORDS), key=len, reverse=True))
_ENGLISH = "|".join(_ONES.split())
_OUT_OF = lazy_pattern(rf"\b({_ENGLISH}|\d+),?\s+(out of)(?: an?| a possible| a total of)?\s+({_ENGLISH}|\d+)\b")


def with_digits(text: str) -> str:
    """Return a folded text with digits in "five out of seven"; elsewhere "one" may well be no number."""
    return _OUT_OF.sub(lambda match: f"{_digits(match[1])} {match[2]} {_digits(match[3])}", text)


def _digits(word: str) -> str:
    return str(NUMBER_WORDS.get(word, word))


MARKS = (".", ",")
_MAGNITUDES = {word: float(value) for value, words in listed_words("magnitude") for word in words}
_TIMES = (
    r"\s?(?:[百千万萬만億亿억]|(?:k|(?:hundred|thousand|million|billion|trillion|lakh|crore)s?|tausend|tsd|mille|тыс|mn|mio|mln"
    r"|bn|tn)\b)"
)
_FIGURE = r"(?:\d|\.(?=\d))(?:[\d.,'\u00a0\u202f]|_(?=\d))*"
NUMBER = lazy_pattern(
    rf"(?<![\w.,])(?P<sign>(?:(?<![\d\s])|(?<![\d)] )|^)[-−])?[$€£¥₹]?\s?(?P<digits>{_FIGURE})"
    rf"(?P<times>(?:{_TIMES}){{1,2}}|e[+-]?\d{{1,3}}(?![\w.]))?",
)
_LETTERS = {"M": " million", "MM": " million", "B": " billion", "T": " trillion", "m": " million", "b": " billion"}
_OF_MONEY = lazy_pattern(r"([$€£¥₹]\s?\d[\d.,]*)\s?(MM|[MBTmb])(?![\w-])")
_CAPITAL = lazy_pattern(r"(?<=\d)(MM|[MBT])(?![\w-])")
_SMALL = lazy_pattern(r"(?<=\d)b(?![\w-])")
_SPACED = lazy_pattern(r"(?<![\d.,] )(?<![\w.,])(\d{1,3}(?: \d{3})+)(?![\w]| ?[\d])")
_CODES = "usd|eur|gbp|chf|jpy|cny|rmb|inr|aud|cad|nzd|hkd|sgd|brl|mxn|krw|sek|nok|dkk|pln|czk|huf|zar|rs|us|kr"
_CODE_BEFORE = lazy_pattern(rf"\b(?:(?:{_CODES})\.?(?=[$€£¥₹]?\d)|[a-z]{{1,3}}(?=[$€£¥₹]\d))")
_UNITS_AFTER = frozenset(
    (
        "kg g mg lb lbs oz km cm mm mi ft in inch yd l ml h hr hrs hour hours min mins minute minutes s sec secs "
        "second seconds ms d day days week weeks wk wks month months mo mos year years y yr yrs yo pt pts point points "
        f"star stars percent dollar dollars euro euros pound pounds yen jahre ans años anni anos kč zł руб c f "
        f"{_CODES.replace('|', ' ')}"
    ).split()
)
"""Units that may follow a number without a blank."""
_MORE = lazy_pattern(
    r"(?:_|[a-z\u00b5-\u024f\u0370-\u052f])[^\W\u3040-\u9fff\uac00-\ud7a3]*|[±‰‱^²³]"
    r"|\s?(?:±|\+/-|x\s?10\b|×\s?10\b)"
)
PARTS = (
    r"(?:quarters?|thirds?|fourths?|fifths?|tenths?|hal(?:f|ves)|dozens?|score|decades?|viertel|drittel|quarts?|tiers)"
)
"""Words that make another number of the one before them: "three quarters"."""
_UNREAD_WORD = lazy_pattern(
    r"\s?(?:dozens?|mil(?!e)(?:l|li[óo]n\w*|lion\w*|liard\w*|h\w+|ioni?|joen|jard\w*|iard\w*)?|mrd|mld|md"
    r"|bil(?:l|li[óo]n\w*|h\w+)?|quadrillions?|миллион\w*|миллиард\w*|млрд|тысяч\w*)\b"
    rf"|\s+(?:and\s+)?(?:an?\s+|one[\s-]+)?(?!score|decade){PARTS}\b|-(?!score|decade){PARTS}\b"
)
"""Match a magnitude, or a part, after a number: read without it, the number would be another one."""
_THOUSANDS = lazy_pattern(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:['_\u00a0\u202f]\d{3})+(?:\.\d+)?")
_PLAIN = lazy_pattern(r"\d+(?:\.\d+)?|\.\d+")
_COMMA = lazy_pattern(r"\d+,\d{1,2}")
_BELOW_ONE = lazy_pattern(r"0+[.,]\d+")
_EITHER_WAY = lazy_pattern(r"\d{1,3}\.\d{3}")
_MAX_DIGITS = 30
_SWAPPED = str.maketrans(".,", ",.")
_BEFORE = r"(?:^|(?<=[\s(\[:=,>\"'*]))"
_DASH = lazy_pattern(
    rf"{_BEFORE}(?:[–—](?=[$€£¥₹]?\d|[.]\d)|−\s?(?=[$€£¥₹]?[\d.]))(?<!\d [–—−])(?<!\d [−] )", re.MULTILINE
)
_SPACED_DASH = lazy_pattern(rf"{_BEFORE}[–—−-]\s?(?=[$€£¥₹]?\d)(?<!\d [–—−-])(?<!\d [–—−-] )", re.MULTILINE)
_SAID_SIGN = lazy_pattern(
    rf"(?<!\d )\b(?P<sign>minus|negative|plus|positive)\s+(?:(?P<word>{WORDS})\b|(?=[$€£¥₹]?[\d]))"
)


def with_magnitudes(text: str) -> str:
    """Return a text, as it was written, with words for the letters of magnitudes: `$3B`, `2M`. A small m is a million
    of money, and else may be metres or minutes."""
    text = _OF_MONEY.sub(lambda match: match[1] + _LETTERS[match[2]], text)
    return _SMALL.sub(" billion", _CAPITAL.sub(lambda match: _LETTERS[match[1]], text))


def with_signs(text: str, *, is_below_zero: bool = False) -> str:
    """Return a folded text with one sign for numbers below 0, however it is written (–2, −2, minus 2, negative two);
    `is_below_zero`: such are asked for, and a dash may stand apart from its number."""

    def said(match: re.Match[str]) -> str:
        sign = "-" if match["sign"] in ("minus", "negative") else ""
        return f"{sign}{NUMBER_WORDS[match['word']]}" if match["word"] else sign

    text = _SAID_SIGN.sub(said, text)
    return (_SPACED_DASH if is_below_zero else _DASH).sub("-", text)


def as_figures(text: str) -> str:
    """Return a folded text with thousands joined (1 000 000) and without codes of currencies before numbers (USD75)."""
    text = _SPACED.sub(lambda match: match[1].replace(" ", "\u202f"), text)
    return _CODE_BEFORE.sub(" ", text)


def numbers_in(
    text: str, mark: str | None = None, low: float | None = None, high: float | None = None, unit: str = ""
) -> list[float | None]:
    """Return the numbers of a folded text, each with its magnitude; None for one that could be read in two ways, or is
    part of something else. `mark`: before decimals; without it the range may settle what 85.816 is."""
    return [_value(match, mark, low, high, unit.casefold()) for match in NUMBER.finditer(text)]


def _value(match: re.Match[str], mark: str | None, low: float | None, high: float | None, unit: str) -> float | None:
    figure = match["digits"].rstrip(".,'_\u00a0\u202f")
    is_whole_match = len(figure) == len(match["digits"])
    times = (match["times"] or "").strip()
    if is_whole_match and _goes_on(match, times, unit):
        return None
    before = match.string[: match.start()][-1:]
    if before and before in ("±√^٫+-" if match["sign"] else "±√^٫"):
        return None
    factor = Decimal(1)
    if times and times[0] != "e":
        for word in re.findall(r"[百千万萬만億亿억]|[^\W\d_]+", times):
            factor *= Decimal(_MAGNITUDES.get(word) or _MAGNITUDES[word.removesuffix("s")])
    sign, power = "-" if match["sign"] else "", times if times[:1] == "e" else ""
    values = {float(Decimal(f"{sign}{text}{power}") * factor) for text in _values(figure, mark, bool(times))}
    found = set(filter(isfinite, values))
    if len(found) > 1:
        found = {v for v in found if (low is None or v >= low) and (high is None or v <= high)}
    return found.pop() if len(found) == 1 else None


def _goes_on(match: re.Match[str], times: str, unit: str) -> bool:
    """Return True if what follows a number makes it another one, or part of a token."""
    text, end = match.string, match.end()
    if _UNREAD_WORD.match(text, end):
        return True
    more = _MORE.match(text, end)
    if more is None:
        return False
    word = more[0].strip()
    is_asked = bool(unit) and (unit.startswith(word) or word.startswith(unit))
    return not (is_asked or word in _UNITS_AFTER) or bool(times[:1] == "e")


def _values(figure: str, mark: str | None, has_magnitude: bool) -> tuple[str, ...]:
    """Return the possible values of a figure: nothing if it is none, two numbers if nothing disambiguates its mark."""
    if len(figure) > _MAX_DIGITS:
        return ()
    if _BELOW_ONE.fullmatch(figure):  # no group of thousands begins with 0
        return (figure.replace(",", "."),)
    if mark == ",":
        figure = figure.translate(_SWAPPED)
    if _THOUSANDS.fullmatch(figure):
        return (re.sub(r"[,'_\u00a0\u202f]", "", figure),)
    if mark is None and _EITHER_WAY.fullmatch(figure):
        return figure, figure.replace(".", "")
    if mark is None and _COMMA.fullmatch(figure) and not has_magnitude:  # no group has one or two digits
        return (figure.replace(",", "."),)
    return (figure,) if _PLAIN.fullmatch(figure) else ()


def decimal_mark(texts: Iterable[str]) -> str | None:
    """Return the mark before decimals that the numbers of some texts show, as 84.28 and 1.250,50 do; None if none does,
    or they show both."""
    shown = {mark for text in texts for match in NUMBER.finditer(text) if (mark := _mark_of(match["digits"]))}
    return shown.pop() if len(shown) == 1 else None


def needed_mark(texts: Iterable[str], said: str | None = None) -> str | None:
    """Return the mark before decimals that is said, or that the numbers of some texts show, if any of them is read
    otherwise without it."""
    figures = {match["digits"].rstrip(".,'_") for text in texts for match in NUMBER.finditer(text)}
    mark = said or decimal_mark(figures)
    is_read = [_values(figure, None, False) == _values(figure, mark, False) for figure in figures]
    return None if all(is_read) else mark


def unsettled(texts: Iterable[str]) -> list[str]:
    """Return the texts with a number that has decimals or thousands, and does not show which."""
    return [t for t in texts if any(_EITHER_WAY.fullmatch(m["digits"].rstrip(".,'_")) for m in NUMBER.finditer(t))]


def _mark_of(digits: str) -> str | None:
    figure = digits.rstrip(".,'_")
    marks = [sign for sign in figure if sign in MARKS]
    if not marks:
        return None
    if len(set(marks)) == 2:
        return marks[-1] if figure.count(marks[-1]) == 1 else None
    whole, *groups = figure.split(marks[0])
    are_thousands = 0 < len(whole) <= 3 and whole[0] != "0" and all(len(group) == 3 for group in groups)
    if len(groups) > 1:
        return MARKS[marks[0] == "."] if are_thousands else None
    return None if are_thousands else marks[0]
