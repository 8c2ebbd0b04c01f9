"""Findings about the answers themselves: their skew, their limits, the order of the options, refusals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.questions.checks import sentences
from slant.analysis.questions.checks.sentences import CheckRows, Context, Finding, Verdict, count_of, number, percent
from slant.analysis.rows.cells import MORE_THAN_CHANCE
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.view_heads import ordered_view
from slant.collector.provenance.bibtex import address_rows, address_sentences
from slant.collector.terminal import count_text

_FLOOR = 0.01


def repetitions(rows: CheckRows, context: Context) -> Verdict:
    """Return the number of combinations of word, wording and condition with the same answer every time."""
    results = rows["repetitions"]
    repeated = results.filter(pl.col("n_repeated") > 0)
    if repeated.is_empty():
        return Verdict("note", f"No answer of {int(results['n'].sum()):,} was collected more than once.")
    n, same = int(repeated["n_repeated"].sum()), int(repeated["n_identical"].sum())
    is_often = pl.col("share_identical") > pl.col("share_by_chance") + MORE_THAN_CHANCE
    often = repeated.filter(is_often)
    details = [
        f"{context.models.get(str(model), str(model))}, {_temperature(temperature)}: {_same_answers(part)}"
        for (model, temperature), part in repeated.group_by("model", "temperature", maintain_order=True)
    ]
    if often.height:
        details.append(
            "The study's own model counts each repetition as an answer: if they are the same, its standard errors and "
            "p are too small. The fit over words and wordings has a component that repetitions share."
        )
    return Verdict(
        "caution" if often.height else "not found",
        f"Of {n:,} words in a wording and condition that were repeated, {same:,} ({percent(same / n)}) got "
        "the same answer every time.",
        tuple(details),
    )


def _same_answers(part: pl.DataFrame) -> str:
    """Say how often one model at one temperature gave the same answer, next to chance."""
    n, same = float(part["n_repeated"].sum()), float(part["n_identical"].sum())
    by_chance = float((part["share_by_chance"] * part["n_repeated"]).sum())
    return f"{same:,.0f} of {n:,.0f} ({percent(same / n)}; by chance {percent(by_chance / n)})."


def _temperature(value: object) -> str:
    return (
        f"temperature {value:g}"
        if isinstance(value, float)
        else "the provider's default temperature, or an unknown one"
    )


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
        f"How an answer ended is known for {n_known:,} of {n:,}" + ("." if n_known else ", as usual in imports.")
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
        sentence += f" ({count_text(top['n_at_largest'], 'answer')}), the limit is unknown"
    if at_zero := _at_zero(part):
        share = percent(at_zero / int(part["n"].sum()))
        sentence += f"; {at_zero:,} ({share}) have no reasoning token, so that nothing lower can show"
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
        details.append("There the order changes with the condition (Cramér's V = 1): their effects can't be separated.")
        if context.has_balanced:
            details.append("The study's variant balanced crosses the two: collect --variant balanced")
    if separable.height:
        affected = separable.filter(pl.col("p_order") < context.alpha)
        details.append(
            f"Where they vary independently, the order has an effect (p < {context.alpha:g}) in "
            f"{count_of(affected.height, separable.height, 'cell')}; tokens, by order: "
            f"{sentences.spread(separable['estimate_order'], 1)}."
        )
    return Verdict(
        "caution" if confounded.height else "not found",
        f"The order of the options reveals the condition in {count_of(confounded.height, results.height, 'cell')}"
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
        f"Refused trials could have changed the sign of {count_of(uncertain.height, with_refusals.height, 'effect')} "
        "with refusals.",
        tuple(details),
    )


RETEST = "retest"
_RETEST_QUESTION = "Is it the same on another day?"
_RETEST_COLUMNS = (
    "occasion", "measure", "n_answers", "share_equal", "kappa", "n", "icc", "icc_low", "icc_high", "icc_residual",
    "shift", "shift_low", "shift_high", "p_value",
)  # fmt: skip


def retest_finding(rows: pl.DataFrame, labels: Mapping[str, str], alpha: float) -> Finding:
    """Say of one source, study version and variant whether the mean of each model and occasion has moved, by Holm's
    correction for all of them."""
    together = rows.filter(pl.col("test").is_null()).to_dicts()
    tested = sorted((row for row in together if row["p_value"] is not None), key=lambda row: row["p_value"])
    has_moved = [row["p_value"] < alpha / (len(tested) - place) for place, row in enumerate(tested)]
    moved = tested[: [*has_moved, False].index(False)]
    occasions = rows["occasion"].n_unique()
    verdict = f"The same trials were asked on {count_text(occasions, 'later occasion')}: " + (
        f"the mean shifted in {', '.join(_occasion_name(row, labels) for row in moved)}."
        if moved
        else f"no mean shifted by more than chance (p below {alpha:g}, corrected for all of them) on any of them."
    )
    details = tuple(_retest_sentence(row, labels) for row in together)
    return Finding(RETEST, _RETEST_QUESTION, "caution" if moved else "not found", verdict, details, _RETEST_COLUMNS)


def _occasion_name(row: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    measure = str(row["measure"]).replace("_", " ")
    return f"{labels.get(row['model'], row['model'])} (occasion {row['occasion']}, {measure})"


def _retest_sentence(row: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    agreed = f"{percent(row['share_equal'])} of {count_text(row['n_answers'], 'answer')} equal"
    if row["kappa"] is not None:
        agreed += f" (kappa {number(row['kappa'])})"
    if row["icc"] is None:
        return f"{_occasion_name(row, labels)}: {agreed}."
    interval = "" if row["shift_low"] is None else f" ({number(row['shift_low'])} to {number(row['shift_high'])})"
    residual = (
        ""
        if row["icc_residual"] is None
        else f", of trials within a test and condition {number(row['icc_residual'])} "
        f"({number(row['icc_residual_low'])} to {number(row['icc_residual_high'])})"
    )
    return (
        f"{_occasion_name(row, labels)}: {agreed}; intraclass correlation of all trials {number(row['icc'])} "
        f"({number(row['icc_low'])} to {number(row['icc_high'])}){residual}; "
        f"shift {number(row['shift'])}{interval}, p = {number(row['p_value'], 3)}."
    )


SERVERS, SERVED = "servers", "served_models"
_COLUMNS = {
    SERVERS: ("base_url", "n_trials", "fingerprints", "mean_output_tokens", "first_done_at", "last_done_at"),
    SERVED: ("requested_model", "served_model", "n_trials", "n_left_out", "first_done_at", "last_done_at"),
}


def served_rows(db: str | Path, study: str) -> dict[str, pl.DataFrame]:
    """Return the rows that are worth a finding by check; no entry if there are none."""
    with reading(db) as connection:
        served = frame_of(ordered_view(connection, "served_models")).filter(pl.col("served_model_differs"), study=study)
    rows = {SERVERS: address_rows(db, study), SERVED: served}
    return {name: frame for name, frame in rows.items() if not frame.is_empty()}


def findings_of_served_models(rows: Mapping[str, pl.DataFrame]) -> Iterator[Finding]:
    """Return the findings of one source, study version and variant."""
    if (servers := rows.get(SERVERS)) is not None and not servers.is_empty():
        n_models = count_text(servers["model"].n_unique(), "model")
        said = f"No: {n_models} had answers from more than one address, which may be different models."
        details = tuple(address_sentences(servers))
        yield Finding(SERVERS, "Did one server answer for each model?", "caution", said, details, _COLUMNS[SERVERS])
    if (served := rows.get(SERVED)) is not None and not served.is_empty():
        n, n_left_out = (int(served[name].sum()) for name in ("n_trials", "n_left_out"))
        said = f"No: {count_text(n, 'answer')} came from another model; {n_left_out:,} are excluded from all tables."
        details = tuple(
            f"{row['model']}: {count_text(row['n_trials'], 'answer')} of {row['served_model']} to requests for "
            f"{row['requested_model']}."
            for row in served.iter_rows(named=True)
        )
        yield Finding(SERVED, "Did the requested model answer?", "caution", said, details, _COLUMNS[SERVED])
