"""What prompts and words have to do with an effect: what varies by them, and whether it holds for others than these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from slant.analysis.fitting.fits import FitResult
from slant.analysis.questions.checks import sentences
from slant.analysis.questions.checks.sentences import Context, Verdict, count_of, middle, number, percent, spread
from slant.analysis.questions.checks.trials import CELL, SIGN_KEPT
from slant.analysis.questions.meta import MIN_CELLS
from slant.collector.study.crossed_fits import CROSSED
from slant.collector.terminal import count_text


def variance_shares(rows: sentences.CheckRows, context: Context) -> Verdict:
    """Return the proportions of the variance that lie between prompts and between words."""
    results = rows["variance_shares"]
    shares = {str(group): part for (group,), part in results.group_by("group", maintain_order=True)}
    details = []
    for group, part in shares.items():
        if group != "residual":
            largest = part.sort("share", descending=True, nulls_last=True).to_dicts()[0]
            details.append(
                f"Percent by {_GROUPS.get(group, group)}: {spread(100 * part['share'], 1)} ({context.cell(largest)})."
            )
    shares_text = " and ".join(
        f"{_GROUPS.get(group, group)}s account for {percent(middle(part['share']))}"
        for group, part in shares.items()
        if group != "residual"
    )
    return Verdict(
        "note",
        f"Of the remaining variance, {shares_text} (in the middle model); the rest is between trials.",
        tuple(details),
    )


ALREADY_IN_MODEL = "already_in_model"
"""The verdict of R's fit_crossed() on a model that has the slopes of the crossed one itself."""
_ALPHA = 0.05
"""Of the verdicts of R's fit_crossed()."""
_GROUPS = {"wording": "prompt", "item": "word"}


def words(rows: sentences.CheckRows, context: Context) -> Verdict:
    """Return words that differ; then words and wordings in which the effect differs, which is what it takes to speak of
    others than these."""
    shift, crossed = rows["words"].drop_nulls("changes_conclusion"), rows["crossed"].drop_nulls("verdict")
    if crossed.is_empty():
        return Verdict("not checked", "No model could be refitted over words and wordings.")
    shifted, failed = shift.filter("changes_conclusion"), rows["crossed"].filter(pl.col("verdict").is_null())
    details = over_words_details(crossed, context)
    details.append(
        f"With words that differ, but not in the effect, (1 | item), conclusions change in "
        f"{count_of(shifted.height, shift.height, 'model')}{sentences.which_cells(shifted, context)}."
    )
    if failed.height:
        are = "is" if failed.height == 1 else "are"
        details.append(
            f"Could not be refitted over words and wordings, and {are} not counted: "
            f"{count_text(failed.height, 'model')}{sentences.which_cells(failed, context)}."
        )
    is_own = crossed.filter(pl.col("verdict") == ALREADY_IN_MODEL).height == crossed.height
    return Verdict(
        "note" if is_own else sentences.standing(_changed(crossed).height, failed.height),
        over_words_verdict(crossed),
        tuple(details),
    )


def crossed_rows(result: FitResult) -> pl.DataFrame:
    """Return a row per cell: the effect over words and wordings, with the variances of its slopes and their shares of
    its squared standard error. `result`: of the fit of that name."""
    of_group = {"words": pl.col("group").str.contains(r"(^|:)item$"), "wordings": pl.col("group") == "wording"}
    is_slope = ~pl.col("term").is_in(["intercept", "residual"])
    shares = result.tables[CROSSED]["shares"].group_by(CELL, maintain_order=True)
    parts = shares.agg(
        *(pl.col("share").filter(rows).sum().alias(f"share_{name}") for name, rows in of_group.items()),
        *(pl.col("variance").filter(rows & is_slope).sum().alias(f"slope_{name}") for name, rows in of_group.items()),
    )
    effects = result.tables[CROSSED]["effects"].drop("study", "refusals_removed", "measure", "fit")
    cells = result.diagnostics.select(CELL)  # those that failed have no effect
    for frame in (effects, parts):
        cells = cells.join(frame, on=CELL, how="left", maintain_order="left")
    return cells


def same_words(rows: sentences.CheckRows, context: Context) -> Verdict:
    """Return whether the effect lies at the same words in each model."""
    pairs = rows["same_words"].drop_nulls("correlation") if "same_words" in rows else pl.DataFrame()
    if pairs.is_empty():
        return Verdict("note", "Comparing where models have the bias needs a test of two models; there is none here.")
    tests = pairs.unique("test", maintain_order=True)
    agreeing = tests.filter(pl.col("p_test") < context.alpha).height
    return Verdict(
        "not found" if agreeing == tests.height else "note",
        f"Models have the bias at the same words, more than with words in random order (p < {context.alpha:g}), in "
        f"{count_of(agreeing, tests.height, 'test')}: between two models effects at words correlate by "
        f"{spread(pairs['correlation'])}.",
        (
            *_without_errors(pairs),
            *(
                f"{context.test(str(test))}: correlations of {count_text(part.height, 'pair')} of models "
                f"{_range(part['correlation'])}, {number(sentences.as_number(part['mean_correlation'][0]))} in the "
                f"mean (p = {number(sentences.as_number(part['p_test'][0]), 3)})."
                for (test,), part in pairs.group_by("test", maintain_order=True)
            ),
        ),
    )


def _without_errors(pairs: pl.DataFrame) -> Iterator[str]:
    """Return the reliability of effects at words, and the correlations without their errors."""
    reliability = pl.concat([pairs["reliability"], pairs["other_reliability"]]).drop_nulls()
    known = pairs["corrected"].drop_nulls()
    if reliability.is_empty():
        return
    apart = pairs.filter((pl.col("conf_low") > 0) | (pl.col("conf_high") < 0)).height
    others = pairs.filter(pl.col("conf_high") < 1).height
    left = (
        f"; without them correlations are {spread(known)} ({count_of(known.len(), pairs.height, 'pair')}): the "
        f"interval excludes 0 in {apart} of them, and 1, the same words, in {others}"
        if known.len()
        else ""
    )
    yield (
        "Errors over wordings attenuate plain correlations. Of the variance of effects at words "
        f"{percent(middle(reliability), 0)} is not error, in the median ({_range(100 * reliability, 0)} %){left}."
    )
    within = pairs["within_groups"].drop_nulls()
    if within.len():
        yield f"Within the groups of words, without errors: {spread(within)}."


def _range(values: pl.Series, digits: int = 2) -> str:
    return f"{number(sentences.as_number(values.min()), digits)} to {number(sentences.as_number(values.max()), digits)}"


def over_words_verdict(crossed: pl.DataFrame) -> str:
    """Return the number of effects of the study's own model that stay significant. `crossed`: of `crossed_rows()`,
    without those that failed.

    A model that lets the effect vary over words and wordings itself is no second opinion on itself.
    """
    own = crossed.filter(pl.col("verdict") == ALREADY_IN_MODEL)
    if own.height:
        n_significant = int((own["p_value"] < _ALPHA).sum())
        return (
            "The study's own model already lets the effect vary over words and wordings: its results "
            f"({count_of(n_significant, own.height, 'effect')} with p < {_ALPHA:g}) generalise to others like these."
        )
    significant = crossed.filter(pl.col("verdict").is_in(["stays", "lost"]))
    kept = significant.filter(pl.col("verdict") == "stays").height
    said = f"Of {count_text(significant.height, 'significant effect')}, {kept} stay so over other words and wordings"
    made = significant.filter((pl.col("verdict") == "stays") & ~pl.col(SIGN_KEPT).fill_null(True)).height
    return f"{said}; missing answers could have changed the sign of {made} of these." if made else f"{said}."


def over_words_details(crossed: pl.DataFrame, context: Context) -> list[str]:
    """Return sentences on changed effects, standard errors and their parts, smallest detectable effects, and singular
    fits."""
    is_own = crossed.filter(pl.col("verdict") == ALREADY_IN_MODEL).height == crossed.height
    of_square = (
        f"words have {percent(middle(crossed['share_words']))} and wordings "
        f"{percent(middle(crossed['share_wordings']))} (in the middle model), which repetitions can't reduce."
    )
    details = [
        *(
            f"{context.cell(row)}: {row['verdict']} (p = {number(row['reference_p'], 3)} in the study's own model, "
            f"{number(row['p_value'], 3)} over words and wordings; its standard error is "
            f"{number(row['std_error_ratio'])} times as large)."
            for row in _changed(crossed).to_dicts()
        ),
        f"Of the squared standard error of the effect, {of_square}"
        if is_own
        else f"Standard errors over words and wordings are {spread(crossed['std_error_ratio'])} times the model's own. "
        f"Of their square, {of_square}",
        f"Smallest detectable effects (80 % power, two-sided 5 %): {spread(crossed['mde_d'])} standard deviations; "
        f"{spread(crossed['mde'], 1)} in units of the outcome.",
    ]
    made = crossed.filter(~pl.col(SIGN_KEPT).fill_null(True))
    if made.height:
        details.append(
            "Refused and other missing answers could have changed the sign in "
            f"{count_of(made.height, crossed.height, 'cell')}{sentences.which_cells(made, context)}."
        )
    singular = crossed.filter("is_singular")
    if singular.height:
        details.append(
            f"Singular: {count_of(singular.height, crossed.height, 'model')} in which a variance is 0; their "
            "numbers are those of the largest non-singular model."
        )
    return details


def _changed(crossed: pl.DataFrame) -> pl.DataFrame:
    return crossed.filter(pl.col("verdict").is_in(["lost", "gained"]))


def pooled_effects(rows: sentences.CheckRows, context: Context) -> Verdict:
    """Return the effects over words and wordings, pooled over tests and models."""
    n_cells = rows["crossed"].drop_nulls("estimate").height
    if n_cells < MIN_CELLS:
        return Verdict("note", f"It takes {MIN_CELLS} effects to pool; there are {n_cells}.")
    pooled = {str(row["row"]): row for row in rows["meta"].to_dicts()} if "meta" in rows else {}
    if "mean" not in pooled:
        return Verdict("not checked", "The effects could not be pooled; the warnings say why.")
    mean = pooled["mean"]
    level = percent(1 - context.alpha, 0)
    new = {"new_test": "a new test", "new_model": "a new model", "new_cell": "a new test of a new model"}
    between = {"tau_test": "between tests", "tau_model": "between models", "tau_cell": "beyond both"}
    expected = (f"{words} {_interval(pooled[name])}" for name, words in new.items() if name in pooled)
    varied = (f"{number(pooled[name]['estimate'])} {words}" for name, words in between.items() if name in pooled)
    return Verdict(
        "note",
        f"Over {count_text(mean['n'], 'effect')} the mean is {number(mean['estimate'])} standard deviations ({level} "
        f"interval {_interval(mean)}, p = {number(mean['p_value'], 3)}).",
        (
            f"To expect ({level} prediction intervals): {'; '.join(expected)}.",
            f"Standard deviation of true effects: {', '.join(varied)}.",
            *([str(mean["messages"])] if mean["messages"] else []),
            "The effects over words and wordings are pooled by R's metafor: random effects of test, model and cell.",
        ),
    )


def _interval(row: Mapping[str, float]) -> str:
    return f"{number(row['conf_low'])} to {number(row['conf_high'])}"
