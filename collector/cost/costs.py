"""What has been spent, as `collect status` shows it beside the progress of each model."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of


def cost_notes(rows: pl.DataFrame) -> list[str]:
    """Sentences about answers whose cost is not known though others of the same model are priced; `rows` as of
    `progress()`."""
    models = rows.group_by("source", "study", "study_version", "variant", "model", maintain_order=True)
    sums = models.agg(pl.col("n_unpriced").sum(), pl.col("cost_usd").count().alias("n_known"))
    partly = sums.filter(pl.col("n_known") > 0, pl.col("n_unpriced") > 0)
    return [
        f"{n:,} answers of {model} have no known cost: cost_usd lacks them."
        for model, n in partly.select("model", "n_unpriced").iter_rows()
    ]


def changed_models(db: Path) -> list[str]:
    """Sentences about models that changed in mid-run: which ones answered, how many trials, from when."""
    with reading(db) as connection, contextlib.suppress(duckdb.CatalogException):
        rows = frame_of(connection.sql("FROM served_model_changes"))
        groups = rows.group_by("run_id", "model", maintain_order=True)
        return [_change(run_id, model, list(group.iter_rows(named=True))) for (run_id, model), group in groups]
    return []


def _change(run_id: Any, model: Any, rows: list[dict[str, Any]]) -> str:
    parts = [
        f"{row['served_model']} answered {row['n_trials']:,} trials from {row['first_done_at']:%Y-%m-%d %H:%M:%S} "
        f"to {row['last_done_at']:%Y-%m-%d %H:%M:%S} UTC"
        for row in rows
    ]
    return f"the model behind {model} changed during run {run_id}: {'; '.join(parts)} (view served_model_changes)."
