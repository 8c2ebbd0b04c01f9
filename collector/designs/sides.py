"""Read the four lists of words of a test of associations: two groups, and two attributes that they may go with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from slant.collector.designs.wordings import same_word
from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.study.toml_table import Table, checked_name

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
    """Return by test and side the group's name and its words. A word may occur once in a test."""
    tests: dict[str, dict[str, tuple[str, list[str]]]] = {}
    seen: dict[tuple[str, str], str] = {}
    for row in rows:
        test, side, word = row["test"], row["side"], row["word"]
        if side not in SIDES:
            raise UnknownNameError(f"side (of the stimuli of {test})", side, SIDES)
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
