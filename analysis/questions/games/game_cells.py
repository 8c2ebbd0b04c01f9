"""The cells of games: a variant with its format of answers, and a model."""

from __future__ import annotations

import polars as pl

CELL = ["source", "study_version", "variant", "model"]


def with_game_variant(rows: pl.DataFrame, variants: tuple[str, ...]) -> pl.DataFrame:
    """`game_variant` is the variant without the format of answers that `--answer` put behind it (main.cot: main)."""
    if "game_variant" in rows.columns:
        return rows
    variant = pl.col("variant")
    stripped = variant.str.replace(r"\.[^.]*$", "")
    return rows.with_columns(game_variant=pl.when(variant.is_in(variants)).then(variant).otherwise(stripped))
