"""Tables S6 to S10 and S12: a mixed model for each test, one table a model. S12's model is the pilot."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from slant.analysis.fitting.fits import Asked, FitResult
from slant.analysis.paper.family import GRAIN, Needs, Row, long, read_printed
from slant.analysis.paper.results import Results
from slant.collector.studies.catalogue import Study

TABLES = {
    "o3-mini": "S6", "deepseek-r1": "S7", "claude-3.7-sonnet": "S8", "gpt-oss-20b": "S9", "qwen3-8b": "S10",
    "deepseek-r1-pilot": "S12",
}  # fmt: skip
OTHER = "mixed models"
"""The table of a model that the paper has none for."""
_FILES = ("s6_s10_mixed_models.csv", "s12_pilot_mixed_models.csv")


def printed(study: Study) -> Iterator[Row]:
    for file in _FILES:
        for row in read_printed(study, file):
            yield from as_printed(row, TABLES.get(str(row["model"]), OTHER), refusals_removed=True)


def as_printed(row: dict[str, str | None], table: str, refusals_removed: bool) -> Iterator[Row]:
    term = str(row["term"])
    cell = (table, row["model"], row["test"], refusals_removed, None)
    if term not in ("intercept", "condition"):
        yield (*cell, term, str(row["estimate"]))
        return
    yield (*cell, f"{term}_estimate", str(row["estimate"]))
    yield (*cell, f"{term}_std_error", str(row["std_error"]))
    if term == "condition":  # the paper sets no stars on intercepts
        yield (*cell, "condition_stars", str(len(row["stars"] or "")))


def needs(_: Results) -> Needs:
    return [], [Asked("lme4")]


def recomputed(results: Results) -> pl.DataFrame:
    table = pl.col("model").replace_strict(TABLES, default=OTHER)
    return as_numbers(results.fitted("lme4"), table)


def as_numbers(found: FitResult, table: pl.Expr) -> pl.DataFrame:
    """Nine numbers for each fit, in the table that `table` names."""
    cell = [*GRAIN, "model", "test", "refusals_removed"]
    stars = sum((pl.col("p_value") < limit).cast(pl.Float64) for limit in (0.05, 0.01, 0.001))
    intercept = found.table.filter(pl.col("term") == "intercept").select(
        *cell, intercept_estimate="estimate", intercept_std_error="std_error"
    )
    condition = condition_terms(found).select(
        *cell, condition_estimate="estimate", condition_std_error="std_error", condition_stars=stars
    )
    prompt = found.variances.filter(pl.col("group") == "wording").select(*cell, var_prompt="variance")
    residual = found.variances.filter(pl.col("group") == "residual").select(*cell, var_residual="variance")
    whole = found.diagnostics.select(*cell, n=pl.col("n").cast(pl.Float64), loglik="log_lik")
    for part in (intercept, condition, prompt, residual):
        whole = whole.join(part, on=cell, how="left", maintain_order="left")
    return long(whole.with_columns(table=table), [c for c in whole.columns if c not in cell])


def condition_terms(found: FitResult) -> pl.DataFrame:
    """The estimates of the condition, one a fit."""
    return found.table.filter(pl.col("term").str.starts_with("condition"))
