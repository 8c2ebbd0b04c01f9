"""What a number of the whole study lacks, where not all of its models and domains are here whole."""

from __future__ import annotations

import polars as pl

from slant.analysis.paper.family import GRAIN, absent_in_words
from slant.analysis.paper.results import Results


def beside_absent(rows: pl.DataFrame, results: Results) -> pl.DataFrame:
    """Recomputed rows, each of a model of all the answers, with what of these is not here in `missing`."""
    study = results.study
    wanted = {(model.model, test.test) for model in study.models if model.asked_by_default for test in study.tests}
    cells = results.table("compliance_by_block").select(*GRAIN, "model", "domain").unique(maintain_order=True)
    partial = results.partial_cells.group_by(GRAIN).agg(pl.col("shortfall").str.join("; "))
    shortfalls = {tuple(row[:-1]): row[-1] for row in partial.select(*GRAIN, "shortfall").iter_rows()}
    said = []
    for grain, its in cells.group_by(GRAIN, maintain_order=True):
        absent = sorted(wanted - set(its.select("model", "domain").iter_rows()))
        words = [absent_in_words(absent, len(study.tests)), shortfalls.get(grain)]
        said.append((*grain, "; ".join(filter(None, words)) or None))
    schema = {**dict.fromkeys(GRAIN, pl.String), "lacks": pl.String}
    lacks = pl.DataFrame(said, schema=schema, orient="row")
    joined = rows.join(lacks, on=GRAIN, how="left", maintain_order="left")
    return joined.with_columns(missing=pl.coalesce("missing", "lacks")).select(rows.columns)
