"""A command that computes a result, declared here: what its terminal, CSV, figure and messages get."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import polars as pl
import pytest
from click.testing import CliRunner, Result

from slant.analysis.cli.options import workers_options
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.analysis.plots import drawing
from slant.collector.commands.options import output_options


@dataclass(frozen=True)
class Sum:
    table: pl.DataFrame
    warnings: list[str] = field(default_factory=lambda: ["One of them is doubtful."])


def add(workers: Any, progress: Any, start: int = 0) -> Sum:
    """Takes of what was typed only what it has arguments for."""
    assert callable(progress)
    return Sum(pl.DataFrame({"workers": [workers], "sum": [start + 1.23456], "messages": ["a long text"]}))


@result_command(
    "add",
    epilog="",
    study=None,
    options=[click.option("--start", type=int, default=1)],
    figure="the sum",
    usual_options=[workers_options, output_options],
)
def add_command(asked: Asked, start: int) -> Answer:
    """Add."""
    table = asked.compute(add, start=start).table
    return Answer(table, ["workers", "sum"], ["It was added."], figure=("plot_sum", lambda: table))


def typed(*words: str) -> Result:
    result = CliRunner().invoke(add_command, list(words))
    assert result.exception is None, result.output
    return result


def test_a_terminal_gets_some_columns_in_three_digits_and_a_program_all_there_is() -> None:
    shown = typed().stdout
    assert ("2.23 " in shown, "messages" in shown) == (True, False)
    assert typed("--start", "2", "--workers", "2", "--format", "csv").stdout == (
        "workers,sum,messages\n2,3.23456,a long text\n"
    )


def test_what_is_doubtful_is_said_once_after_the_rows() -> None:
    assert typed("--format", "csv").stderr == "It was added.\nOne of them is doubtful.\n"


def test_a_figure_is_drawn_of_the_rows_that_the_answer_names(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[Path, str, int]] = []

    def draw(file: Path, function: str, rows: pl.DataFrame, workers: Any) -> str:
        drawn.append((file, function, rows.height))
        return f"{file}: a sum."

    monkeypatch.setattr(drawing, "draw_into", draw)
    assert typed("--figure", "sum.svg").stderr.endswith("sum.svg: a sum.\n")
    assert drawn == [(Path("sum.svg"), "plot_sum", 1)]
    assert "--figure" in typed("--help").output
