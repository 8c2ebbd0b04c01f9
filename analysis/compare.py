"""The printed numbers of the paper beside those recomputed from the database.

A number agrees where |recomputed - printed| is at most half a unit of the last printed digit. What the authors' own
data contradict is a known slip of print (collector/studies/rmiat/slips.csv); the code is never bent to meet one.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from analysis.fits import Progress, fit
from analysis.printed import KEY, NO_REFUSALS, half_unit, known_slips, printed_numbers
from analysis.tables import tables
from collector.errors import DatabaseError
from collector.study import BASE, Study, load_study

GRAIN = ["source", "study_version", "variant"]
STATUSES = ("agrees", "slip", "disagrees", "no data", "simulated")
_VALUE = [*GRAIN, *KEY, "recomputed"]


def compare(
    db: str | Path,
    study: str | Study = "rmiat",
    source: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """One row per printed number of Tables S3 to S10, for each source and version of the study in the database.

    Columns: source, study_version, variant, table, model, test, refusals_removed (null where the table has no such
    choice), condition, quantity, printed (text, as in print), recomputed (not rounded), agrees (null without data),
    slip (the reason, where it is a known one), status: agrees, slip, disagrees, "no data", or "simulated" (numbers of
    simulated rows, which only resemble the print). Fits that are missing or out of date are made first.

    In S3, "(-)" stands for a cell without refusals: its row has the quantity `refusals`, and agrees with 0.
    """
    its = load_study(study) if isinstance(study, str) else study
    printed, slips = printed_numbers(its), known_slips(its)
    recomputed = _recomputed(db, its, workers, progress)
    groups = recomputed.select(GRAIN).unique(maintain_order=True)
    if source is not None:
        groups = groups.filter(pl.col("source") == source)
    if groups.is_empty():
        raise DatabaseError(f'"{db}" holds no rows of "{its.name}" as it stands{f" from {source}" if source else ""}.')
    on = [*GRAIN, *KEY]
    beside = groups.join(printed, how="cross").join(
        recomputed, on=on, how="left", nulls_equal=True, maintain_order="left"
    )
    listed = beside.join(
        slips.select(*KEY, pl.col("reason").alias("slip")), on=KEY, how="left", nulls_equal=True, maintain_order="left"
    )
    return _judged(listed)


def summary(compared: pl.DataFrame) -> pl.DataFrame:
    """One row per source, study version, variant and table: how many numbers have each status."""
    counts = [(pl.col("status") == status).sum().alias(status.replace(" ", "_")) for status in STATUSES]
    keys = [*GRAIN, "table"]
    numbers = pl.len().alias("numbers")
    with_data = pl.col("agrees").is_not_null().sum().alias("with_data")
    return compared.group_by(keys, maintain_order=True).agg(numbers, with_data, *counts)


def _judged(rows: pl.DataFrame) -> pl.DataFrame:
    agrees = [
        None if value is None else value == 0 if text == NO_REFUSALS else _is_near(value, text)
        for value, text in rows.select("recomputed", "printed").iter_rows()
    ]
    rows = rows.with_columns(pl.Series("agrees", agrees, dtype=pl.Boolean))
    has_slip = pl.col("slip").is_not_null()
    is_simulated = pl.col("source") == "simulated"
    status = (
        pl.when(pl.col("agrees").is_null()).then(pl.lit("no data"))
        .when(is_simulated).then(pl.lit("simulated"))
        .when(pl.col("agrees")).then(pl.lit("agrees"))
        .when(has_slip).then(pl.lit("slip"))
        .otherwise(pl.lit("disagrees"))
    )  # fmt: skip
    slip = pl.when(is_simulated).then(None).otherwise(pl.col("slip")).alias("slip")
    return rows.with_columns(slip, status.alias("status")).select(*_VALUE[:-1], "printed", "recomputed", "agrees",
                                                                  "slip", "status")  # fmt: skip


def _is_near(value: float, printed: str) -> bool:
    return abs(value - float(printed)) <= half_unit(printed) + 1e-9


def _recomputed(db: str | Path, study: Study, workers: int | None, progress: Progress | None) -> pl.DataFrame:
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
    return pl.concat(parts).filter(pl.col("variant") == BASE)


def _mixed_models(db: str | Path, study: Study, workers: int | None, progress: Progress | None) -> pl.DataFrame:
    """Tables S6 to S10: a table for each model, nine numbers for each of its tests."""
    found = fit("lme4", db, study, workers=workers, progress=progress)
    table_of = dict(printed_numbers(study).filter(pl.col("table").is_in(["S6", "S7", "S8", "S9", "S10"])).select(
        "model", "table").unique().iter_rows())  # fmt: skip
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
    named = whole.with_columns(table=pl.col("model").replace_strict(table_of, default=None, return_dtype=pl.String))
    return _long(named.drop_nulls("table"), [c for c in whole.columns if c not in cell])


def _long(frame: pl.DataFrame, quantities: list[str]) -> pl.DataFrame:
    """Wide results as rows of KEY and `recomputed`."""
    if "condition" not in frame.columns:
        frame = frame.with_columns(condition=pl.lit(None, pl.String))
    index = [*GRAIN, *(name for name in KEY if name != "quantity")]
    long = frame.unpivot(quantities, index=index, variable_name="quantity", value_name="recomputed")
    return long.drop_nulls("recomputed").select(_VALUE)
