"""Repetitions that are the same answer again, in fits that count each of them: as in R/warn_of_pooling.R.

What R sees of a cell are the columns of its formula, which seldom hold both words and wordings; so this is found among
all columns of the view, and R says it of a caller's own data.
"""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

COMBINATION = ("item", "wording", "condition")
"""What makes two trials of a cell repetitions of each other, with their test and group."""
REPEATED_BY = (*COMBINATION, "model", "test", "group")
MORE_THAN_CHANCE = 0.2
"""So much more often the same than by chance, as a share, repetitions are hardly answers of their own."""
_COUNTS = "tokens"  # ratings and choices are the same again by nature


def may_repeat(used: Collection[str]) -> bool:
    """Whether a fit of these columns counts repetitions as answers: it is of counts, and its rows are not known by word
    and wording, as those of fits are that have a component or a cluster for either."""
    return _COUNTS in used and "reasoning_text" not in used and not set(COMBINATION[:2]) <= set(used)


def warning_of_same_answers(rows: pl.DataFrame, used: Collection[str]) -> str | None:
    """How many combinations got the same answer every time, where that is more than chance makes of it."""
    if not may_repeat(used) or not set(COMBINATION) <= set(rows.columns):
        return None
    complete = rows.drop_nulls(list(used))
    keys = [name for name in REPEATED_BY if name in rows.columns]
    combinations = complete.group_by(keys).agg(n=pl.len(), n_distinct=pl.col(_COUNTS).n_unique())
    repeated = combinations.filter(pl.col("n") > 1)
    if repeated.is_empty():
        return None
    same = repeated.filter(pl.col("n_distinct") == 1)
    if same.height / repeated.height <= _share_by_chance(complete[_COUNTS], repeated["n"]) + MORE_THAN_CHANCE:
        return None
    n_answers = complete.height - int((same["n"] - 1).sum())
    return (
        f"Of {repeated.height} words in a wording and condition that were asked again, {same.height} got the same "
        f"answer every time: {complete.height} rows hold {n_answers} answer{'s' if n_answers != 1 else ''}."
    )


def _share_by_chance(counts: pl.Series, n_asked: pl.Series) -> float:
    """How often all answers of a combination would be the same, were they drawn from those of the cell."""
    shares = counts.value_counts(normalize=True)["proportion"]
    of_sizes = n_asked.value_counts()
    total = sum(float((shares**n).sum()) * times for n, times in of_sizes.iter_rows())
    return float(total) / n_asked.len()
