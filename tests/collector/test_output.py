"""What a terminal shows of rows, where a pipe gets the whole of each line."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.terminal import fitted

PRINTED = "from slant.collector.terminal import print_rows; print_rows([{f'column_{n}': n for n in range(%d)}])"


def on_a_terminal(n_columns: int) -> list[str]:
    ours, theirs = os.openpty()
    with open(ours, "rb", buffering=0) as terminal:
        subprocess.run(
            [sys.executable, "-c", PRINTED % n_columns], stdout=theirs, check=True, env={**os.environ, "COLUMNS": "80"}
        )
        os.close(theirs)
        return re.sub(r"\x1b\[[0-9;]*m", "", terminal.read(100_000).decode()).splitlines()


@pytest.mark.parametrize("n_columns", [20, 38])
def test_columns_without_room_are_left_out_and_named(n_columns: int) -> None:
    lines = on_a_terminal(n_columns)
    assert all(len(line) <= 80 for line in lines)
    assert f"column_{n_columns - 1}" not in "".join(lines)


WORDS = st.text(st.characters(categories=("L",)), min_size=1, max_size=12)
CELLS = st.one_of(st.none(), st.integers(0, 10**9), st.lists(WORDS, min_size=1, max_size=6).map(" ".join))


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=4), st.integers(30, 120))
def test_no_word_is_broken_whatever_the_width(rows: list[tuple[object, ...]], width: int) -> None:
    frame = pl.DataFrame([[str(cell or "") for cell in row] for row in rows], schema=["aa", "bb", "cc"], orient="row")
    shown, left_out, widths = fitted(frame, width)
    assert [*shown.columns] == [name for name in frame.columns if name in shown.columns]
    assert set(left_out) <= set(frame.columns) - set(shown.columns)
    for name, its in widths.items():
        assert its >= max(len(word) for cell in frame[name] for word in cell.split() or [""])
    assert sum(its + 3 for its in widths.values()) <= width or len(widths) == 1


def test_a_table_with_room_for_its_columns_is_a_line_a_row() -> None:
    assert any("column_0" in line and "column_4" in line for line in on_a_terminal(5))


@pytest.mark.parametrize("output_format", ["table", "csv", "json"])
def test_a_reader_that_leaves_ends_a_command_as_the_shell_expects_it(output_format: str) -> None:
    command = [
        sys.executable,
        "-m",
        "slant.collector",
        "studies",
        "rmiat",
        "--show",
        "words",
        "--format",
        output_format,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 141
