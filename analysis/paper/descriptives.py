"""Table S5: mean and standard deviation of tokens by condition, refusals removed."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from slant.analysis.paper.family import Row, long, read_printed
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study


def printed(study: Study, file: str = "s5_descriptives.csv", table: str = "S5") -> Iterator[Row]:
    for row in read_printed(study, file):
        for quantity in ("mean", "sd"):
            yield (table, row["model"], row["test"], True, row["condition"], quantity, str(row[quantity]))


def recomputed(results: Results, table: str = "S5") -> pl.DataFrame:
    tokens = results.table("tokens_by_condition")
    named = tokens.with_columns(pl.lit(table).alias("table"), refusals_removed=True, mean="mean_tokens", sd="sd_tokens")
    return long(named, ["mean", "sd"])
