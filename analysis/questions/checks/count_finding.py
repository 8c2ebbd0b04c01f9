"""The finding about Bayesian models of token counts: what they predict amiss, and whether another family is better.
They take minutes, so that a check reads those that are kept and makes none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.questions.checks import sentences
from slant.analysis.questions.checks.sentences import Context, Verdict, count_of, number, percent, spread
from slant.analysis.questions.checks.trials import CELL
from slant.analysis.rows.views import rows_if_kept, view_rows
from slant.collector.studies.catalogue import Study
from slant.collector.terminal import count_text

_PROBABLY = 0.95
_CLEARLY = 2  # standard errors of a difference
_EFFECT = (
    "family", "ratio", "ratio_low", "ratio_high", "p_above", "p_within_bound", "bound", "prior", "median_reference",
    "median_other", "step", "zeros_reference", "zeros_reference_predicted", "zeros_other", "zeros_other_predicted",
    "elpd_difference", "se_difference", "nats", "n_bad_pareto_k", "is_converged",
)  # fmt: skip


def kept_count_models(db: str | Path, study: Study, source: str | None) -> pl.DataFrame:
    """Return the last Bayesian model of each family in each cell: its effect, how it compares, and, of what is compared
    by condition, how much the model predicts amiss (`n_outside` of `n_compared`; of zeros alone `n_zeros_outside`).
    """
    ratios = rows_if_kept(db, "bayes_ratios", study=study.name, source=source)
    if ratios.is_empty():
        return pl.DataFrame()
    compared = view_rows(db, "bayes_checks").drop_nulls("condition")
    is_outside = ~pl.col("observed").is_between("conf_low", "conf_high")
    amiss = compared.group_by("call_id").agg(
        n_compared=pl.len(), n_outside=is_outside.sum(),
        n_zeros_outside=(is_outside & (pl.col("statistic") == "zeros")).sum(),
    )  # fmt: skip
    last = ratios.unique([*CELL, "family"], keep="last", maintain_order=True)
    compared = last.join(amiss, on="call_id", how="left", maintain_order="left")
    return compared.select(*CELL, *_EFFECT, "n_compared", "n_outside", "n_zeros_outside")


def count_models(rows: sentences.CheckRows, context: Context) -> Verdict:
    """Return the lognormal of each cell, and the families that were fitted next to it."""
    models = rows["counts"]
    lognormal, others = models.filter(family="lognormal"), models.filter(pl.col("family") != "lognormal")
    shown = lognormal if lognormal.height else others
    zeros = shown.filter(pl.col("n_zeros_outside") > 0)
    unsure = shown.filter(~pl.col("is_converged"))
    better = others.filter(pl.col("elpd_difference") > _CLEARLY * pl.col("se_difference"))
    worse = others.filter(pl.col("elpd_difference") < -_CLEARLY * pl.col("se_difference"))
    name = str(shown["family"][0]).replace("_", " ")
    details = [
        f"Ratio of medians, {context.other} to {context.reference}: {spread(shown['ratio'])}; the 95 % interval "
        f"excludes 1 in {_count(shown.filter((pl.col('ratio_low') > 1) | (pl.col('ratio_high') < 1)), shown)}.",
        *_small_effects(shown, context),
        f"Of shares and quantiles by condition {shown['n_outside'].sum()} of {shown['n_compared'].sum()} lie "
        "outside the models' 95 % prediction intervals.",
        *(_zeros(row, context) for row in zeros.to_dicts()),
        *(_compared(row, context) for row in better.to_dicts()),
    ]
    if others.height:
        details.append(
            f"Clearly worse than the lognormal in leave-one-out (by more than {_CLEARLY} standard errors): "
            f"{count_of(worse.height, others.height, 'model')} of another family."
        )
    if unsure.height:
        details.append(f"Caution, chains: {context.cells(unsure)}; the table bayes_diagnostics says why.")
    if n_bad := int(shown["n_bad_pareto_k"].sum()):
        details.append(f"Leave-one-out is unreliable for {count_text(n_bad, 'answer')} (Pareto k above 0.7).")
    is_doubtful = zeros.height or better.height or unsure.height
    return Verdict(
        "caution" if is_doubtful else "not found",
        f"The proportion of zeros is as a {name} predicts it in {_count(shown.filter(n_zeros_outside=0), shown)}; "
        f"another family is clearly better in {count_of(better.height, others.height, 'comparison')}.",
        tuple(details),
    )


def _small_effects(shown: pl.DataFrame, context: Context) -> Iterator[str]:
    """Return the probability that effects are too small to matter, and its prior."""
    known = shown.drop_nulls("p_within_bound")
    if known.is_empty():
        return
    likely = known.filter(pl.col("p_within_bound") > _PROBABLY)
    yield (
        f"Probability that the effect is smaller than |d| = {known['bound'][0]:g} (of log counts; prior of the effect: "
        f"{', '.join(known['prior'].unique(maintain_order=True))}): {spread(known['p_within_bound'])}; above "
        f"{_PROBABLY:g} in {_count(likely, known)}{sentences.which_cells(likely, context)}."
    )


def _count(part: pl.DataFrame, whole: pl.DataFrame) -> str:
    return count_of(part.height, whole.height, "cell")


def _zeros(row: dict[str, Any], context: Context) -> str:
    pairs = (
        f"{percent(row[f'zeros_{side}'])} observed in {label}, {percent(row[f'zeros_{side}_predicted'])} predicted"
        for side, label in (("reference", context.reference), ("other", context.other))
    )
    return f"Zeros not as predicted, {context.cell(row)}: {'; '.join(pairs)}."


def _compared(row: dict[str, Any], context: Context) -> str:
    name = str(row["family"]).replace("_", " ")
    return (
        f"Better than the lognormal: {name} for {context.cell(row)}, by {number(row['elpd_difference'], 1)} in "
        f"log probability (standard error {number(row['se_difference'], 1)})."
    )
