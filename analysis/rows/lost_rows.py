"""How many rows a fit leaves out, and whether one side of its comparison loses more than the other: then what is left
may differ for that reason alone, and the fit is doubtful.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from slant.collector.study.records import Fit

MOST_LEFT_OUT = 0.05
"""The share of rows that may be left out without a word."""
LEAST_DIFFERENCE = 0.02
"""The difference of shares between two sides that matters, if chance does not explain it (p < .01)."""
_Z = 2.576


def lost_rows(whole: pl.DataFrame, rows: pl.DataFrame, fit: Fit, dropped: Mapping[str, int]) -> str | None:
    """The sentence that a fit carries which leaves out more than a few per cent, or unequally by its contrast; None
    where it does not. `whole`: all rows of its cell, `rows`: those that are fitted."""
    n_lost = whole.height - rows.height
    if not n_lost or fit.outcome == "reasoning_text":
        return None
    reasons = ", ".join(f"{name} {n:,}" for name, n in dropped.items() if n)
    share = n_lost / whole.height
    by_side = _by_side(whole, rows, fit)
    if by_side is not None:
        return (
            f"{n_lost:,} of {whole.height:,} rows ({share:.0%}) are left out ({reasons}), unequally: {by_side}. What "
            "is compared may differ for that reason alone."
        )
    if share > MOST_LEFT_OUT:
        return f"{n_lost:,} of {whole.height:,} rows ({share:.0%}) are left out ({reasons})."
    return None


def _by_side(whole: pl.DataFrame, rows: pl.DataFrame, fit: Fit) -> str | None:
    contrast = fit.contrast or next((name for name, levels in fit.levels.items() if len(levels) == 2), None)
    if contrast is None or contrast not in whole.columns or len(fit.levels.get(contrast, ())) != 2:
        return None
    lost = []
    for level in fit.levels[contrast]:
        is_level = pl.col(contrast).cast(pl.String) == str(level)
        n = whole.filter(is_level).height
        lost.append((str(level), n - rows.filter(is_level).height, n))
    (_, lost_a, n_a), (_, lost_b, n_b) = lost
    if not n_a or not n_b:
        return None
    pooled = (lost_a + lost_b) / (n_a + n_b)
    difference = abs(lost_a / n_a - lost_b / n_b)
    error = math.sqrt(pooled * (1 - pooled) * (1 / n_a + 1 / n_b))
    if difference < LEAST_DIFFERENCE or difference <= _Z * error:
        return None
    return ", ".join(f"{n_lost:,} of {n:,} in {level}" for level, n_lost, n in lost)
