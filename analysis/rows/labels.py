"""Add labels of models, tests and conditions, and their places in the study: columns that a view may lack."""

from __future__ import annotations

import duckdb
import polars as pl

from slant.analysis.rows.views import read_view

_NAMED = ("model", "test", "condition")


def with_labels(rows: pl.DataFrame, connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Return rows with labels and numbers of model, test and condition. Rows have these three, study and study_version;
    the label (`model_label` …) and the number (`model_no` …) are added if the column is missing. What a study does not
    name is its own label.
    """
    for name in _NAMED:
        if f"{name}_label" in rows.columns:
            continue
        known = read_view(connection, f"{name}s").rename({"label": f"{name}_label"})
        known = known.select("study", "study_version", name, f"{name}_label", f"{name}_no")
        rows = rows.join(known, on=["study", "study_version", name], how="left", maintain_order="left")
        rows = rows.with_columns(pl.coalesce(f"{name}_label", name).alias(f"{name}_label"))
    return rows
