"""Find the choice between A and B in prose. If a reader could take it in two ways, report that instead of guessing.

The letter A is also an English article ("A nephew is male"). If a capital A could be one (it begins a sentence, and
no verb follows it), mentions alone decide nothing, neither for A nor for B: otherwise one would be found more easily.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from slant.collector.designs.forced_choice.words import LETTERS
from slant.collector.designs.labels.reader import mentioned_labels
from slant.collector.designs.labels.spelling import folded
from slant.collector.designs.refusals import REFUSAL

_WRAPPING = " \t\r\n\"'`*_.,;:!?()[]{}<>#-“”‘’«»„「」。：，\\$"
_BEFORE, _AFTER = r"(?<![A-Za-z0-9_'])", r"(?![A-Za-z0-9_'])"
_CALLED = (
    r"(?:final\s+answer|answer|choice|option|selection|selected|pair|category|respuesta|opci[oó]n|réponse|antwort|option"
    r"|risposta|opzione|resposta|opção|ответ|答案|选项|選項|回答|選択肢)"
)
_IS = r"(?:\s*(?:is|would\s+be|must\s+be|:|=|-|–|—|es|est|ist|è|é|:|是|为|は|option|the|la|l'|die))*"
_BARE = re.compile(rf"(?:(?:the|my)\s+)?(?:{_CALLED}{_IS}[\s\W_]*)?([ab])", re.IGNORECASE)
_NAMED = re.compile(rf"(?:{_CALLED}{_IS}[\s\W_]*)?([ab])[\s\W_]+(.+)", re.IGNORECASE | re.DOTALL)
_VERB = r"(?:i(?:'d| would| will)?\s+(?:choose|pick|select|go with|answer)|so|thus|hence|therefore)"
_SAID = re.compile(
    rf"(?:\b{_CALLED}\s*(?:is|would be|must be|:|=|es|est|ist|è|é|是|为|は)|\b{_VERB}\b[:,]?)\s*(?:clearly\s+|the\s+)?"
    rf"(?:option|answer|opción|choice)?[\s\"'`*_(\[:{{]*([AB]){_AFTER}",
    re.IGNORECASE,
)
_REASONED = re.compile(r"[\W_]*(?:[Oo]ption\s+)?([AB])[\W_]*,?\s+(?:because|since)\b")
_NO_ARTICLE = re.compile(r"b$|[(\[]a$|\b(?:option|answer|choice|opción)\s+a$", re.IGNORECASE)
_BOXED = re.compile(r"\\boxed\s?\{(?:\\text\s?\{)?\s*([ABab])\s*\}")
_NEGATED = re.compile(
    rf"(?:\bnot|n't|\bnever|\bneither|\bnor|\brather than|\binstead of|\bother than|\bthan|\bover)\s+"
    rf"(?:[a-z]+\s+){{0,3}}[\"'(*]*[AB]{_AFTER}"
)
_ALONE = re.compile(rf"{_BEFORE}([AB]){_AFTER}")
_NO_NOUN = re.compile(
    r"\s+(?:is|was|are|and|or|because|since|as|but|fits|suits|matches|contains|holds|includes|has|would|should|seems|makes)\b"
    r"|(?!\s+[a-z])"
)
_SENTENCE_BEGINS = re.compile(r"(?:^|[.!?。\n])[\s\"'*_(\[#>-]*\Z")
_SENTENCES = re.compile(r"[.!?。！？]\s+|\n+")


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
    named = {letter for letter, option in zip(LETTERS, options, strict=True) if _holds(text, option)}
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


def _holds(text: str, option: str) -> bool:
    return bool(mentioned_labels(text, (option,)))


def _without_negated(text: str) -> str:
    """Return the text with "not A", "rather than option B" blanked out, so that positions do not change."""
    return _NEGATED.sub(lambda match: " " * len(match[0]), text)


def _same(text: str) -> str:
    return folded(text).strip(_WRAPPING)
