"""Read answers to a forced choice between A and B: exactly one clear choice is valid, the rest is classified by kind.

What comes first wins:
 1 what the provider itself says (refused, filtered, cut off)
 2 JSON objects with an answer, wherever they are in the text: all of them must name the same letter. JSON that begins
 an answer and can't be read makes it malformed, however clear it may look: that format was asked for
 3 the letter on a line of its own ("B", "**Option B.**", "A: Male + Career"), or said in the last sentence
 4 an explicit refusal
 5 one letter or one option's text that is mentioned anywhere, if the other one is not
`Reading.detail` says what an invalid answer is: refused_in_words (and by which words), both_letters,
no_letter, json_broken, empty.

The letter A is also an English article ("A nephew is male"). If a capital A could be one (it begins a sentence, and
no verb follows it), mentions alone decide nothing, neither for A nor for B: otherwise one would be found more easily.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from slant.collector.providers.reasoning import split
from slant.collector.reading.labels import mentioned_labels
from slant.collector.reading.phrases import REFUSAL, is_refusal, refusal_detail
from slant.collector.reading.spelling import folded
from slant.collector.records import Reading, Reply
from slant.collector.system.patterns import lazy_pattern

LETTERS = ("A", "B")
_WRAPPING = " \t\r\n\"'`*_.,;:!?()[]{}<>#-“”‘’«»„「」。：，\\$"
_BEFORE, _AFTER = r"(?<![A-Za-z0-9_'])", r"(?![A-Za-z0-9_'])"
_CALLED = (
    r"(?:final\s+answer|answer|choice|option|selection|selected|pair|category|respuesta|opci[oó]n|réponse|antwort|option"
    r"|risposta|opzione|resposta|opção|ответ|答案|选项|選項|回答|選択肢)"
)
_IS = r"(?:\s*(?:is|would\s+be|must\s+be|:|=|-|–|—|es|est|ist|è|é|:|是|为|は|option|the|la|l'|die))*"
_BARE = lazy_pattern(rf"(?:(?:the|my)\s+)?(?:{_CALLED}{_IS}[\s\W_]*)?([ab])", re.IGNORECASE)
_NAMED = lazy_pattern(rf"(?:{_CALLED}{_IS}[\s\W_]*)?([ab])[\s\W_]+(.+)", re.IGNORECASE | re.DOTALL)
_VERB = r"(?:i(?:'d| would| will)?\s+(?:choose|pick|select|go with|answer)|so|thus|hence|therefore)"
_SAID = lazy_pattern(
    rf"(?:\b{_CALLED}\s*(?:is|would be|must be|:|=|es|est|ist|è|é|是|为|は)|\b{_VERB}\b[:,]?)\s*(?:clearly\s+|the\s+)?"
    rf"(?:option|answer|opción|choice)?[\s\"'`*_(\[:{{]*([AB]){_AFTER}",
    re.IGNORECASE,
)
_REASONED = lazy_pattern(r"[\W_]*(?:[Oo]ption\s+)?([AB])[\W_]*,?\s+(?:because|since)\b")
_NO_ARTICLE = lazy_pattern(r"b$|[(\[]a$|\b(?:option|answer|choice|opción)\s+a$", re.IGNORECASE)
_BOXED = lazy_pattern(r"\\boxed\s?\{(?:\\text\s?\{)?\s*([ABab])\s*\}")
_NEGATED = lazy_pattern(
    rf"(?:\bnot|n't|\bnever|\bneither|\bnor|\brather than|\binstead of|\bother than|\bthan|\bover)\s+"
    rf"(?:[a-z]+\s+){{0,3}}[\"'(*]*[AB]{_AFTER}"
)
_ALONE = lazy_pattern(rf"{_BEFORE}([AB]){_AFTER}")
_NO_NOUN = lazy_pattern(
    r"\s+(?:is|was|are|and|or|because|since|as|but|fits|suits|matches|contains|holds|includes|has|would|should|seems|makes)\b"
    r"|(?!\s+[a-z])"
)
_SENTENCE_BEGINS = lazy_pattern(r"(?:^|[.!?。\n])[\s\"'*_(\[#>-]*\Z")
_SENTENCES = lazy_pattern(r"[.!?。！？]\s+|\n+")


_LONGEST_LINE = 500
"""Limit the characters of a line or sentence that is only a choice. Longer ones are none, and could take minutes."""


@dataclass(frozen=True, slots=True)
class Found:
    """Hold a clear letter and its position (None: the option's text is there instead), or the kind of an unclear
    one."""

    letter: str | None = None
    at: int | None = None
    kind: str | None = None


def letter_of(text: str, options: tuple[str, str]) -> str | None:
    """Return the letter that a short text is: "A", "option b", "A: Male + Career", "Male + Career"."""
    bare = text.strip(_WRAPPING)
    if len(bare) > _LONGEST_LINE:
        return None
    if match := _BARE.fullmatch(bare):
        return match[1].upper()
    same = _same(bare)
    for letter, option in zip(LETTERS, options, strict=True):
        if same and same == _same(option):
            return letter
        match = _NAMED.fullmatch(bare)
        if match and match[1].upper() == letter and _same(match[2]) == _same(option):
            return letter
    return None


def alone(text: str, options: tuple[str, str]) -> Found | None:
    """Return the letter of lines with nothing else; bare letters take precedence over those that repeat an
    option's text, which may be an echo of the question.
    """
    lines = _lines(text)
    bare = [(match[1].upper(), at + match.start(1)) for at, line in lines if (match := _BARE.fullmatch(line))]
    boxed = [(match[1].upper(), match.start(1)) for match in _BOXED.finditer(text)]
    named = [(letter, None) for _, line in lines if (letter := letter_of(line, options)) is not None]
    for choices in (bare, boxed, named):
        letters = {letter for letter, _ in choices}
        if len(letters) == 1:
            return Found(*choices[-1])
        if letters and choices is not named:  # both options by name: an echo of the question
            return Found(kind="both_letters")
    return None


def _lines(text: str) -> list[tuple[int, str]]:
    """Yield (place, text) of each line without its wrapping."""
    lines, place = [], 0
    for line in text.splitlines(keepends=True):
        bare = line.lstrip(_WRAPPING)
        start, whole = place + len(line) - len(bare), bare.rstrip(_WRAPPING)
        if len(whole) <= _LONGEST_LINE:
            lines.append((start, whole))
        place += len(line)
    return lines


def said_last(text: str) -> Found | None:
    """Return the choice that the last sentence says and ends with ("…, so the answer is B."), in a clause
    without a no.
    """
    sentence = next((part for part in reversed(_SENTENCES.split(text)) if part.strip(_WRAPPING)), "")[-_LONGEST_LINE:]
    statements = list(_SAID.finditer(_without_negated(sentence)))
    if not statements or sentence[statements[-1].end() :].strip(_WRAPPING):
        return None
    if not statements[-1][1].isupper() and not _NO_ARTICLE.search(statements[-1][0]):
        return None
    clause = re.split(r"[,;]", sentence[: statements[-1].start()])[-1]
    if REFUSAL.search(clause + statements[-1][0]):
        return None
    return Found(
        statements[-1][1].upper(), text.rindex(sentence) + statements[-1].start(1)
    )  # the sentence ends the text, except for blanks


def mentioned(text: str, options: tuple[str, str]) -> Found:
    """Return the one letter, or the one option, that a text mentions without mentioning the other."""
    clean = _without_negated(text)
    letters = list(_ALONE.finditer(clean))
    named = {letter for letter, option in zip(LETTERS, options, strict=True) if mentioned_labels(text, (option,))}
    options_named = {match[1] for match in letters} | named
    if len(options_named) > 1:
        reasoned = _REASONED.match(text)  # "B, because A is a stereotype"
        is_one = reasoned is not None and named <= {reasoned[1]}
        return Found(reasoned[1], reasoned.start(1)) if reasoned and is_one else Found(kind="both_letters")
    if not options_named or (not named and any(_may_be_article(clean, match) for match in letters)):
        return Found(kind="no_letter")
    return Found(options_named.pop(), letters[-1].start() if letters else None)


def _may_be_article(text: str, match: re.Match[str]) -> bool:
    before = text[max(0, match.start() - 20) : match.start()]
    return match[1] == "A" and not _NO_NOUN.match(text, match.end()) and bool(_SENTENCE_BEGINS.search(before))


def _without_negated(text: str) -> str:
    """Return the text with "not A", "rather than option B" blanked out, so that positions do not change."""
    return _NEGATED.sub(lambda match: " " * len(match[0]), text)


def _same(text: str) -> str:
    return folded(text).strip(_WRAPPING)


# JSON answers inside of anything that a model writes around them: code fences, prose before and after
KEYS = ("answer", "final_answer", "choice", "chosen", "option", "selection", "selected", "selected_option", "response",
        "label", "result")  # fmt: skip
"""List keys of an answer, in any case; an object with only one key may use any name."""

MAX_TRIES = 200
"""Limit the beginnings of unreadable objects; a text with more of them is not worth the time."""
_ATTEMPT = lazy_pattern(r"[\"'“”]\s*(?:final_)?answer\s*[\"'“”]\s*:|\{\s*[\\\"'“”]*\s*answer\b", re.IGNORECASE)
_OBJECT = lazy_pattern(r"\{(?=\s*[\"}])")
_DEEPEST = 5


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """Hold a value given as the answer, and the part of the text that its object takes. `is_named`: its key asks for
    one."""

    value: Any
    start: int
    end: int
    is_named: bool


def answers_in_json(text: str) -> tuple[list[JsonAnswer], bool]:
    """Return the answers in a JSON object, and whether any JSON with an answer can't be read."""
    answers: list[JsonAnswer] = []
    rest: list[str] = []
    end = 0
    for start, stop, pairs in _objects(text):
        answers += [JsonAnswer(value, start, stop, named) for value, named in _values(pairs)]
        rest.append(text[end:start])
        end = stop
    return answers, any(_ATTEMPT.search(part) for part in (*rest, text[end:]))


def _objects(text: str) -> Iterator[tuple[int, int, list[Any]]]:
    """Yield (start, end, pairs) of each outermost readable object, in order."""
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs)
    place = tries = 0
    while tries < MAX_TRIES and (start := _OBJECT.search(text, place)):
        try:
            value, place = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            place, tries = start.end(), tries + 1
            continue
        yield start.start(), place, value


class _Pairs(list[Any]):
    """Hold an object as its pairs: one that gives a key twice must not pass for one that gives it once."""


def _values(pairs: list[Any], depth: int = 0) -> Iterator[tuple[Any, bool]]:
    if not isinstance(pairs, _Pairs) or depth > _DEEPEST:
        return
    named = [value for key, value in pairs if str(key).strip().casefold() in KEYS]
    for value in named or ([pairs[0][1]] if len(pairs) == 1 else []):
        if isinstance(value, _Pairs):
            yield from _values(value, depth + 1)
        else:
            yield value, bool(named)


LONGEST_READ = 20_000
"""Limit the characters that are read at the end of an answer: the choice is there, and nothing may take minutes."""


def read_choice(reply: Reply, options: tuple[str, str]) -> Reading:
    """Return the outcome, and the option chosen as the study spells it (`options`: the texts shown as A and as B)."""
    if reply.outcome is not None and reply.outcome != "answered":
        return Reading(reply.outcome)
    answer = reply.answer or ""
    cut = max(_after_reasoning(answer), len(answer) - LONGEST_READ)
    text = _plain(answer[cut:])
    if not text.strip():
        return Reading("malformed", detail="empty")
    reading = _read(text, options)
    if reading.letter is None:
        if reading.kind == "refused_in_words":
            return Reading("refused", detail=refusal_detail(text))
        return Reading("malformed", detail=reading.kind)
    choice = options[LETTERS.index(reading.letter)]
    if reading.at is None:
        return Reading("answered", choice, place=max(0, answer.rfind(choice)))
    is_lower = text[reading.at].islower()
    spelled = (LETTERS[0].lower(), LETTERS[1].lower()) if is_lower else LETTERS
    return Reading("answered", choice, spelled=spelled, place=cut + reading.at)


def _after_reasoning(answer: str) -> int:
    """Return the position where the answer begins, in a text that includes reasoning in a model's template."""
    parts = split(answer)
    if parts is None:
        return 0
    return answer.rindex(parts[1]) if parts[1] else len(answer)


def _read(text: str, options: tuple[str, str]) -> Found:
    answers, is_broken = answers_in_json(text)
    in_json = _in_json(text, answers, options)
    if in_json is not None and in_json.letter is not None and not is_broken:
        return in_json
    if in_json is None and not is_broken:
        clear = alone(text, options) or said_last(text)
        if clear is not None:
            return clear
    if is_refusal(text):
        return Found(kind="refused_in_words")
    return Found(kind="json_broken") if is_broken else in_json or mentioned(text, options)


def _in_json(text: str, answers: list[JsonAnswer], options: tuple[str, str]) -> Found | None:
    """Return the joint answer of an answer's JSON objects; None if none of them is an answer."""
    read = [(answer, _letters(answer.value, options)) for answer in answers]
    relevant = [(answer, letters) for answer, letters in read if answer.is_named or letters]
    if not relevant:
        return None
    together = set().union(*(letters for _, letters in relevant))
    if len(together) > 1:
        return Found(kind="both_letters")
    if not all(letters for _, letters in relevant):
        return Found(kind="no_letter")
    [letter] = together
    last = relevant[-1][0]
    return Found(letter, _place(text, last.start, last.end, letter))


def _letters(value: Any, options: tuple[str, str]) -> set[str]:
    """Return the letters that a JSON value names: one if it is clear, two if it is not, otherwise none."""
    if not isinstance(value, str):
        return set()
    letter = letter_of(value, options)
    if letter is not None:
        return {letter}
    mention = mentioned(value, options)
    return {"both_letters": set(LETTERS)}.get(mention.kind or "", set()) | (
        {mention.letter} if mention.letter else set()
    )


def _place(text: str, start: int, end: int, letter: str) -> int | None:
    """Return the position at which the letter begins a value; None if the option's text is there."""
    spots: Iterable[int] = (start + at for at, char in enumerate(text[start:end]) if char.upper() == letter)
    for at in reversed(list(spots)):
        if (
            not text[at - 1].isalnum()
            and not text[at + 1 : at + 2].isalnum()
            and text[start:at].rstrip(" \"'*(`").endswith(":")
        ):
            return at
    return None


def _plain(text: str) -> str:
    """Replace typographic apostrophes and wide letters by plain ones, one for one, so that positions do not change."""
    if text.isascii() and "\x00" not in text:
        return text
    plain = text.replace("’", "'").replace("\x00", " ")
    return "".join(normal if len(normal := unicodedata.normalize("NFKC", char)) == 1 else char for char in plain)
