"""Table S3: Cohen's d with its 95 % interval, refusals removed and kept."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from slant.analysis.fitting.fits import Asked
from slant.analysis.paper.family import Needs, Row, long, read_printed
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study

NO_REFUSALS = "(-)"  # printed where a cell has no refusals that could be kept


def printed(study: Study, file: str = "s3_effect_sizes.csv", table: str = "S3") -> Iterator[Row]:
    for row in read_printed(study, file):
        cell = (table, row["model"], row["test"], row["refusals_removed"] == "true", None)
        if row["d"] is None:
            yield (*cell, "refusals", NO_REFUSALS)
        else:
            yield from ((*cell, quantity, str(row[quantity])) for quantity in ("d", "ci_low", "ci_high"))


def needs(_: Results) -> Needs:
    return ["refusal_counts"], [Asked("effect_size", True), Asked("effect_size", False)]


def recomputed(results: Results, table: str = "S3") -> pl.DataFrame:
    """Beside d and its interval the count of refusals, for the cells that print "(-)"."""
    named = pl.lit(table).alias("table")
    refusals = results.table("refusal_counts").with_columns(named, refusals_removed=False, refusals="n_refusals")
    parts = [long(refusals, ["refusals"])]
    for refusals_removed in (True, False):
        found = results.fitted("effect_size", refusals_removed).table
        sizes = found.with_columns(named, d="estimate", ci_low="conf_low", ci_high="conf_high")
        parts.append(long(sizes, ["d", "ci_low", "ci_high"]))
    return pl.concat(parts)
