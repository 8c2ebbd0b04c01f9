"""How a claim's quantity is had from the cells that it speaks of: one Polars expression a quantity.

A cell is one model in one test, with the columns that claims.py puts together. An expression sees the cells in the
claim's scope, and gives one number. Counts leave refusals out where the column says `answers`.
"""

from __future__ import annotations

import polars as pl


def _share_pct(part: str, whole: str) -> pl.Expr:
    return 100 * pl.col(part).sum() / pl.col(whole).sum()


def _mean(condition: str) -> pl.Expr:
    return pl.col(f"tokens_{condition}").sum() / pl.col(f"n_tokens_{condition}").sum()


def _n_tests(is_counted: pl.Expr) -> pl.Expr:
    return pl.col("test").filter(is_counted).n_unique()


_is_significant = pl.col("p") < 0.05
# Significantly more tokens when incompatible: in all models that the claim names, and in no other model of the paper.
_only_they_need_more = pl.col("needs_more").all().over("test") & (
    pl.col("n_models_that_need_more") == pl.len().over("test")
)

QUANTITIES: dict[str, pl.Expr] = {
    "n_models": pl.col("model").n_unique(),
    "n_tests": pl.col("test").n_unique(),
    "n_prompts": pl.col("n_wordings").max(),
    "api_calls": pl.col("n_trials").sum().over("model").min(),
    "tokens_multiple_of": pl.col("step").min(),
    "max_reasoning_tokens": pl.col("max_tokens").max(),
    "refusals_total": pl.col("n_refusals").sum(),
    "refusal_rate_pct": _share_pct("n_refusals", "n_trials"),
    "refusals_in_race_tests_pct": 100
    * pl.col("n_refusals").filter(pl.col("test").str.starts_with("race_")).sum()
    / pl.col("n_refusals").sum(),
    "refusals_compatible_pct": _share_pct("n_refusals_compatible", "n_refusals"),
    "refusals_incompatible_pct": _share_pct("n_refusals_incompatible", "n_refusals"),
    "b": pl.col("b").first(),
    "p": pl.col("p").first(),
    "min_b": pl.col("b").min(),
    "max_p": pl.col("p").max(),
    "n_tests_all_models_significant": _n_tests(_only_they_need_more),
    "n_tests_four_models_significant": _n_tests(_only_they_need_more),
    "d_refusals_removed": pl.col("d_removed").first(),
    "d_refusals_kept": pl.col("d_kept").first(),
    "min_significant_d": pl.col("d_removed").filter(_is_significant).min(),
    "max_significant_d": pl.col("d_removed").filter(_is_significant).max(),
    "n_significant_tests": _n_tests(_is_significant),
    "iat_mentions": pl.col("n_mentions_compatible").sum() + pl.col("n_mentions_incompatible").sum(),
    "iat_mentions_compatible": pl.col("n_mentions_compatible").sum(),
    "iat_mentions_incompatible": pl.col("n_mentions_incompatible").sum(),
    "iat_mention_pct": 100
    * (pl.col("n_mentions_compatible").sum() + pl.col("n_mentions_incompatible").sum())
    / pl.col("n_answers").sum(),
    "welch_t": pl.col("welch_t").first(),
    "welch_df": pl.col("welch_df").first(),
    "welch_p": pl.col("welch_p").first(),
    "extra_tokens_pct": 100 * (_mean("incompatible") / _mean("compatible") - 1),
}  # fmt: skip

OF_ANY_MODEL = ("n_tests", "n_prompts")
"""Quantities of the design: one model that shows a test is enough."""
OF_ANY_TEST = ("n_models",)
"""And here one test that shows a model."""
EXTREMES = ("min_b", "max_p")
"""The least or greatest of several models: a whole one that breaks a printed bound is enough to contradict it."""
