"""Show Bayesian models of token counts in a report: the effect of each cell as a ratio of medians next to the study's
own number, what is predicted of zeros, and how other families do. Only kept models are shown; a report makes none.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from slant.analysis.pages.parts.records import CaptionedTable, Group, SectionData
from slant.analysis.pages.report_tables import text_table
from slant.analysis.rows.cells import GRAIN

_CELL = ["model", "test"]
_TEXT = (
    "A count is taken for a number between it and the next step of the model's counts, a count of 0 for anything below "
    "a step. Words and wordings vary, in level and in effect. Intervals are 95 % credible intervals."
)
_LOO = (
    "Expected log probability of a count that is left out, minus that of the lognormal: below 0 a family is worse. It "
    "is on the scale of counts, so that families and steps compare."
)


def ratios(section: SectionData) -> Group | None:
    """Return the group, None without kept models."""
    rows = section.own("bayes_ratios")
    if rows.is_empty():
        return None
    last = rows.unique([*GRAIN, *_CELL, "family"], keep="last", maintain_order=True)
    effects = last.filter(family="lognormal")
    tables = []
    if effects.height:
        caption = "How many times as many tokens, next to the study's own estimate"
        table = text_table(_effects(effects, _own_estimates(section)))
        tables.append(CaptionedTable(caption, table, is_open=True))
    others = last.filter(pl.col("family") != "lognormal")
    if others.height:
        tables.append(CaptionedTable("Other families of the same counts", text_table(_families(others))))
    doubts = sorted({f"{row['model_label']}, {row['test_label']}: {row['verdict']}" for row in _doubtful(last)})
    texts = (_TEXT, *((_LOO,) if others.height else ()), *doubts)
    return Group("counts", "Bayesian models of token counts", texts, tuple(tables))


def _own_estimates(section: SectionData) -> pl.DataFrame:
    """Return the effect in the study's own mixed model if the report has fitted it; else no rows."""
    rows = section.own("effects_over_words")
    schema = {"model": pl.String, "test": pl.String, "reference_estimate": pl.Float64, "reference_p": pl.Float64}
    return rows.select(*schema).unique(_CELL, keep="first") if rows.height else pl.DataFrame(schema=schema)


def _effects(rows: pl.DataFrame, own: pl.DataFrame) -> pl.DataFrame:
    compared = rows.join(own, on=_CELL, how="left", maintain_order="left")
    named = compared.select(
        pl.col("model_label").alias("model"),
        pl.col("test_label").alias("test"),
        pl.col("reference_estimate").round(1).alias("own model (tokens)"),
        pl.col("reference_p").round_sig_figs(3).alias("p"),
        pl.col("ratio").round(2).alias("ratio of medians"),
        pl.format("{} to {}", pl.col("ratio_low").round(2), pl.col("ratio_high").round(2)).alias("95 %"),
        pl.col("p_above").round(3).alias("P(above 1)"),
        pl.col("step").alias("counts in steps of"),
        *(_zeros(side) for side in ("reference", "other")),
        (~pl.col("is_converged")).alias("doubtful"),
    )
    return named.drop(name for name in ("own model (tokens)", "p") if own.is_empty())


def _zeros(side: str) -> pl.Expr:
    of_side = (100 * pl.col(f"zeros_{side}")).round(1), (100 * pl.col(f"zeros_{side}_predicted")).round(1)
    return pl.format("{} ({})", *of_side).alias(f"zeros, {side} % (predicted)")


def _families(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select(
        pl.col("model_label").alias("model"),
        pl.col("test_label").alias("test"),
        pl.col("family").str.replace_all("_", " "),
        pl.col("elpd_difference").round(1).alias("to the lognormal"),
        pl.col("se_difference").round(1).alias("its standard error"),
        pl.col("nats").round(3).alias("nats a trial"),
        pl.col("ratio").round(2).alias("ratio of medians"),
        pl.col("n_bad_pareto_k").alias("Pareto k above 0.7"),
        (~pl.col("is_converged")).alias("doubtful"),
    )


def _doubtful(rows: pl.DataFrame) -> list[dict[str, Any]]:
    return rows.filter(~pl.col("is_converged")).to_dicts()
