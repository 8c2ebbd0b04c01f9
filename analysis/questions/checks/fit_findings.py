"""Findings about the study's own mixed models: residuals, prompts that carry a result, corrections, and nulls."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from slant.analysis.questions.checks import sentences
from slant.analysis.questions.checks.sentences import Context, Verdict, count_of, middle, number, percent, spread
from slant.collector.terminal import count_text

_SKEWED = 1.0
_COHENS_SMALL = 0.2


def residuals(rows: sentences.CheckRows, context: Context) -> Verdict:
    results = rows["residuals"]
    skewed = results.filter(pl.col("skewness").abs() > _SKEWED)
    most_skewed = results.sort(pl.col("skewness").abs(), descending=True, nulls_last=True).to_dicts()[0]
    uneven = results.filter(~pl.col("sd_ratio").is_between(0.8, 1.25))
    farthest = results.sort("largest", descending=True, nulls_last=True).to_dicts()[0]
    return Verdict(
        "note" if skewed.height else "not found",  # whether a conclusion depends on it is what `skew` finds
        f"Residuals are clearly skewed (beyond ±{_SKEWED:g}) in {count_of(skewed.height, results.height, 'model')}.",
        (
            f"Skewness, 0 if symmetric: {spread(results['skewness'])}; the largest in {context.cell(most_skewed)}.",
            "The spread of the two conditions differs by more than a fifth in "
            f"{count_of(uneven.height, results.height, 'model')} (ratio of standard deviations, {context.other} over "
            f"{context.reference}: {spread(results['sd_ratio'])}).",
            f"The farthest residual is {number(farthest['largest'], 1)} standard deviations away "
            f"({context.cell(farthest)}); {percent(middle(results['share_beyond_3']), 2)} are more than 3 away in the "
            "middle model (normal: 0.27 %).",
        ),
    )


def influence(rows: sentences.CheckRows, context: Context) -> Verdict:
    results = rows["influence"].drop_nulls("changes_conclusion")
    n_failed = rows["influence"].height - results.height
    if results.is_empty():
        return Verdict("not checked", "No model could be refitted without a prompt.")
    n_models = results.select("model", "test").n_unique()
    changed = results.filter("changes_conclusion")
    cells = changed.select("model", "test").unique(maintain_order=True)
    most_influential = results.sort("cooks_distance", descending=True, nulls_last=True).to_dicts()[0]
    subject = "Excluding one prompt changes the conclusion in"
    details = [
        f"Largest Cook's distance: {number(most_influential['cooks_distance'])} ({context.cell(most_influential)}, "
        f"prompt {most_influential['left_out']}); "
        f"above 4 / number of prompts: {count_text(int(results['is_influential'].sum()), 'time')} of {results.height}."
    ]
    if n_failed:
        details.append(
            f"{n_failed} of {count_text(rows['influence'].height, 'refit')} without a prompt failed, and "
            f"{'is' if n_failed == 1 else 'are'} not counted."
        )
    for row in changed.group_by("model", "test", "p_all", maintain_order=True).agg("left_out").to_dicts():
        prompts = f"prompt{'s' if len(row['left_out']) > 1 else ''} {', '.join(row['left_out'])}"
        details.append(
            f"{context.cell(row)} (p = {number(row['p_all'], 3)}): without {prompts}"
            f"{', each alone' if len(row['left_out']) > 1 else ''}."
        )
    return Verdict(
        sentences.standing(cells.height, n_failed),
        f"{subject} {count_of(cells.height, n_models, 'mixed model')}.",
        tuple(details),
    )


def corrections(rows: sentences.CheckRows, context: Context) -> Verdict:
    results = rows["corrections"]
    significant = results.filter("is_significant")
    lost = {name: significant.filter(~pl.col(f"is_significant_{name}")) for name in ("holm", "bh")}
    sizes = sorted(set(results["n_tests"]))
    corrected = " or ".join(map(str, sizes))
    over_words = rows.get("corrections_over_words", pl.DataFrame())
    return Verdict(
        "caution" if lost["holm"].height else "not found",
        f"Of {count_text(significant.height, 'significant effect')} (p < {context.alpha:g}), "
        f"{significant.height - lost['holm'].height} remain after Holm's correction and "
        f"{significant.height - lost['bh'].height} after Benjamini and Hochberg's.",
        (
            f"Corrected for the {corrected} tests that each model has here.",
            *(
                f"Lost after {name}: {context.cells(part)}."
                for name, part in (("Holm", lost["holm"]), ("Benjamini and Hochberg", lost["bh"]))
                if part.height
            ),
            *_over_words_corrected(over_words),
        ),
    )


def _over_words_corrected(results: pl.DataFrame) -> Iterator[str]:
    """Yield a sentence on effects left over words and wordings, with all tests of all models as one family."""
    if results.is_empty():
        return
    left = {name: results.filter(f"is_significant{name}").height for name in ("", "_holm", "_bh")}
    yield (
        f"Over other words and wordings, with all {count_text(results.height, 'effect')} of all models corrected "
        f"together: {left['']} are significant, {left['_holm']} after Holm's correction, {left['_bh']} after Benjamini "
        "and Hochberg's."
    )


def equivalence(rows: sentences.CheckRows, context: Context) -> Verdict:
    results = rows["equivalence"]
    is_significant = pl.col("p_difference") < context.alpha
    nulls = results.filter(~is_significant)
    equivalent = nulls.filter(pl.col("p_equivalence") < context.alpha)
    small = results.filter(is_significant & (pl.col("p_equivalence") < context.alpha))
    details = [
        f"{context.cell(row)}: d = {number(row['d'])}, {percent(1 - 2 * context.alpha, 0)} interval "
        f"{number(row['conf_low'])} to {number(row['conf_high'])}, so a bound of {number(row['smallest_bound'])} "
        "could just be shown."
        for row in nulls.to_dicts()
    ]
    details.insert(0, _bound_sentence(context.bound, float(results["percentile"][0])))
    short = results.filter(~pl.col("is_possible"))
    if short.height:
        details.append(
            f"In {count_of(short.height, results.height, 'cell')} words, wordings or trials are too few to show |d| <"
            f" {context.bound:g} even if d were exactly 0."
        )
    details.append(
        f"Significant and yet smaller than {context.bound:g}: {count_of(small.height, results.height, 'cell')}"
        f"{sentences.which_cells(small, context)}."
    )
    none = f"No null result: {results.height} of {count_text(results.height, 'effect')} are significant over words."
    n_undecided = nulls.height - equivalent.height
    verdict = (
        f"Of {count_text(nulls.height, 'effect')} that are not significant over words and wordings, "
        f"{equivalent.height or 'none'} can be shown to be smaller than |d| = {context.bound:g} there; {n_undecided} "
        f"{'is' if n_undecided == 1 else 'are'} undecided, not shown to be absent."
    )
    return Verdict(
        "note" if nulls.height > equivalent.height else "not found", verdict if nulls.height else none, tuple(details)
    )


def _bound_sentence(bound: float, percentile: float) -> str:
    """Return the meaning of an effect as large as the bound, as a reason to choose this bound or another."""
    share = bound / _COHENS_SMALL
    of_small = "half of" if share == 0.5 else "exactly" if share == 1 else f"{share:.2g} times"
    return (
        f"The bound |d| = {bound:g} is {of_small} what Cohen (1988) calls small (.2): the median of one condition "
        f"would lie at the {percentile:.0f}th percentile of the other. For another one: --bound."
    )
