"""The layout in which Lee & Lai published their raw data: one CSV a test, named after it, one folder a model.

Column names differ by model: `attribute` is the model's answer as it came, `thought` or `reasoning` its reasoning
(o3-mini shows none), `prompt` the wording's text or `prompt_id` its number less one. What `tokens` counts is said
by the study's entry of the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slant.collector.designs.study import Study
from slant.collector.errors import UnknownNameError
from slant.collector.importing.layouts.layout import (
    LEE_LAI_TESTS,
    Layout,
    Row,
    check_columns,
    check_study,
    lee_lai_test,
)
from slant.collector.importing.layouts.values import CellError, is_empty, one_line, shown, text, whole_number

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
