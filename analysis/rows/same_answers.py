"""Detect repetitions that are the same answer again, in fits that count each of them: as in R/warn_of_pooling.R.

R sees only the columns of a cell's formula, which seldom have both words and wordings; so they are found among all
columns of the view, and R reports them only for a caller's own data.
"""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

COMBINATION = ("item", "wording", "condition")
"""List what makes two trials of a cell repetitions of each other, with their test and group."""
REPEATED_BY = (*COMBINATION, "model", "test", "group")
MORE_THAN_CHANCE = 0.2
"""Limit how much more often than by chance, as a share, repetitions may be the same and still be separate answers."""
_COUNTS = "tokens"  # ratings and choices are naturally often the same


def may_repeat(used: Collection[str]) -> bool:
    """Return whether a fit of these columns counts repetitions as answers: its outcome is counts, and it has no
    component or cluster for word or wording."""
    return _COUNTS in used and "reasoning_text" not in used and not set(COMBINATION[:2]) <= set(used)


def warning_of_same_answers(rows: pl.DataFrame, used: Collection[str]) -> str | None:
    """Say how many combinations got the same answer every time, if that is more than chance would give."""
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
    """Return how often all answers of a combination would be the same, if they were drawn from those of the cell."""
    shares = counts.value_counts(normalize=True)["proportion"]
    of_sizes = n_asked.value_counts()
    total = sum(float((shares**n).sum()) * times for n, times in of_sizes.iter_rows())
    return float(total) / n_asked.len()
