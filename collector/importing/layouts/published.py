"""The layouts of published answers. Those of Bai et al. (2025): one CSV with a row an answer, and with these columns.

  word association   dataset or category (the test), variation (the wording), iteration (from 0), response; the number
                     may stand in a column without a name, and the answer in one called 0
  chained            dataset, row or no name (from 0, over all tests), response, decision_bias and iat_bias (their own
                     codings)
  absolute           dataset, type (the wording), 0 (the answer), and its number in a column without a name
  temperature0       category (the test), variation, iteration, response, and what was shown: group0, group1, attributes
                     (a printed list), attribute0, attribute1
Where the pair of names and the order of the words were not published, both stay unknown.

Lee & Lai published one CSV a test, named after it, one folder a model. Column names differ by model: `attribute` is the
model's answer as it came, `thought` or `reasoning` its reasoning (o3-mini shows none), `prompt` the wording's text or
`prompt_id` its number less one. What `tokens` counts is said by the study's entry of the model.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slant.collector.designs.decision.scenes import DecisionData
from slant.collector.designs.pairing.published_lists import TESTS
from slant.collector.designs.study import Study
from slant.collector.designs.wordings import SIDES
from slant.collector.errors import UnknownNameError
from slant.collector.importing.layouts.tidy import (
    LEE_LAI_TESTS,
    Layout,
    Row,
    check_columns,
    check_study,
    lee_lai_test,
    wording_named,
)
from slant.collector.importing.layouts.values import (
    CellError,
    is_empty,
    number,
    one_line,
    shown,
    text,
    whole_number,
    word,
)

_TEST, _WORDING = ("dataset", "category"), ("variation", "type")
_NUMBER, _ANSWER = ("iteration", "row", ""), ("response", "0")
_CODED_D = "iat_bias"
_SHOWN = ("group0", "group1", "attributes", "attribute0", "attribute1")


class Bai(Layout):
    """Read the authors' files; which model they are of is only in the file's name, so `--model` must say it."""

    def check(self, study: Study, path: Path, columns: Sequence[str], has_model: bool) -> list[str]:
        check_study("bai", study, has_model)
        check_columns(path, [names[0] for names in (_TEST, _NUMBER, _ANSWER) if not set(names) & set(columns)], columns)
        if len(study.data.wordings) > 1:
            check_columns(path, [] if set(_WORDING) & set(columns) else [_WORDING[0]], columns)
        return []

    def draft(self, study: Study, row: Row) -> Mapping[str, Any]:
        name, place = word(_first(row, _TEST)).lower(), whole_number(_first(row, _NUMBER), "the number of the row")
        test, called = TESTS.get(name, name), word(_first(row, _WORDING))
        condition, wording = wording_named(study, called, _WORDING[0])
        draft = {
            "test": test,
            "condition": condition,
            "wording": wording,
            "item": f"draw {place % study.data.draws + 1}",
            "group": study.data.tests[test].group if test in study.data.tests else None,
            "answer": text(_first(row, _ANSWER)),
        }
        if _CODED_D in row.cells:  # numbered over all tests: further rows are further repetitions of a draw
            draft["repetition"] = place // study.data.draws + 1
        if isinstance(study.data, DecisionData) and test in study.data.tests:
            # what the authors' coder says of the decision (1: with the association), and their D
            if not is_empty(decision := row.cells.get("decision_bias")):
                draft["coded_decision"] = whole_number(decision, "decision_bias", 0, 1)
            if not is_empty(d := row.cells.get(_CODED_D)):
                draft["coded_d"] = number(d, _CODED_D)
            if all(name in row.cells for name in _SHOWN):
                draft |= _what_was_shown(study, test, wording, row)
        return draft


def _first(row: Row, names: Sequence[str]) -> Any:
    return next((row.cells[name] for name in names if name in row.cells), None)


def _what_was_shown(study: Study, test: str, wording: int, row: Row) -> dict[str, Any]:
    """Return names, words and orders, each with the side that it has in any list of the test."""
    cells, lists = row.cells, study.data.tests[test].lists
    sides = {
        each.lower(): side for name in lists for side in SIDES for each in study.data.tests[test].words(name)[side]
    }
    groups, words = ([word(cells[f"{kind}{n}"]) for n in (0, 1)] for kind in ("group", "attribute"))
    try:
        listed = ast.literal_eval(word(cells["attributes"])[:20_000])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        listed = None
    if not (isinstance(listed, list) and listed and all(isinstance(each, str) for each in listed)):
        raise CellError(f"attributes must be a list of words, but is {shown(cells['attributes'])}")
    of_groups, of_words = ({sides.get(name.lower()): name for name in names} for names in (groups, words))
    unknown = [name for name in (*groups, *words, *listed) if name.lower() not in sides]
    if unknown or set(of_groups) != {"group_a", "group_b"} or set(of_words) != {"attribute_a", "attribute_b"}:
        raise CellError(
            f"the study does not know which side these are of: {shown(', '.join(unknown or groups + words))}"
        )
    if (scene := study.data.scene(test, wording)) is None:
        raise CellError(f"the study has no wording {wording} of {test}")
    return {
        "option_a": of_groups["group_a"],
        "option_b": of_groups["group_b"],
        "factors": {
            "tasks": list(scene.kinds),
            "first_group": sides[groups[0].lower()][-1],
            "first_attribute": sides[words[0].lower()][-1],
            "attribute_a": of_words["attribute_a"],
            "attribute_b": of_words["attribute_b"],
            "words": listed,
            "poles": "".join("p" if sides[each.lower()] == "attribute_a" else "n" for each in listed),
        },
    }


_NEEDED = ("word", "group", "attribute", "tokens", "condition")
_REASONING = ("thought", "reasoning", "thinking")


class LeeLai(Layout):
    """Read the authors' files; which model they are of is only in the folder's name, so `--model` must say it."""

    def check(self, study: Study, path: Path, columns: Sequence[str], has_model: bool) -> list[str]:
        check_study("lee-lai", study, has_model)
        _test_of(study, str(path))
        missing = [name for name in _NEEDED if name not in columns]
        if not {"prompt", "prompt_id"} & set(columns):
            missing.append("prompt (or prompt_id)")
        check_columns(path, missing, columns)
        return []

    def draft(self, study: Study, row: Row) -> Mapping[str, Any]:
        cells = row.cells
        reasoning = next((cells[name] for name in _REASONING if name in cells), None)
        return {
            "test": _test_of(study, row.file),
            "condition": cells["condition"],
            "item": cells["word"],
            "group": cells["group"],
            "wording": _wording(study, cells.get("prompt"), cells.get("prompt_id")),
            "repetition": cells.get("repetition"),
            "answer": text(cells["attribute"]),
            "tokens": cells["tokens"],
            "reasoning_text": reasoning,
        }


def _test_of(study: Study, file: str) -> str:
    known = [test.test for test in study.tests]
    test = lee_lai_test(Path(file).stem)
    if test not in known:
        names = [next((file for file, test_name in LEE_LAI_TESTS.items() if test_name == each), each) for each in known]
        raise UnknownNameError(
            f"test of {study.name} for the file",
            Path(file).name,
            [f"{each}.csv" for each in names],
            f"Known file names: {', '.join(f'{each}.csv' for each in names)}",
        )
    return test


def _wording(study: Study, prompt: Any, prompt_id: Any) -> int:
    """Return the wording's number, by its text with white space collapsed, or by its number less one."""
    wordings: Mapping[int, str] = study.data.wordings
    by_text = None
    if not is_empty(prompt):
        line = one_line(prompt)
        by_text = next((number for number, text in wordings.items() if one_line(text) == line), None)
        if by_text is None and is_empty(prompt_id):
            raise CellError(f"prompt is none of the study's {len(wordings)} wordings: {shown(prompt)}")
    if is_empty(prompt_id):
        if by_text is None:
            raise CellError("prompt is empty")
        return by_text
    by_id = whole_number(prompt_id, "prompt_id", 0, max(wordings) - 1) + 1
    if by_text not in (None, by_id):
        raise CellError(f"prompt is wording {by_text}, but prompt_id {shown(prompt_id)} is wording {by_id}")
    return by_id
