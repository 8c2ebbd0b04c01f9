"""Read the wordings of a study: numbered texts with placeholders."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from slant.collector.designs.placeholders import check_placeholders
from slant.collector.errors import StudyError
from slant.collector.study.toml_table import checked_name


def read_wordings(rows: list[dict[str, str]], needed: tuple[str, ...], where: str) -> dict[int, str]:
    """Return texts by number; StudyError if one lacks a placeholder that is `needed`, or a number is given twice."""
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
    """Return the words that texts have besides their placeholders, in their spelling; function words are left
    out.
    """
    words = (word for text in texts for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", re.sub(r"\{\w*\}", " ", text)))
    return {word for word in words if word.lower() not in _FUNCTION_WORDS}


def same_word(word: str) -> str:
    """Return one text for two words that a reader can't distinguish: without case, and with Unicode's ways to write one
    letter (é as one character, or as e with an accent) made the same.
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", word).casefold())


def listed_tests(
    rows: Iterable[Mapping[str, str]], kind: str, where: str
) -> Iterator[tuple[str, int, str, Mapping[str, str]]]:
    """Yield name, number and label of each test (or whatever a design calls its `kind`) of a table, and its row. One
    without a number has that of its place. StudyError for a name given twice, and if there is none."""
    names: set[str] = set()
    for place, row in enumerate(rows, start=1):
        name = checked_name(row[kind], kind)
        if name in names:
            raise StudyError(f'The {kind} "{name}" is given twice in {where}.')
        names.add(name)
        number = whole(row.get(f"{kind}_no") or str(place), f"the {kind}s of {where}")
        yield name, number, row.get("label") or name, row
    if not names:
        raise StudyError(f"{where} needs at least one {kind}.")


def whole(text: str, where: str) -> int:
    """Return the number; StudyError for anything but up to nine digits."""
    if not text.isdecimal() or not text.isascii() or len(text) > 9:
        raise StudyError(f'"{text}" in {where} must be a whole number.')
    return int(text)
