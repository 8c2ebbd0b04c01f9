"""Choose which kept models of choice in games are shown: sampling takes minutes, so no page starts it."""

from __future__ import annotations

import polars as pl

from slant.analysis.rows.cells import GRAIN


def newest_fits(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the last fit of each cell, in their order, without `fitted_at`; `rows` are of a view that has
    it.
    """
    cell = [*GRAIN, "model", "fit"]
    last = rows.group_by(cell).agg(pl.col("call_id").sort_by("fitted_at", "call_id").last())
    newest = rows.join(last, on=[*cell, "call_id"], how="semi", nulls_equal=True, maintain_order="left")
    return newest.drop("fitted_at")
