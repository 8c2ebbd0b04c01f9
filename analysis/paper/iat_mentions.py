"""Table S11: answers whose reasoning names the IAT, by test and condition, and in all tests together."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from slant.analysis.paper.family import ALL_TESTS, GRAIN, Row, absent_in_words, long, read_printed
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study


def printed(study: Study) -> Iterator[Row]:
    for row in read_printed(study, "s11_iat_mentions.csv"):
        yield ("S11", row["model"], row["test"], True, row["condition"], "mentions", str(row["mentions"]))


def recomputed(results: Results) -> pl.DataFrame:
    """A total is of the tests that are here, and says which are not. Unreadable reasoning has no rows."""
    readable = results.table("iat_mentions").drop_nulls("n_mentions")
    counted = readable.with_columns(pl.lit("S11").alias("table"), refusals_removed=True, mentions="n_mentions")
    rows = [*GRAIN, "table", "model", "condition", "refusals_removed"]
    totals = counted.group_by(rows, maintain_order=True).agg(pl.col("mentions").sum(), pl.col("test").alias("tests"))
    all_tests = [test.test for test in results.study.tests]
    missing = [
        absent_in_words([(model, test) for test in all_tests if test not in tests], len(all_tests))
        for model, tests in totals.select("model", "tests").iter_rows()
    ]
    totals = totals.with_columns(pl.Series("missing", missing, dtype=pl.String), test=pl.lit(ALL_TESTS))
    return pl.concat([long(counted, ["mentions"]), long(totals, ["mentions"])])
