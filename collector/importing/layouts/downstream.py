"""The layout in which Lee & Lai keep the word association test that they ran beside their own: a row for each word.

  experiment (the test), template (the wording), model, iteration (from 0): which answer a row is of
  group0, group1     the names as they were shown, with group0_pole, group1_pole (or pole0, pole1)
  attribute          a word of the list; the order of an answer's rows is the list as it was shown; with attr_pole
  raw_response       the answer, the same in all its rows; read anew here, and group_assigned, their reading, left aside
  thinking_tokens    what is counted differs by model, as the table below has it
The positive pole is side a. Long reasoning was cut off before the answer began: an empty one is truncated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from slant.collector.designs.sides import ATTRIBUTES, GROUPS
from slant.collector.importing.layouts.grouped import grouped_rows
from slant.collector.importing.layouts.published import check_columns, check_study, lee_lai_test, wording_named
from slant.collector.importing.layouts.rows import Problem, Row
from slant.collector.importing.layouts.values import CellError, is_empty, shown, text, whole_number, word
from slant.collector.records import TokenSource
from slant.collector.study.records import Study

_ANSWER = ("experiment", "model", "template", "iteration")
_NAMES, _POLES = ("group0", "group1"), (("group0_pole", "pole0"), ("group1_pole", "pole1"))
_OF_WORDS = ("attribute", "attr_pole", "group_assigned")
_ALIKE = (*_NAMES, *(name for names in _POLES for name in names), "raw_response", "thinking_tokens")
_NEEDED = (*_ANSWER, *_NAMES, "attribute", "attr_pole", "raw_response")
_SIDES = dict.fromkeys(("positive", "pos", "+", "1", "+1"), "a") | dict.fromkeys(("negative", "neg", "-", "-1"), "b")
_SHOWN_WORDS = 5
_COUNTED: tuple[tuple[str, TokenSource], ...] = (
    ("o3-mini", "usage"),
    ("claude", "output"),
    ("deepseek", "output"),
    ("gpt-oss", "output"),
    ("qwen", "template"),
)
"""What their counts are of, by what a model's name begins with; of others the study's own entry says it."""


class Downstream:
    """The authors' files of all models, or of one."""

    names_models = True

    def check(self, study: Study, path: Path, columns: Sequence[str], has_model: bool) -> list[str]:
        check_study("downstream", ("pairing",), study, has_model=True)
        missing = [name for name in _NEEDED if name not in columns and not (name == "model" and has_model)]
        check_columns(path, missing + [names[0] for names in _POLES if not set(names) & set(columns)], columns)
        return []

    def grouped(self, rows: Iterable[Row | Problem]) -> Iterator[Row | Problem]:
        return grouped_rows(rows, _ANSWER, _ALIKE, _OF_WORDS)

    def draft(self, study: Study, row: Row) -> Mapping[str, Any]:
        cells, test = row.cells, lee_lai_test(word(row.cells.get("experiment")))
        if test not in study.data.tests:
            known = ", ".join(study.data.tests)
            raise CellError(f"experiment must be one of {known}, but is {shown(cells.get('experiment'))}")
        condition, wording = wording_named(study, word(cells.get("template")), "template")
        number, answer = whole_number(cells.get("iteration"), "iteration"), text(cells.get("raw_response"))
        draft: dict[str, Any] = {
            "model": cells.get("model"),
            "test": test,
            "condition": condition,
            "wording": wording,
            "item": f"draw {number % study.data.draws + 1}",
            "repetition": number // study.data.draws + 1,
            "answer": answer,
            "outcome": "truncated" if is_empty(answer) else None,
            "tokens": cells.get("thinking_tokens"),
            "token_source": _token_source(word(cells.get("model"))),
        }
        return draft | _what_was_shown(study, test, wording, row)


def _token_source(model: str) -> TokenSource | None:
    name = model.rpartition("/")[2].lower()
    return next((source for start, source in _COUNTED if name.startswith(start)), None)


def _what_was_shown(study: Study, test: str, wording: int, row: Row) -> dict[str, Any]:
    """Names, words and their order, each on the side that its pole says."""
    names, words = [word(row.cells.get(name)) for name in _NAMES], [word(each) for each in row.cells["attribute"]]
    of_names = [_side(pole, row) for pole in _POLES]
    of_words = _sides("attr_pole", row.cells["attr_pole"])
    if set(of_names) != {"a", "b"}:
        raise CellError(f"of {' and '.join(_NAMES)} one must be positive and one negative, but both are the same")
    if not all((*names, *words)):
        raise CellError(f"{'attribute' if all(names) else ' or '.join(_NAMES)} is empty")
    if twice := next((each for each in words if words.count(each) > 1), None):
        raise CellError(f"attribute must be another word in each row of an answer, but several are {shown(twice)}")
    lists = study.data.tests[test].words(study.data.wordings[wording].words)
    _check_sides(lists, GROUPS, dict(zip(names, of_names, strict=True)))
    _check_sides(lists, ATTRIBUTES, dict(zip(words, of_words, strict=True)))
    _check_whole(lists, words)
    by_side = dict(zip(of_names, names, strict=True))
    return {
        "option_a": by_side["a"],
        "option_b": by_side["b"],
        "factors": {
            "first_option": names[0],
            "words": words,
            "poles": "".join("p" if side == "a" else "n" for side in of_words),
        },
    }


def _side(names: Sequence[str], row: Row) -> str:
    name = next((name for name in names if name in row.cells), names[0])
    return _sides(name, [row.cells.get(name)])[0]


def _sides(name: str, poles: Iterable[Any]) -> list[str]:
    """Side a for a positive pole, b for a negative one. Nothing else is guessed: D would be turned around."""
    plain = [word(pole).lower().removesuffix(".0") for pole in poles]
    if others := sorted({pole for pole in plain if pole not in _SIDES}):
        known = "positive or negative (or pos, neg, 1, -1, +, -)"
        raise CellError(f"{name} must be {known}, but is {shown(', '.join(others))}")
    return [_SIDES[pole] for pole in plain]


def _check_sides(lists: Mapping[str, Sequence[str]], both: Sequence[str], sides: Mapping[str, str]) -> None:
    """What the study knows must be on the side that it knows it on."""
    known = {each.casefold(): side for side in both for each in lists[side]}
    for name, side in sides.items():
        own = known.get(name.casefold(), side)
        if own[-1] != side:
            pole = "positive" if side == "a" else "negative"
            raise CellError(f"{shown(name)} is {pole} here, but the study has it in {own}")


def _check_whole(lists: Mapping[str, Sequence[str]], words: Sequence[str]) -> None:
    """Every prompt showed all words of a test: where some are missing, and no others are there, rows were lost."""
    listed, here = {each.casefold(): each for side in ATTRIBUTES for each in lists[side]}, set(map(str.casefold, words))
    missing = [each for plain, each in listed.items() if plain not in here]
    if missing and here < set(listed):
        first = ", ".join(missing[:_SHOWN_WORDS]) + (" …" if len(missing) > _SHOWN_WORDS else "")
        raise CellError(f"an answer must have a row for each word of its test, but lacks {len(missing)}: {first}")
