"""The controlled experiments on the indices themselves: R makes the games up and measures them."""

from __future__ import annotations

import polars as pl

from slant.analysis.calls.call import Call, answered


def controlled_rows() -> pl.DataFrame:
    """What R's controlled_indices() returns; it takes some seconds. RError where R is missing."""
    rows: pl.DataFrame = answered(Call("controlled_indices"))
    return rows
