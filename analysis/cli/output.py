"""Share what commands of `analyze` do with a result: print its rows, say what is doubtful, draw it into a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import click

from slant.analysis.fitting.fits import ASKED_FOR
from slant.collector.commands.options import FILE, Decorator
from slant.collector.terminal import print_rows, say


class Kept(Protocol):
    """Describe a result: `not_kept` says why it could not be written to the database; None if it was."""

    @property
    def not_kept(self) -> str | None: ...


def figure_option(content: str) -> Decorator:
    """Return `--figure FILE`, which also draws `content`. The file's name is checked before anything is computed."""
    about = f"Also draw {content}: FILE.svg or FILE.png."
    return click.option("--figure", type=FILE, metavar="FILE", callback=_checked_name, help=about)


def _checked_name(ctx: click.Context, parameter: click.Parameter, file: Path | None) -> Path | None:
    if file is not None:
        from slant.analysis.plots.drawing import check_figure_name

        check_figure_name(file)
    return file


def print_result(rows: Any, output_format: str, shown: Sequence[str] | None = None, digits: int = 3) -> None:
    """Print a result. CSV and JSON have all of a data frame; a terminal the columns `shown`, in three digits."""
    import polars as pl

    if output_format == "table":
        rows = (rows if shown is None else rows.select(shown)).with_columns(pl.col(pl.Float64).round_sig_figs(digits))
    print_rows(rows, output_format, keep=ASKED_FOR)


def say_result(result: Kept) -> None:
    """Say its `warnings`, if any. What could not be kept is reported at the end of every command (AnalyzeGroup)."""
    for warning in getattr(result, "warnings", ()):
        say(warning)
