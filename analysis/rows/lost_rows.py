"""Count the rows that a fit leaves out, and whether one side of its comparison loses more than the other: then the rest
may differ for that reason alone, and the fit is doubtful.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from slant.collector.progress.lost_answers import MAX_LOST, Count, unequal_losses
from slant.collector.study.records import Fit


def warning_of_lost_rows(whole: pl.DataFrame, rows: pl.DataFrame, fit: Fit, dropped: Mapping[str, int]) -> str | None:
    """Return the sentence for a fit that leaves out more than a few per cent of rows, or unequally by its contrast;
    None if it does not. `whole`: all rows of its cell, `rows`: those that are fitted.
    """
    n_lost = whole.height - rows.height
    if not n_lost:
        return None
    differing = unequal_losses(list(_by_side(whole, rows, fit)))
    if differing is None and n_lost / whole.height <= MAX_LOST:
        return None
    reasons = ", ".join(f"{name} {n:,}" for name, n in dropped.items() if n)
    share = f"{n_lost:,} of {whole.height:,} rows ({n_lost / whole.height:.0%}) are left out ({reasons})"
    if differing is None:
        return f"{share}."
    return f"{share}, unequally: {differing}. What is compared may differ for that reason alone."


def _by_side(whole: pl.DataFrame, rows: pl.DataFrame, fit: Fit) -> Iterator[Count]:
    contrast = fit.contrast or next((name for name, levels in fit.levels.items() if len(levels) == 2), None)
    if contrast is None or contrast not in whole.columns:
        return
    for level in fit.levels.get(contrast, ()):
        is_level = pl.col(contrast).cast(pl.String) == str(level)
        n = whole.filter(is_level).height
        yield str(level), n - rows.filter(is_level).height, n
