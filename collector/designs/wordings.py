"""The wordings of a study: numbered texts with placeholders."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from slant.collector.designs.placeholders import check_placeholders
from slant.collector.errors import StudyError


def read_wordings(rows: list[dict[str, str]], needed: tuple[str, ...], where: str) -> dict[int, str]:
    """Texts by number; StudyError where one lacks a placeholder that is `needed`, or a number is given twice."""
    wordings: dict[int, str] = {}
    for row in rows:
        number = whole(row["wording"], f"the wordings of {where}")
        if number in wordings:
            raise StudyError(f"The wording {number} is given twice in {where}.")
        check_placeholders(row["text"], needed, (), f"wording {number} of {where}")
        wordings[number] = row["text"]
    if not wordings:
        raise StudyError(f"{where} needs at least one wording.")
    return wordings


_FUNCTION_WORDS = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "he", "her", "hers", "him", "his", "in", "is", "it",
    "its", "my", "of", "on", "or", "our", "she", "the", "their", "to", "with", "you", "your",
})  # fmt: skip


def spoken_words(texts: Iterable[str]) -> set[str]:
    """The words that texts say beside their placeholders, as they are written there; function words are left out."""
    words = (word for text in texts for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", re.sub(r"\{\w*\}", " ", text)))
    return {word for word in words if word.lower() not in _FUNCTION_WORDS}


def same_word(word: str) -> str:
    """What two words share that a reader can't tell apart: but for case, and for Unicode's ways to write one letter
    (é as one character, or as e with an accent)."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", word).casefold())


def whole(text: str, where: str) -> int:
    """StudyError for anything but up to nine digits."""
    if not text.isdecimal() or not text.isascii() or len(text) > 9:
        raise StudyError(f'"{text}" in {where} must be a whole number.')
    return int(text)
