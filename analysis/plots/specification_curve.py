"""The specification curve of one source, study version and variant, drawn by R's plot_specifications()."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from slant.analysis.plots.figures import draw
from slant.analysis.questions.sensitivity.curve_rows import rows_to_draw
from slant.analysis.rows.cells import GRAIN
from slant.collector.errors import RError, UsageError


def draw_specifications(table: pl.DataFrame, labels: pl.DataFrame, file: Path) -> str:
    """Draw into `file` (.svg or .png); returns its text alternative. UsageError for rows of several kinds."""
    ending = file.suffix.lower()[1:]
    if ending not in ("svg", "png"):
        raise UsageError(f'Can\'t draw into "{file}".', "The name of a figure ends in .svg or .png.")
    for name in GRAIN:
        values = table[name].unique(maintain_order=True).to_list()
        if len(values) > 1:
            raise UsageError(
                f"A figure shows one {name.replace('_', ' ')}, but here are {len(values)}: {', '.join(values)}.",
                "Narrow it down with --source, or see: analyze figures specifications",
            )
    (drawn,) = draw([("plot_specifications", rows_to_draw(table, labels))], 1, ending)
    if isinstance(drawn, str):
        raise RError("The specification curve could not be drawn.", drawn)
    try:
        file.write_bytes(drawn.image)
    except OSError as error:
        raise UsageError(f'Can\'t write the figure to "{file}": {error.strerror}.') from None
    return f"{file}: {drawn.alt_text}"
