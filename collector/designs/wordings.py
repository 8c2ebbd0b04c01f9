"""Read the words of a study: numbered wordings with placeholders, tests, and the four lists of a test of associations:
two groups, and two attributes that they may go with.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from slant.collector.designs.placeholders import check_placeholders
from slant.collector.errors import StudyError, check_known
from slant.collector.study.toml_table import Table, checked_name


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
    """Return a text that is the same for two words that a reader can't distinguish: without case, and with Unicode's
    ways to write one letter (é as one character, or as e with an accent) made the same."""
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


GROUPS = ("group_a", "group_b")
ATTRIBUTES = ("attribute_a", "attribute_b")
SIDES = (*GROUPS, *ATTRIBUTES)
STIMULI = ("test", "side", "group", "word")
"""List the columns of a file of words; `group` is the common name of a side's words."""


def two_names(table: Table, key: str, usual: tuple[str, str], why: str) -> tuple[str, str]:
    """Return a study's names for the two ways to ask that its design has; StudyError, which says why, for any other
    number.
    """
    names = table.texts(key, usual)
    if len(set(names)) != 2 or len(names) != 2:
        raise StudyError(
            f'"{key}" in {table.where} must be two different names, but it is {list(names)}.',
            f"There are two by design: {why}.",
            "More ways to ask are wordings or variants.",
        )
    return checked_name(names[0], key[:-1]), checked_name(names[1], key[:-1])


def read_sides(rows: Iterable[Mapping[str, str]], where: str) -> dict[str, dict[str, tuple[str, list[str]]]]:
    """Return the group's name and its words by test and side. A word may occur once in a test."""
    tests: dict[str, dict[str, tuple[str, list[str]]]] = {}
    seen: dict[tuple[str, str], str] = {}
    for row in rows:
        test, side, word = row["test"], row["side"], row["word"]
        check_known(f"side (of the stimuli of {test})", side, SIDES)
        if not word:
            raise StudyError(f'A word of the test "{test}", {side}, is empty in {where}.')
        is_new = (test, same_word(word)) not in seen
        twice = seen.setdefault((test, same_word(word)), side)
        group, words = tests.setdefault(test, {}).setdefault(side, (row["group"], []))
        if not is_new:
            both = f"both {twice} and {side}" if twice != side else f"{side} twice"
            raise StudyError(f'The word "{word}" is in {both} in the test "{test}" of {where}.')
        if row["group"] != group:
            raise StudyError(f'{side} of the test "{test}" has two groups: "{group}" and "{row["group"]}".')
        words.append(word)
    return tests
