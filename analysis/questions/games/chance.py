"""What tables of games lack until `analyze indices` has been run, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl


def told_of_chance(tables: Mapping[str, pl.DataFrame], db: str | Path) -> Iterator[str]:
    """A sentence for each study whose indices stand without the level of chance, or with intervals of fewer games."""
    if "allocation_indices" in tables:
        whole = tables["allocation_indices"].filter(pl.col("si").is_not_null())
        for study, n in whole.filter(pl.col("random_si").is_null()).group_by("study").len().sort("study").iter_rows():
            yield (
                f"What chance alone gives has not been simulated yet for {n} cells of {study}, and stands empty: "
                f"analyze indices --study {study} --db {db}"
            )
    if "game_index_intervals" in tables:
        stale = tables["game_index_intervals"].filter(~pl.col("is_current"))
        for study in stale["study"].unique().sort():
            yield (
                f"Games of {study} came or ended since some of these intervals were computed (is_current is false): "
                f"analyze indices --study {study} --db {db}"
            )
