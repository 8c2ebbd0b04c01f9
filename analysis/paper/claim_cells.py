"""What the claims of the text are computed from: one wide row a model and test."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from slant.analysis.fitting.fits import Asked
from slant.analysis.paper.family import GRAIN
from slant.analysis.paper.mixed_models import condition_terms
from slant.analysis.paper.results import Results

REFUSAL_LENGTH = Asked("refusal_length", refusals_removed=False)
_CELL = [*GRAIN, "model", "test"]
_MODEL = [*GRAIN, "model"]


def cells(results: Results, models: Sequence[str]) -> pl.DataFrame:
    """The cells of these models, the paper's own: another one, such as its pilot, is in no claim.

    Beside the columns of cell_totals: b and p (mixed model), d_removed and d_kept, welch_t, welch_df and welch_p (of
    the model, the same in each of its tests), the mentions of the IAT, the step of the model's counts, and `needs_more`
    (significantly more tokens when incompatible) with the number of models for which that holds in this test.
    """
    frame = _totals(results).filter(pl.col("model").is_in(list(models)))
    for part in (
        _mentions(results),
        _mixed_models(results),
        _effect_sizes(results, True),
        _effect_sizes(results, False),
    ):
        frame = frame.join(part, on=_CELL, how="left", maintain_order="left")
    for part in (_steps(results), _refusal_lengths(results)):
        frame = frame.join(part, on=_MODEL, how="left", maintain_order="left")
    frame = frame.with_columns(needs_more=(pl.col("b") > 0) & (pl.col("p") < 0.05))
    return frame.with_columns(n_models_that_need_more=pl.col("needs_more").sum().over(*GRAIN, "test"))


def _totals(results: Results) -> pl.DataFrame:
    """cell_totals, both conditions of a cell in one row: n_refusals_compatible …"""
    apart = ("n_refusals", "n_tokens", "tokens")
    here = [
        pl.col(name).filter(pl.col("condition") == condition).sum().alias(f"{name}_{condition}")
        for name in apart
        for condition in ("compatible", "incompatible")
    ]
    both = [pl.col("n_trials", "n_refusals", "n_answers").sum(), pl.col("n_wordings", "max_tokens").max()]
    return results.table("cell_totals").group_by(_CELL, maintain_order=True).agg(*both, *here)


def _mentions(results: Results) -> pl.DataFrame:
    wide = results.table("iat_mentions").pivot("condition", index=_CELL, values="n_mentions")
    named = wide.rename({c: f"n_mentions_{c}" for c in wide.columns if c not in _CELL})
    empty = pl.lit(None, pl.Int64)
    absent = [c for c in ("n_mentions_compatible", "n_mentions_incompatible") if c not in named.columns]
    return named.with_columns(empty.alias(name) for name in absent)


def _mixed_models(results: Results) -> pl.DataFrame:
    return condition_terms(results.fitted("lme4")).select(*_CELL, b="estimate", p="p_value")


def _effect_sizes(results: Results, refusals_removed: bool) -> pl.DataFrame:
    name = "d_removed" if refusals_removed else "d_kept"
    return results.fitted("effect_size", refusals_removed).table.select(*_CELL, pl.col("estimate").alias(name))


def _steps(results: Results) -> pl.DataFrame:
    return results.table("token_sources").group_by(_MODEL).agg(pl.col("step").min())


def _refusal_lengths(results: Results) -> pl.DataFrame:
    """Refusals against all other answers of the model. A model with fewer than two refusals has none of it."""
    names = {"welch_t": "statistic", "welch_df": "df", "welch_p": "p_value"}
    if not results.defines(REFUSAL_LENGTH.fit):
        return pl.DataFrame(schema={**dict.fromkeys(_MODEL, pl.String), **dict.fromkeys(names, pl.Float64)})
    return results.fitted(REFUSAL_LENGTH.fit, REFUSAL_LENGTH.refusals_removed).table.select(*_MODEL, **names)
