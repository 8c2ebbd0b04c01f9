"""Table S4: refusals by test and model."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from slant.analysis.paper.family import Row, long, read_printed
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study


def printed(study: Study) -> Iterator[Row]:
    for row in read_printed(study, "s4_refusals.csv"):
        yield ("S4", row["model"], row["test"], None, None, "refusals", str(row["refusals"]))


def recomputed(results: Results) -> pl.DataFrame:
    counted = results.table("refusal_counts")
    return long(counted.with_columns(pl.lit("S4").alias("table"), refusals="n_refusals"), ["refusals"])
