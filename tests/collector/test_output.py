"""What a terminal shows of rows, where a pipe gets the whole of each line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from io import StringIO
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from slant.collector.screen_tables import (
    as_table,
    fitted,
    plain_table,
    screen_table,
    shown_p,
    table_as_html,
    table_as_text,
)

PRINTED = "from slant.collector.terminal import print_rows; print_rows([{f'column_{n}': n for n in range(%d)}])"


def on_a_terminal(n_columns: int) -> list[str]:
    ours, theirs = os.openpty()
    with open(ours, "rb", buffering=0) as terminal:
        subprocess.run(
            [sys.executable, "-c", PRINTED % n_columns], stdout=theirs, check=True, env={**os.environ, "COLUMNS": "80"}
        )
        os.close(theirs)
        return re.sub(r"\x1b\[[0-9;]*m", "", terminal.read(100_000).decode()).splitlines()


@pytest.mark.slow
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
    shown = fitted(frame, width)
    assert [*shown.frame.columns] == [name for name in frame.columns if name in shown.frame.columns]
    assert set(shown.left_out) <= set(frame.columns) - set(shown.frame.columns)
    for name, its in shown.widths.items():
        assert its >= max(len(word) for cell in frame[name] for word in cell.split() or [""])
    assert sum(its + shown.gap for its in shown.widths.values()) <= width or len(shown.widths) == 1


NAMES = {"source": "simulated", "study": "rmiat", "study_version": "vff2c69cae574", "variant": "base", "measure": None}
FITS = pl.DataFrame(
    [
        {**NAMES, "model": model, "test": "instruments_weapons", "term": term, "estimate": 60.86, "std_error": 2.14,
         "df": 68.4, "statistic": 28.4, "conf_low": 56.6, "conf_high": 65.1, "p_value": 1e-39, "fit": "lme4"}
        for model in ("claude-3.7-sonnet", "deepseek-r1") for term in ("intercept", "conditionincompatible")
    ]
)  # fmt: skip
ASKED_FOR = ("estimate", "conf_low", "conf_high", "p_value", "model", "test", "term")


@pytest.mark.parametrize("width", [80, 110, 140])
@pytest.mark.parametrize("n_rows", [1, 4])
def test_what_was_asked_for_stays_at_any_width_and_what_is_constant_stands_above(width: int, n_rows: int) -> None:
    shown = screen_table(FITS.head(n_rows), width, ASKED_FOR)
    in_view = {*shown.frame.columns, *(part.split(": ")[0] for part in shown.above.split("; "))}
    assert set(ASKED_FOR) <= in_view
    assert "study: rmiat" in shown.above
    assert sum(its + shown.gap for its in shown.widths.values()) <= width
    printed = table_as_text(FITS.head(n_rows), ASKED_FOR, width).splitlines()
    assert all(len(line) <= width for line in printed[1:])
    assert "60.86" in "".join(printed)


@pytest.mark.parametrize("n_rows", [1, 2, 4])
def test_long_names_are_folded_between_their_parts_on_80_columns(n_rows: int) -> None:
    tests = ["disease_permanence", "instruments_weapons", "disease_permanence", "mental_physical"]
    lines = table_as_text(FITS.with_columns(test=pl.Series(tests)).head(n_rows), ASKED_FOR, 80).splitlines()[1:]
    assert all(len(line) <= 80 for line in lines)
    parts = {"claude-3.7-sonnet", "claude-", "claude-3.7-", "3.7-sonnet", "sonnet", "deepseek-r1", "deepseek-", "r1"}
    parts |= {"disease_permanence", "disease_", "permanence", "instruments_", "weapons", "mental_", "physical"}
    parts |= {"mental_physical", "intercept", "conditionincompatible", "condition", "incompatible"}
    assert {word for line in lines[2:] for word in line.split() if word[0].isalpha()} <= parts
    assert not any("─" in line for line in lines[2:])


def test_names_that_tell_rows_apart_stay_and_intervals_stay_whole() -> None:
    row = {
        "variant": "main",
        "index": "si",
        "n": 30,
        "estimate": 0.3,
        "random_level": 0.2,
        "boot_low": 0.1,
        "boot_high": 0.4,
    }
    rows = pl.DataFrame([row, {**row, "index": "bgd", "n": 31}])
    for width in range(40, 80):
        shown = screen_table(rows, width, ("estimate",))
        assert "index" in shown.frame.columns, width
        assert ("boot_low" in shown.frame.columns) == ("boot_high" in shown.frame.columns), width


PLAIN = [
    {"model": "o3-mini", "is_done": True, "asked": 12, "note": None},
    {"model": "deepseek-r1 at a long name", "is_done": None, "asked": 1_234_567, "note": None, "why": "a\x1b[31m word"},
]


@pytest.mark.parametrize("width", [20, 40, 80])
@pytest.mark.parametrize("rows", [PLAIN, PLAIN[:1], [{"model": "a", "asked": 0}] * 2, []])
def test_rows_of_texts_and_whole_numbers_are_printed_without_polars_as_with_it(rows: list[Any], width: int) -> None:
    plain, frame = screen_table(plain_table(rows), width), screen_table(pl.DataFrame(rows), width)
    assert (plain.above, plain.left_out, plain.widths, plain.gap) == (
        frame.above, frame.left_out, frame.widths, frame.gap,
    )  # fmt: skip
    assert on_paper(as_table(plain.frame, "A", plain)) == on_paper(as_table(frame.frame, "A", frame))
    assert plain_table([*rows, {"model": 0.5}]) is None


def on_paper(table: Any) -> str:
    console = Console(file=StringIO(), width=80, record=True)
    console.print(table)
    return console.export_text()


def test_a_word_is_broken_where_nothing_else_fits() -> None:
    long = pl.DataFrame({"estimate": [1.5], "model": ["a" * 60], "test": ["disease_permanence"]})
    lines = table_as_text(long, ("estimate", "model", "test"), 40).splitlines()
    assert max(map(len, lines)) <= 40
    assert "".join(lines).count("a") >= 60


def test_a_p_is_shown_as_papers_print_it() -> None:
    assert [shown_p(value) for value in (1e-39, 0.0009, 0.001, 0.059, 1.0, None)] == [
        "< .001", "< .001", ".001", ".059", "1.000", "",
    ]  # fmt: skip


def test_a_notebook_escapes_what_models_wrote() -> None:
    page = table_as_html(pl.DataFrame({"model": ["<script>", "b"], "p_value": [0.0001, 0.5]}))
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert "&lt; .001" in page


def test_a_table_with_room_for_its_columns_is_a_line_a_row() -> None:
    assert any("column_0" in line and "column_4" in line for line in on_a_terminal(5))


@pytest.mark.slow
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
