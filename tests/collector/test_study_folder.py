"""The CSVs of a study as spreadsheets save them: what separates cells, and what is left empty, changes no row."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.errors import StudyError
from slant.collector.study.folder import StudyFolder
from slant.collector.study.toml_table import Table

TEXTS = st.text("aé,;\t\"\n 'ж", max_size=8)


def rows_of(folder: Path, text: str) -> list[dict[str, str]]:
    (folder / "names.csv").write_text(text, encoding="utf-8", newline="")
    return StudyFolder(folder).rows(Table({"names": "names.csv"}, "the study"), "names", ("level", "group"))


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4), st.sampled_from(",;\t"), st.integers(0, 2), st.booleans())
def test_any_separator_and_empty_cells_give_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], separator: str, n_empty: int, has_mark: bool
) -> None:
    written = io.StringIO()
    writer = csv.writer(written, delimiter=separator)
    writer.writerows([*row, *[""] * n_empty] for row in [("level", "group"), *rows])
    text = ("\ufeff" if has_mark else "") + written.getvalue()
    filled = [{"level": level.strip(), "group": group.strip()} for level, group in rows if (level + group).strip()]
    assert rows_of(tmp_path_factory.getbasetemp(), text) == filled


def test_a_cell_without_a_name_above_it_is_refused_by_its_line(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"names.csv, line 3, has more cells than the header"):
        rows_of(tmp_path, "level;group;\nAda;woman;\nBen;man;x\n")
