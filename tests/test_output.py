"""What a terminal shows of rows, where a pipe gets the whole of each line."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PRINTED = "from slant.collector.commands.output import print_rows; print_rows([{f'column_{n}': n for n in range(%d)}])"


def on_a_terminal(n_columns: int) -> list[str]:
    ours, theirs = os.openpty()
    with open(ours, "rb", buffering=0) as terminal:
        subprocess.run(
            [sys.executable, "-c", PRINTED % n_columns], stdout=theirs, check=True, env={**os.environ, "COLUMNS": "80"}
        )
        os.close(theirs)
        return terminal.read(100_000).decode().splitlines()


@pytest.mark.parametrize("n_columns", [20, 38])
def test_more_columns_than_a_terminal_has_room_for_are_a_line_each(n_columns: int) -> None:
    lines = on_a_terminal(n_columns)
    assert [line.split() for line in lines if f"column_{n_columns - 1}" in line] == [
        ["1", f"column_{n_columns - 1}", str(n_columns - 1)]
    ]


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
        "--part",
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
