"""Read answers on a scale of whole numbers, with or without labels: exactly one point of it, or none.

What comes first wins: a JSON object (its key once, a whole number or a text of one), a label at the start of the
answer, a number. Before numbers are counted, phrases that name the scale ("from 1 to 7", "out of 7", "/7") are removed.
A label with another number ("Strongly agree (6)", where it is 7) is malformed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from slant.collector.reading.labels import read_label
from slant.collector.reading.numbers import is_bound, last_statement, without_confidence, without_counted
from slant.collector.reading.phrases import OR_ALSO, TAKEN_BACK, TAKES_BACK
from slant.collector.reading.plain import (
    LEAD,
    AnswerReading,
    answered,
    plain_lines,
    read_value,
    refuses,
    without_bullets,
    without_value,
)
from slant.collector.reading.spelling import folded
from slant.collector.reading.written_numbers import (
    NUMBER,
    NUMBER_WORDS,
    WORDS,
    as_figures,
    numbers_in,
    with_digits,
    with_magnitudes,
    with_signs,
)
from slant.collector.system.patterns import lazy_pattern

MIDDLE = ("neutral", "neither agree nor disagree", "neither agree or disagree", "neither")
_SAIDMIDDLE = lazy_pattern(r"(?:i )?(?:i'm neutral|am neutral|neither agree (?:n?or) disagree(?: with .{0,80})?)")
_NUMBER_IN_WORDS = lazy_pattern(
    rf"{LEAD}(?:an?\s+)?(?:(?:solid|strong|clear|firm)\s+)?({WORDS})\s*(?:points?|stars?|分|点|점)?[\s.!。]*"
)
_WORD_AND_NUMBER = lazy_pattern(rf"\b({WORDS})\s*[(\[]\s*(\d+)\s*[)\]]|(?<![\d.,])(\d+)\s*[(\[]\s*({WORDS})\s*[)\]]")
_WHOLE_WITH_COMMA = lazy_pattern(r"(?<![\d.,])(\d+),0+(?![\d.,])")
_HAN_BEFORE_DIGIT = lazy_pattern(r"(?<=[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af])(?=\d)")
_INTENSITY = lazy_pattern(
    r"(?:very|extremely|quite|rather|fairly|somewhat|highly|slightly|moderately|not at all|not very)"
)
_REASONS = (
    r"(?:because|since|as|with|that|and|or|but|not|than|more than|rather than|although|though|even|while|whereas"
    r"|despite|unlike)"
)
"""What goes on after a label without taking it back."""
_COUNTED = lazy_pattern(
    r"\s+(?!because|since|as\b|for\b|on\b|out\b|of\b|in\b|due|given|and\b|but\b|overall|based|if\b|points?\b|stars?\b"
    r"|percent\b|per cent\b|geben\b|vergeben\b|wählen\b|sagen\b"
    r"|here|at\b|is\b|would|seems?|with\b|to\b|from\b|or\b|,)[^\W\d_]+"
)
_ALTERNATIVES = lazy_pattern(r"\d\s*(?:-|–|—|\bto\b|\bor\b|\band\b)\s*(?:an?\s+)?\d")
_CORRECTS = lazy_pattern(rf"\b(?:i mean|{TAKEN_BACK}|rather|instead|final|so|or)\b")
_PERCENT, _WHOLE = lazy_pattern(r"\d\s*(?:%|percent\b|per cent\b)"), 100
_NO_THEN = lazy_pattern(r"\W*no,\b")


@dataclass(frozen=True, slots=True)
class Scale:
    """Define the whole numbers from `low` to `high`; `labels` are those of some or all points, by point. `mark`: before
    decimals, if that is known."""

    low: int
    high: int
    labels: Mapping[int, str] = field(default_factory=dict)
    mark: str | None = field(default=None, repr=False)  # contents of prompts are hashes of what questions are

    def reversed(self) -> Scale:
        """Return the same scale with its labels reversed."""
        labels = {self.low + self.high - point: text for point, text in self.labels.items()}
        return replace(self, labels=labels)


def read_scale(answer: str, scale: Scale, key: str = "rating") -> AnswerReading:
    """Return the reading of an answer that is to be a point of a scale; `key` is that of a JSON object."""
    return read_value(answer, key, "no_point", lambda text: _read_text(text, scale))


def _read_text(answer: str, scale: Scale) -> AnswerReading:
    text = with_digits(_HAN_BEFORE_DIGIT.sub(" ", plain_lines(with_magnitudes(answer))))
    text = without_bullets(text) if scale.low >= 0 else text
    text = as_figures(with_signs(text, is_below_zero=scale.low < 0))
    if not text:
        return AnswerReading("malformed", detail="empty")
    labels = _spelled(tuple(scale.labels.items()))
    if (of_label := _label_at_start(text, labels)) is not None:
        return of_label
    if (stated := last_statement(text)) is not None and (said := _read_text(stated, scale)).outcome == "answered":
        return said
    text = re.sub(_naming(scale.low, scale.high), " ", text)
    if (middle := _middle(text, scale)) is not None:
        return answered(str(middle))
    reading = _number(text, scale, labels)
    if reading.detail == "no_point" and not re.search(r"\d", text):
        read = read_label(answer, tuple(labels))  # in another line, or after "Antwort:"
        return answered(str(labels[read.label])) if read.kind == "alone" and read.label is not None else reading
    return reading


@lru_cache(1024)
def _spelled(labels: tuple[tuple[int, str], ...]) -> dict[str, int]:
    """Return the points by their labels, the longest first: "strongly disagree" is not "disagree"."""
    points = {folded(text): point for point, text in labels if folded(text)}
    return dict(sorted(points.items(), key=lambda item: (-len(item[0]), item[0])))


def _label_at_start(text: str, labels: Mapping[str, int]) -> AnswerReading | None:
    """Read an answer that begins with a label; None for one that begins differently."""
    lead = re.match(rf"[\W_]*{LEAD}(?:i(?:\s+would|'d|\s+do)?\s+)?[\"'(\[]*", text)
    start = lead.end() if lead else 0
    for at in dict.fromkeys((start, len(text) - len(text.lstrip(" \"'([")))):
        for label, point in labels.items():
            if text.startswith(label, at) and not re.match(r"\w", text[at + len(label) :]):
                rest = text[at + len(label) :]
                if _INTENSITY.fullmatch(label) and re.match(r"\s+(?:un|dis)[^\W\d_]{4}", rest):
                    return AnswerReading("malformed", detail="another_label")  # "very unsuitable" is not "very"
                if _goes_on_to_another(rest, labels):
                    return AnswerReading("malformed", detail="several_labels")
                turned = _turned_round(label, rest, labels)
                return _beside(rest, point, labels) if turned is None else answered(str(turned))
    return None


def _goes_on_to_another(rest: str, labels: Mapping[str, int]) -> bool:
    """Return True if a label is a word of a sentence that names another one: "Never say never: sometimes"."""
    if not re.match(rf"\s+(?!{_REASONS}\b)[^\W\d_]", rest):
        return False
    longest_first = "|".join(re.escape(label) for label in labels)
    return re.search(rf"\b(?<!n't )(?<!not )(?:{longest_first})\s*$", rest.rstrip(" .!")) is not None


def _turned_round(label: str, rest: str, labels: Mapping[str, int]) -> int | None:
    """Return the point of a label whose words are said in another order: "disagree strongly" is "strongly disagree"."""
    after = re.match(r"\s+([^\W\d_]+)|,\s*([^\W\d_]+)\W*$", rest)
    words = sorted([*label.split(), after[1] or after[2]]) if after else []
    return next((point for other, point in labels.items() if sorted(other.split()) == words), None)


def _beside(rest: str, point: int, labels: Mapping[str, int]) -> AnswerReading:
    """Read a label by what follows it: another label or number contradicts it."""
    others = "|".join(re.escape(label) for label in labels)
    if re.match(rf"{OR_ALSO}(?:{others})\b", rest) or TAKES_BACK.match(rest) or _NO_THEN.match(rest):
        return AnswerReading("malformed", detail="several_labels")
    number = re.match(r"\s*[\"')\]]*\s*(?:[(\[=:,]|[-–—])\s*(-?\d[\d.,]*)|\s+(-?\d+)[\s.!]*$", rest)
    if number and (number[1] or number[2]).rstrip(".,") not in (str(point), f"{point}.0"):
        return AnswerReading("malformed", detail="label_and_number")
    return answered(str(point))


def _middle(text: str, scale: Scale) -> int | None:
    """Return the middle point if its label says that it is one, and so does the answer, in other words."""
    middle = (scale.low + scale.high) / 2
    if not middle.is_integer() or folded(scale.labels.get(int(middle), "")) not in MIDDLE:
        return None
    return int(middle) if _SAIDMIDDLE.match(text) else None


@lru_cache(256)
def _naming(low: int, high: int) -> str:
    """Return the pattern of phrases about the scale; only with the right ends."""
    first, last = rf"(?<![\w.,+-]){_end(low)}", _end(high)
    ends = rf"{first}\s*(?:-|–|—|{_TO})\s*{last}(?![\w/]|\.\d)"
    named = r"\s*(?:=|:|\()[^\d\n]{1,60}?"  # an end with its label: 1 = not at all, 1 (not at all)
    return (
        rf"(?:\b(?:on|using)\s+(?:a|the|your|this)\s+)?(?:{first}\s*(?:-|–|to)\s*{last}\s+(?:point\s+)?scale\b"
        rf"|\b{_SCALE}\s*(?:\(\s*)?(?:of|from|between|von|de|da|van)?\s*{ends}\)?"
        rf"|\b(?:from|between|von|zwischen|entre|tra|de|da|del|van|från|от)\s+{ends})"
        rf"|\s*/\s*{last}(?![\d.,/]*\d)|\s+\(?{_OUT_OF}\s+{last}\b(?!\s*[.,]\d)\)?|\(\s*{first}\s*[-–]\s*{last}\s*\)"
        rf"|\b(?:{high})-point\s+scale\b|^\W*?{first}\s*(?:[-–]|{_TO})\s*{last}\s*[:,]"
        rf"|\({_SCALE}:?\s*{ends}\)|\b{high}\s*{_OUT_OF_BEFORE}"
        rf"|\(\s*{first}{named}(?:[-–—,;]|{_TO})\s*{last}\s*(?:=|:|\()[^\d\n)]{{1,60}}\)"
        rf"|(?:\(\s*)?(?:\b(?:on|using)\s+(?:a|the|your|this)\s+)?\b{_SCALE}\s*(?:\(\s*)?(?:of|from|where)?\s*"
        rf"{first}{named}(?:[-–—,]|{_TO})\s*{last}(?:\s*(?:=|:|\()[^\d\n.)]{{1,60}}\)*)?"
    )


_TO = r"\bto\b|\bthrough\b|\band\b|\bbis\b|\bund\b|\bà\b|\ba\b|\bal\b|\be\b|\by\b|\bet\b|\btot\b|\btill\b|до|到|至|から"
_OUT_OF = r"(?:out\s+of|of|von|sur|de|su|van(?:\s+de)?|av|из)"
_OUT_OF_BEFORE = r"(?:分中|点中|点満点中|점\s*(?:만점에|중에?))"
_SCALE = r"(?:scale|skala|échelle|escala|scala|schaal)"
"""What names a scale in English, German, French, Spanish, Portuguese, Italian, Dutch, Swedish and Russian."""


def _end(point: int) -> str:
    """Return the pattern of an end of the scale, in digits."""
    return str(point) if point < 0 else rf"\+?{point}"


def _number(text: str, scale: Scale, labels: Mapping[str, int]) -> AnswerReading:
    text = _WHOLE_WITH_COMMA.sub(r"\1", without_counted(text))
    text = text if scale.high == _WHOLE else without_confidence(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for said in _WORD_AND_NUMBER.finditer(text):
        if NUMBER_WORDS[said[1] or said[4]] != int((said[2] or said[3])[:9]):
            return AnswerReading("malformed", detail="several_points")
    reasoned = re.match(rf"{LEAD}(?:an?\s+)?(-?\d+),?\s+(?:because|since|given|due to|based on|considering)\b", text)
    if reasoned and not (_CORRECTS.search(text[reasoned.end() :]) or _is_share(reasoned[1], text[reasoned.end() :])):
        return _point(float(reasoned[1]), scale)
    if len(lines) == 1 and (word := _NUMBER_IN_WORDS.fullmatch(lines[0])):
        return _point(float(NUMBER_WORDS[word[1]]), scale)
    is_percent = _PERCENT.search(text) and scale.high != _WHOLE
    if is_percent or re.search(rf"\d\s*(?:/|\b{_OUT_OF}\b|{_OUT_OF_BEFORE})\s*\d", text):
        return AnswerReading("malformed", detail="another_scale")
    if (alone := _line_of_number(lines)) is not None:
        return _point(alone, scale)
    if labelled := re.match(rf"{LEAD}(-?\d+)\s*[-–—:=(),.]+\s*(?=[^\W\d])", text):
        if re.search(r"\d\s*[-–—:=]+\s*[^\W\d]", text[labelled.end() :]):  # the labels of the scale, repeated
            return AnswerReading("malformed", detail="several_points")
        label_value = _label_after(text[labelled.end() :], labels)
        if label_value is not None and str(label_value) != labelled[1]:
            return _contradicted()
        if label_value is not None:
            return answered(labelled[1])
    if (spaced := re.match(rf"{LEAD}(-?\d+)\s+", text)) and labels:
        label_value = _label_after(text[spaced.end() :], labels)
        if label_value is not None:
            return answered(spaced[1]) if str(label_value) == spaced[1] else _contradicted()
    return _only_number(text, scale)


def _contradicted() -> AnswerReading:
    return AnswerReading("malformed", detail="label_and_number")


def _is_share(point: str, reason: str) -> bool:
    """Return True if the reason makes the point one of another scale: "5 because that is 5/10"."""
    return re.search(rf"(?<![\d.,]){point}\s*(?:/|\b{_OUT_OF}\b)\s*\d", reason) is not None


def _line_of_number(lines: list[str]) -> float | None:
    """Return the number that is alone in the first or the last line, if no other line has another one alone."""
    of_lines = [re.fullmatch(rf"{LEAD}\(?(-?\d+(?:\.\d+)?)\)?[\s.!,:;]*", line) for line in lines]
    alone = [(line, float(match[1])) for line, match in zip(lines, of_lines, strict=True) if match]
    values = {value for _, value in alone}
    return values.pop() if len(values) == 1 and alone[0][0] in (lines[0], lines[-1]) else None


def _only_number(text: str, scale: Scale) -> AnswerReading:
    """Return the one number of a text that is a point of the scale, if no other number is one or could be an
    alternative to it."""
    numbers = numbers_in(text, scale.mark, scale.low, scale.high)
    points = {value for value in numbers if value is not None and _is_point(value, scale)}
    if not points and (not numbers or refuses(text)):
        return without_value(text, "no_point")
    are_whole = all(value is not None and value.is_integer() for value in numbers)
    if len(points) > 1 or not are_whole or (len(numbers) > 1 and _ALTERNATIVES.search(text)):
        return AnswerReading("malformed", detail="several_points" if len(numbers) > 1 else "no_such_point")
    if len(numbers) == 1 and is_bound(text, number := next(NUMBER.finditer(text))):
        return AnswerReading("malformed", detail="bound")
    if len(numbers) == 1 and not number[0].endswith((",", ".")) and _COUNTED.match(text, number.end()):
        return without_value(text, "no_point")  # "2 people" counts them
    return _point(points.pop(), scale) if points else AnswerReading("malformed", detail="no_such_point")


def _label_after(text: str, labels: Mapping[str, int]) -> int | None:
    return next((point for label, point in labels.items() if re.match(rf"[\W_]*{re.escape(label)}\b", text)), None)


def _is_point(value: float, scale: Scale) -> bool:
    return value.is_integer() and scale.low <= value <= scale.high


def _point(value: float, scale: Scale) -> AnswerReading:
    if not _is_point(value, scale):
        return AnswerReading("malformed", detail="no_such_point")
    return answered(str(int(value)))
