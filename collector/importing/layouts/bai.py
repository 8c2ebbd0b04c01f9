"""The layout in which Bai et al. (2025) published answers to their word association test: one CSV with a row an answer.

`dataset` is the test, `variation` the wording's name, `iteration` counts from 0, `response` is the answer. Neither the
pair of names nor the order of the words was published: D needs neither, and both stay unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from slant.collector.designs.pairing.published_lists import TESTS
from slant.collector.importing.layouts.published import check_columns, check_study
from slant.collector.importing.layouts.rows import Row
from slant.collector.importing.layouts.values import CellError, shown, text, whole_number, word
from slant.collector.study.records import Study

_NEEDED = ("dataset", "variation", "iteration", "response")


class Bai:
    """The authors' files; which model they are of stands only in the file's name, so `--model` must say it."""

    names_models = False

    def check(self, study: Study, path: Path, columns: Sequence[str], has_model: bool) -> list[str]:
        check_study("bai", "pairing", study, has_model)
        check_columns(path, [name for name in _NEEDED if name not in columns], columns)
        return []

    def draft(self, study: Study, row: Row) -> Mapping[str, Any]:
        cells = row.cells
        name, variation = word(cells["dataset"]).lower(), word(cells["variation"])
        wordings = {wording.condition: number for number, wording in study.data.wordings.items()}
        if variation not in wordings:
            raise CellError(f"variation must be one of {', '.join(wordings)}, but is {shown(variation)}")
        test = TESTS.get(name, name)
        return {
            "test": test,
            "condition": variation,
            "wording": wordings[variation],
            "item": f"draw {whole_number(cells['iteration'], 'iteration') + 1}",
            "group": study.data.tests[test].group if test in study.data.tests else None,
            "answer": text(cells["response"]),
        }
