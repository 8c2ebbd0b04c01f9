"""Null distributions, drawn from what `analyze permute` kept, never from new fits."""

from __future__ import annotations

import polars as pl

from slant.analysis.plots.kinds.of_blocks import compared_blocks
from slant.analysis.plots.kinds.records import FigureData, FigureKind
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.open import read_view, stored_views
from slant.collector.keep.database import reading


def _permutations(data: FigureData) -> pl.DataFrame | None:
    """The last test of each engine. glmer's ΔP is shown averaged over items: at the population level it is little worth
    where its random effects grow large. A model with random slopes has no such average, and is shown as it is.
    """
    with reading(data.db) as connection:
        if not {"permutation_tests", "permutation_values"} <= set(stored_views(connection)):
            return None
        tests = read_view(connection, "permutation_tests").filter(pl.col("study") == data.study.name)
        values = read_view(connection, "permutation_values")
    last = tests.group_by(*GRAIN, "engine").agg(pl.col("permutation_id").sort_by("finished_at").last())
    rows = values.join(last.select("permutation_id"), on="permutation_id", how="semi", maintain_order="left")
    has_items = pl.col("delta_p_items").is_not_null().any().over("permutation_id")
    is_averaged = (pl.col("engine") == "lme4") & has_items
    shown = rows.drop_nulls("model").select(
        *GRAIN,
        "number",
        "model",
        "model_label",
        "model_no",
        "domain",
        "domain_label",
        "domain_no",
        delta_p=pl.when(is_averaged).then("delta_p_items").otherwise("delta_p"),
        kind=pl.when(is_averaged).then(pl.lit("item_averaged")).otherwise(pl.lit("population")),
        part="engine",
    )
    return None if shown.is_empty() else compared_blocks(shown, data)


KINDS = {
    "permutations": FigureKind(
        "The observed difference between blocks beside those of arbitrary labels (after analyze permute).",
        _permutations, "analyze permute --study {study}",
    ),
}  # fmt: skip
