"""The numbers of the paper's Tables S3 to S10, computed from the database: one row a number, for all models there.

Tokens and refusals come from SQL, effect sizes and mixed models from the fits.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from analysis.fits import Progress, fit
from analysis.printed import KEY, MIXED_MODEL_TABLES
from analysis.tables import tables
from collector.study import Study

GRAIN = ["source", "study_version", "variant"]
VALUE = [*GRAIN, *KEY, "recomputed"]
OTHER_MIXED = "mixed models"


def recomputed(
    db: str | Path, study: Study, workers: int | None = None, progress: Progress | None = None
) -> pl.DataFrame:
    """Every number that the paper's tables would have, of each model and variant: GRAIN, KEY and `recomputed`.

    Fits that are missing or out of date are made first. The table of a mixed model that the paper has none for is
    called OTHER_MIXED.
    """
    counted = tables(db, ["refusal_counts", "tokens_by_condition"], study=study.name)
    refusals = counted["refusal_counts"].with_columns(pl.col("n_refusals").cast(pl.Float64).alias("refusals"))
    tokens = counted["tokens_by_condition"].with_columns(
        pl.lit("S5").alias("table"), pl.lit(True).alias("refusals_removed"), mean="mean_tokens", sd="sd_tokens"
    )
    parts = [
        _long(refusals.with_columns(table=pl.lit("S4"), refusals_removed=pl.lit(None, pl.Boolean)), ["refusals"]),
        _long(refusals.with_columns(table=pl.lit("S3"), refusals_removed=pl.lit(False)), ["refusals"]),
        _long(tokens, ["mean", "sd"]),
        _mixed_models(db, study, workers, progress),
    ]
    for refusals_removed in (True, False):
        found = fit("effect_size", db, study, refusals_removed=refusals_removed, workers=workers, progress=progress)
        sizes = found.table.with_columns(table=pl.lit("S3"), d="estimate", ci_low="conf_low", ci_high="conf_high")
        parts.append(_long(sizes, ["d", "ci_low", "ci_high"]))
    return pl.concat(parts)


def _mixed_models(db: str | Path, study: Study, workers: int | None, progress: Progress | None) -> pl.DataFrame:
    """Tables S6 to S10: a table for each model of the paper, nine numbers for each of its tests."""
    found = fit("lme4", db, study, workers=workers, progress=progress)
    cell = [*GRAIN, "model", "test", "refusals_removed"]
    stars = sum((pl.col("p_value") < limit).cast(pl.Float64) for limit in (0.05, 0.01, 0.001))
    intercept = found.table.filter(pl.col("term") == "intercept").select(
        *cell, intercept_estimate="estimate", intercept_std_error="std_error"
    )
    condition = found.table.filter(pl.col("term").str.starts_with("condition")).select(
        *cell, condition_estimate="estimate", condition_std_error="std_error", condition_stars=stars
    )
    prompt = found.variances.filter(pl.col("group") == "wording").select(*cell, var_prompt="variance")
    residual = found.variances.filter(pl.col("group") == "residual").select(*cell, var_residual="variance")
    whole = found.diagnostics.select(*cell, n=pl.col("n").cast(pl.Float64), loglik="log_lik")
    for part in (intercept, condition, prompt, residual):
        whole = whole.join(part, on=cell, how="left", maintain_order="left")
    named = whole.with_columns(table=pl.col("model").replace_strict(MIXED_MODEL_TABLES, default=OTHER_MIXED))
    return _long(named, [c for c in whole.columns if c not in cell])


def _long(frame: pl.DataFrame, quantities: list[str]) -> pl.DataFrame:
    """Wide results as rows of KEY and `recomputed`."""
    if "condition" not in frame.columns:
        frame = frame.with_columns(condition=pl.lit(None, pl.String))
    index = [*GRAIN, *(name for name in KEY if name != "quantity")]
    long = frame.unpivot(quantities, index=index, variable_name="quantity", value_name="recomputed")
    return long.drop_nulls("recomputed").select(VALUE)
