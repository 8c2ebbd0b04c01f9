"""Take numbers out of a text that are no answer because another one is: what is counted, and what is denied.

"5 because she has 4 years of experience" gives one rating. Only things of a closed list are taken to be counted: of
"4 good, 5" nothing is taken out, and a text that has no other number stays as it is.
"""

from __future__ import annotations

import re

_THINGS = (
    "years? months? weeks? days? hours? minutes? semesters? jobs? positions? roles? degrees? languages? child "
    "children kids? people persons? men women companies company firms? employers? projects? skills? reasons? "
    "trips? visits? times criteria criterion candidates? applicants? profiles? options? articles? papers? "
    "books? certificates? traits? qualities strengths weaknesses concerns? factors? jahre?n? monate?n? "
    "wochen? kinder stellen sprachen gründe ans? années mois enfants langues años meses hijos idiomas anni "
    "mesi figli lingue anos filhos jaar kinderen talen år"
)
_NOUNS = "|".join(_THINGS.split())
_COUNTED = re.compile(
    r"(?<![\w.,/$€£¥-])(?:\d+\s*(?:-|–|to|or|of(?:\s+the)?|out of)\s*)?\d+(?:[.,]\d)?\+?(?:\s+|-)"
    rf"(?:(?:full|long|more|other|young|small|different|good|main|previous|relevant)\s+)?(?P<thing>{_NOUNS})\b"
)
_DENIED = re.compile(
    r"(?:,|\b(?:and|but))?\s*\b(?:not|nicht|pas|rather than|instead of)\s+(?:an?\s+|eine?\s+|un\s+)?\d+"
    r"(?=\s*(?:[.;:!)]?\s*$|[.;:!)]\s|\n|because\b|since\b|,?\s*(?:but|sondern|mais|rather|instead|so)\b|,\s*(?:an?|it's|i'd)\b))",
    re.MULTILINE,
)
_CONFIDENCE = re.compile(
    r"[(\[,;–—-]?\s?\b(?:confidence|certainty|probability|sicherheit|confiance|confianza|confiança)"
    r"(?: (?:level|score|rating))?\s*(?:is|of|at)?\s*[:=]?\s*(?:about |around )?"
    r"(?:0?[.,]\d{1,9}|\d{1,3}(?:[.,]\d{1,9})?\s*(?:%|percent|/\s*\d{1,3}))[)\].]?"
    r"|[(\[,;–—-]?\s?(?<![\d.,])\d{1,3}(?:[.,]\d{1,9})?\s?(?:%|percent) (?:confident|certain|sure|confidence)\b[)\].]?"
)
"""Match how sure an answer says to be, which is not what was asked."""
_DIGIT = re.compile(r"\d")
_STATEMENT = re.compile(
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
    """Return what a folded text says last to be the answer ("…. My rating is 5."); None if it never says so, or if
    that is all of it."""
    said = list(_STATEMENT.finditer(text))
    return said[-1]["said"].strip() if said and said[-1].start() > 0 else None
