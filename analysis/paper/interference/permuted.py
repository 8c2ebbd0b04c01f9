"""What the text says of permuted data, from the permutations that the database keeps. None are made here: they take
minutes, and `analyze permute` makes them.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from slant.analysis.paper.family import GRAIN, KEY, VALUE, Needs, Row, no_numbers
from slant.analysis.paper.interference import published
from slant.analysis.paper.interference.posteriors import STAGE_B
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study

QUANTITY = "permuted_delta_p"
_NONE = "No permutations are kept here: analyze permute --study {} makes them, which takes minutes."


def printed(study: Study) -> Iterator[Row]:
    return published.printed(study, (QUANTITY,))


def needs(_: Results) -> Needs:
    return ["permutation_tests", "compliance_by_block"], []


def recomputed(results: Results) -> pl.DataFrame:
    """The mean of the null distribution of a cell; of all cells ("near 0") the one farthest from 0."""
    kept = results.table("permutation_tests")
    is_paper = (pl.col("kind") == "population") & (pl.col("scale") == "delta_p") & (pl.col("engine") == "brms")
    latest = pl.col("finished_at") == pl.col("finished_at").max().over(GRAIN)
    found = kept.filter(is_paper & (pl.col("fit") == STAGE_B)).filter(latest)
    rows = []
    for grain in results.table("compliance_by_block").select(GRAIN).unique(maintain_order=True).iter_rows(named=True):
        means = found.join(pl.DataFrame([grain]), on=GRAIN, how="semi")
        for row in printed(results.study):
            key = dict(zip(KEY, row[:-1], strict=True))
            number = _farthest(means.filter(model=key["model"], domain=key["test"]) if key["model"] else means)
            why_not = _NONE.format(results.study.name) if number is None else None
            rows.append({**grain, **key, "recomputed": number, "missing": why_not})
    return pl.DataFrame(rows, schema=no_numbers().schema).select(VALUE) if rows else no_numbers()


def _farthest(means: pl.DataFrame) -> float | None:
    values = [float(value) for value in means["null_mean"].drop_nulls()]
    return max(values, key=abs, default=None)
