"""Findings about the answers themselves: their skew, their limits, the order of the options, refusals."""

from __future__ import annotations

import polars as pl

from slant.analysis.questions.checks.sentences import (
    CheckRows,
    Context,
    Verdict,
    count_of,
    number,
    percent,
    spread,
)
from slant.analysis.rows.same_answers import MORE_THAN_CHANCE
from slant.collector.terminal import count_text

_FLOOR = 0.01


def repetitions(rows: CheckRows, context: Context) -> Verdict:
    """Return how many combinations of word, wording and condition got the same answer every time."""
    results = rows["repetitions"]
    repeated = results.filter(pl.col("n_repeated") > 0)
    if repeated.is_empty():
        return Verdict("note", f"No answer of {int(results['n'].sum()):,} was asked for more than once.")
    n, same = int(repeated["n_repeated"].sum()), int(repeated["n_identical"].sum())
    is_often = pl.col("share_identical") > pl.col("share_by_chance") + MORE_THAN_CHANCE
    often = repeated.filter(is_often)
    details = [
        f"{context.models.get(str(model), str(model))}, {_temperature(temperature)}: {_same_answers(part)}"
        for (model, temperature), part in repeated.group_by("model", "temperature", maintain_order=True)
    ]
    if often.height:
        details.append(
            "The study's own model counts each repetition as an answer: where they are the same, its standard errors "
            "and p are too small. The fit over words and wordings has a component for what repetitions share."
        )
    return Verdict(
        "caution" if often.height else "not found",
        f"Of {n:,} words in a wording and condition that were asked more than once, {same:,} ({percent(same / n)}) got "
        "the same answer every time.",
        tuple(details),
    )


def _same_answers(part: pl.DataFrame) -> str:
    """Say how often one model at one temperature gave the same answer, next to chance."""
    n, same = float(part["n_repeated"].sum()), float(part["n_identical"].sum())
    by_chance = float((part["share_by_chance"] * part["n_repeated"]).sum())
    return f"{same:,.0f} of {n:,.0f} ({percent(same / n)}; by chance {percent(by_chance / n)})."


def _temperature(value: object) -> str:
    return f"temperature {value:g}" if isinstance(value, float) else "the provider's own temperature, or an unknown one"


def token_limits(rows: CheckRows, context: Context) -> Verdict:
    results = rows["token_limits"]
    n, n_truncated, n_known = (int(results[name].sum()) for name in ("n", "n_truncated", "n_ended_known"))
    verdict = (
        f"{count_text(n_truncated, 'answer')} of {n:,} ({percent(n_truncated / n, 2)}) are known to be cut off."
        if n_truncated
        else f"No answer of {n:,} is known to be cut off."
    )
    if at_zero := _at_zero(results):
        verdict = f"{verdict[:-1]}; {at_zero:,} ({percent(at_zero / n)}) have no reasoning token at all."
    details = [
        f"How an answer ended is known for {n_known:,} of {n:,}" + ("." if n_known else ", as is usual for imports.")
    ]
    for (model,), part in results.group_by("model", maintain_order=True):
        details.append(f"{context.models.get(str(model), str(model))}: {_model_limits(part)}")
    return Verdict(_limits_standing(results, n_truncated, n_known), verdict, tuple(details))


def _at_zero(results: pl.DataFrame) -> int:
    return int(results.filter(pl.col("smallest") == 0)["n_at_smallest"].sum())


def _limits_standing(results: pl.DataFrame, n_truncated: int, n_known: int) -> str:
    at_floor = results.filter((pl.col("smallest") == 0) & (pl.col("n_at_smallest") > _FLOOR * pl.col("n")))
    if n_truncated or int(results["n_at_limit"].sum()) or at_floor.height:
        return "caution"
    return "not found" if n_known else "note"


def _model_limits(part: pl.DataFrame) -> str:
    """Describe one model: its largest count against what was allowed, a floor of 0, and the step of its counts."""
    top = part.sort("largest", descending=True).to_dicts()[0]
    limits = part["token_limit"].drop_nulls().unique().to_list()
    sentence = f"the largest count is {top['largest']:,.0f}"
    if len(limits) == 1:
        sentence += (
            f" of {limits[0]:,.0f} allowed, and {count_text(int(part['n_at_limit'].sum()), 'answer')} reach that"
        )
    else:
        sentence += f" ({count_text(top['n_at_largest'], 'answer')}), what was allowed is not known"
    if at_zero := _at_zero(part):
        share = percent(at_zero / int(part["n"].sum()))
        sentence += f"; {at_zero:,} ({share}) have no reasoning token, below which nothing can show"
    steps = part["step"].drop_nulls().unique().to_list()
    if steps and min(steps) > 1:
        sentence += f"; counts come in steps of {min(steps):,.0f}"
    return sentence + "."


def option_order(rows: CheckRows, context: Context) -> Verdict:
    results = rows["option_order"]
    confounded = results.filter("is_confounded")
    separable = results.filter(~pl.col("is_confounded")).drop_nulls("estimate_order")
    details = []
    if confounded.height:
        details += [
            "There the order changes with the condition (Cramér's V = 1): what the order does to a model can't be seen "
            "from what the condition does.",
        ]
        if context.has_balanced:
            details.append("The study's variant balanced crosses the two: collect --variant balanced")
    if separable.height:
        affected = separable.filter(pl.col("p_order") < context.alpha)
        details.append(
            f"Where they vary apart, the order has an effect (p < {context.alpha:g}) in "
            f"{count_of(affected.height, separable.height, 'cell')}; tokens, by order: "
            f"{spread(separable['estimate_order'], 1)}."
        )
    return Verdict(
        "caution" if confounded.height else "not found",
        f"The order of the options tells the condition in {count_of(confounded.height, results.height, 'cell')}"
        f"{' in which the order is known' if confounded.height else ''}.",
        tuple(details),
    )


def refusals(rows: CheckRows, context: Context) -> Verdict:
    results = rows["refusals"].with_columns(n_refused=pl.col("n_refused_reference") + pl.col("n_refused_other"))
    with_refusals = results.filter(pl.col("n_refused") > 0)
    if with_refusals.is_empty():
        return Verdict("not found", "No trial was refused.")
    uncertain = with_refusals.filter(~pl.col("is_sign_kept_by_missing"))
    total = int(results["n_refused"].sum()) + int(results["n_answered"].sum())
    details = [
        f"Refused: {int(with_refusals['n_refused'].sum()):,} of {total:,} trials, in {with_refusals.height} of "
        f"{results.height} cells."
    ]
    details += [
        f"{context.cell(row)}: {row['n_refused_reference']:,} and {row['n_refused_other']:,} refused "
        f"({context.reference}, {context.other}); d = {number(row['d'])} without them, "
        f"{number(row['d_as_counted'])} with the tokens they took, between "
        f"{number(row['d_lowest'])} and {number(row['d_highest'])} for any counts from the cell's smallest to "
        f"its largest; no effect is left if they lie {number(row['tipping_sd'], 1)} standard deviations against it."
        for row in uncertain.to_dicts()
    ]
    if uncertain.height:
        details.append("All of these are in standard deviations of the answered trials.")
    return Verdict(
        "caution" if uncertain.height else "not found",
        f"Refused trials could have made the sign of {count_of(uncertain.height, with_refusals.height, 'effect')} "
        "with refusals.",
        tuple(details),
    )
