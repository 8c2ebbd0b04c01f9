"""What the checks found, in plain words: for each a question, a verdict and its numbers. R has computed them all; here
they are only counted and said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import polars as pl

from slant.analysis.questions.checks import answer_findings, choice_findings, game_findings, word_findings
from slant.analysis.questions.checks.calibration_finding import CALIBRATION, sampler_finding
from slant.analysis.questions.checks.count_finding import count_models
from slant.analysis.questions.checks.design_checks import has_checks
from slant.analysis.questions.checks.later_occasions import RETEST, retest_finding
from slant.analysis.questions.checks.pooled_finding import pooled_effects
from slant.analysis.questions.checks.registration import finding
from slant.analysis.questions.checks.sentences import (
    CheckRows,
    Context,
    Finding,
    count_of,
    count_text,
    middle,
    number,
    percent,
    spread,
    standing,
    which_cells,
)
from slant.analysis.questions.checks.stopping import looks_in, stopping_finding
from slant.analysis.questions.checks.study_checks import Checks
from slant.analysis.rows.cells import GRAIN
from slant.collector.studies.catalogue import BASE

Entry = tuple[str, tuple[str, ...], Callable[[str, CheckRows, Context], Finding]]
_SKEWED = 1.0
_WHERE_KEPT = ("counts",)  # no check makes them, and most studies have none


def findings(checks: Checks) -> Iterator[tuple[dict[str, str], list[Finding]]]:
    """For each source, study version and variant: its key, and its findings in the order of the page."""
    base_first = checks.trials.sort(*GRAIN[:2], pl.col("variant") != BASE, "variant", maintain_order=True)
    for values, trials in base_first.group_by(GRAIN, maintain_order=True):
        grain = dict(zip(GRAIN, map(str, values), strict=True))
        own = [] if checks.registered is None else [finding(checks.registered, grain)]
        rows = rows_of(checks, grain)
        if has_checks(checks.study):
            context = context_of(checks, trials)
            if looks := looks_in(checks.looks, grain):
                own.append(stopping_finding(looks, context.models, checks.registered))
            page = _PAGES.get(checks.study.design, _PAGE)
            shown = {name: entry for name, entry in page.items() if name not in _WHERE_KEPT or _has_rows(rows, name)}
            own += [_make_finding(name, entry, rows, context) for name, entry in shown.items()]
            if _has_rows(rows, CALIBRATION):
                own.append(sampler_finding(rows[CALIBRATION]))
        if _has_rows(rows, RETEST):
            labels = {model.model: model.label for model in checks.study.models}
            own.append(retest_finding(rows[RETEST], labels, checks.alpha))
        yield grain, own


def _has_rows(rows: CheckRows, name: str) -> bool:
    return name in rows and not rows[name].is_empty()


def rows_of(checks: Checks, grain: Mapping[str, str]) -> dict[str, pl.DataFrame]:
    """The rows of each check for one source, study version and variant."""
    is_it = pl.all_horizontal(pl.col(name) == value for name, value in grain.items())
    return {name: rows.filter(is_it) for name, rows in checks.rows.items()}


def context_of(checks: Checks, trials: pl.DataFrame) -> Context:
    models = dict(trials.select("model", "model_label").unique(maintain_order=True).iter_rows())
    tests = dict(trials.select("test", "test_label").unique(maintain_order=True).iter_rows())
    condition_rows = trials.select("condition", "condition_label", "condition_no").unique(maintain_order=True)
    conditions = dict(
        condition_rows.sort("condition_no", nulls_last=True).select("condition", "condition_label").iter_rows()
    )
    is_balanced = "balanced" in checks.study.variants
    return Context(models, tests, conditions, checks.alpha, checks.bound, is_balanced)


def _make_finding(name: str, entry: Entry, rows: CheckRows, context: Context) -> Finding:
    question, needed, find = entry
    if any(check not in rows or _usable_rows(rows[check]).is_empty() for check in needed):
        return Finding(name, question, "not checked", "This could not be checked; the warnings say why.")
    made = find(question, {check: _usable_rows(rows[check]) for check in rows}, context)
    warnings = tuple(warning for check in needed for warning in _status_warnings(rows[check]))
    if not warnings:
        return made
    return replace(made, details=(*made.details, *warnings), columns=(*made.columns, "fit_status"))


def _status_warnings(rows: pl.DataFrame) -> Iterator[str]:
    """That some of the fits that rows rest on are singular or worse."""
    if "fit_status" not in rows.columns:
        return
    fits = rows.select("model", "test", "fit_status").unique()
    doubtful = fits.filter(pl.col("fit_status") != "ok").group_by("fit_status").len().sort("fit_status")
    if doubtful.height:
        kinds = ", ".join(f"{n} {status}" for status, n in doubtful.iter_rows())
        yield f"Doubtful: {kinds} of {count_text(fits.height, 'fit')}; the warnings say which and why."


def _usable_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows that could be checked; NaN becomes null, because it sorts as the largest of all."""
    return (rows.filter(pl.col("status") != "failed") if "status" in rows.columns else rows).fill_nan(None)


def _residuals(question: str, rows: CheckRows, context: Context) -> Finding:
    results = rows["residuals"]
    skewed = results.filter(pl.col("skewness").abs() > _SKEWED)
    most_skewed = results.sort(pl.col("skewness").abs(), descending=True, nulls_last=True).to_dicts()[0]
    uneven = results.filter(~pl.col("sd_ratio").is_between(0.8, 1.25))
    farthest = results.sort("largest", descending=True, nulls_last=True).to_dicts()[0]
    return Finding(
        "residuals",
        question,
        "caution" if skewed.height else "holds",
        f"Residuals are clearly skewed (beyond ±{_SKEWED:g}) in {count_of(skewed.height, results.height, 'model')}.",
        (
            f"Skewness, 0 if symmetric: {spread(results['skewness'])}; the largest in {context.cell(most_skewed)}.",
            "The spread of the two conditions differs by more than a fifth in "
            f"{count_of(uneven.height, results.height, 'model')} (ratio of standard deviations, {context.other} over "
            f"{context.reference}: {spread(results['sd_ratio'])}).",
            f"The farthest residual is {number(farthest['largest'], 1)} standard deviations away "
            f"({context.cell(farthest)}); "
            f"{percent(middle(results['share_beyond_3']), 2)} are more than 3 away in the middle model (normal: 0.27 "
            "%).",
        ),
        ("n", "skewness", "excess_kurtosis", "sd_ratio", "spread_correlation", "largest"),
    )


def _influence(question: str, rows: CheckRows, context: Context) -> Finding:
    results = rows["influence"].drop_nulls("changes_conclusion")
    n_failed = rows["influence"].height - results.height
    if results.is_empty():
        return Finding("influence", question, "not checked", "No model could be refitted without a prompt.")
    n_models = results.select("model", "test").n_unique()
    changed = results.filter("changes_conclusion")
    cells = changed.select("model", "test").unique(maintain_order=True)
    most_influential = results.sort("cooks_distance", descending=True, nulls_last=True).to_dicts()[0]
    subject = "Leaving out one prompt changes the conclusion in"
    details = [
        f"Largest Cook's distance: {number(most_influential['cooks_distance'])} ({context.cell(most_influential)}, "
        f"prompt {most_influential['left_out']}); "
        f"above 4 / number of prompts: {count_text(int(results['is_influential'].sum()), 'time')} of {results.height}."
    ]
    if n_failed:
        details.append(
            f"{n_failed} of {count_text(rows['influence'].height, 'refit')} without a prompt could not be made, and "
            f"{'is' if n_failed == 1 else 'are'} not counted."
        )
    for row in changed.group_by("model", "test", "p_all", maintain_order=True).agg("left_out").to_dicts():
        prompts = f"prompt{'s' if len(row['left_out']) > 1 else ''} {', '.join(row['left_out'])}"
        details.append(
            f"{context.cell(row)} (p = {number(row['p_all'], 3)}): without {prompts}"
            f"{', each alone' if len(row['left_out']) > 1 else ''}."
        )
    return Finding(
        "influence",
        question,
        standing(cells.height, n_failed),
        f"{subject} {count_of(cells.height, n_models, 'mixed model')}.",
        tuple(details),
        ("left_out", "estimate_all", "p_all", "estimate", "p_value", "cooks_distance", "changes_conclusion"),
    )


def _corrections(question: str, rows: CheckRows, context: Context) -> Finding:
    results = rows["corrections"]
    significant = results.filter("is_significant")
    lost = {name: significant.filter(~pl.col(f"is_significant_{name}")) for name in ("holm", "bh")}
    sizes = sorted(set(results["n_tests"]))
    corrected = " or ".join(map(str, sizes))
    return Finding(
        "corrections",
        question,
        "caution" if lost["holm"].height else "holds",
        f"Of {count_text(significant.height, 'significant effect')} (p < {context.alpha:g}), "
        f"{significant.height - lost['holm'].height} are left after Holm's correction and "
        f"{significant.height - lost['bh'].height} after Benjamini and Hochberg's.",
        (
            f"Corrected for the {corrected} tests that each model has here.",
            *(
                f"Lost after {name}: {context.cells(part)}."
                for name, part in (("Holm", lost["holm"]), ("Benjamini and Hochberg", lost["bh"]))
                if part.height
            ),
        ),
        ("estimate", "p_value", "p_holm", "p_bh", "is_significant", "is_significant_holm"),
    )


def _equivalence(question: str, rows: CheckRows, context: Context) -> Finding:
    effects = rows["corrections"].select("model", "test", "is_significant")
    results = rows["equivalence"].join(effects, on=["model", "test"], how="left", maintain_order="left")
    nulls = results.filter(~pl.col("is_significant"))
    equivalent = nulls.filter(pl.col("p_equivalence") < context.alpha)
    small = results.filter(pl.col("is_significant") & (pl.col("p_equivalence") < context.alpha))
    details = [
        f"{context.cell(row)}: d = {number(row['d'])}, {percent(1 - 2 * context.alpha, 0)} interval "
        f"{number(row['conf_low'])} to {number(row['conf_high'])}, so that a bound of {number(row['smallest_bound'])} "
        "could just be shown."
        for row in nulls.to_dicts()
    ]
    short = results.filter(~pl.col("is_possible"))
    if short.height:
        details.append(
            f"In {count_of(short.height, results.height, 'cell')} there are too few trials to show |d| < "
            f"{context.bound:g} even if d were exactly 0."
        )
    details.append(
        f"Significant and yet smaller than {context.bound:g}: {count_of(small.height, results.height, 'cell')}"
        f"{which_cells(small, context)}."
    )
    none = f"There is no null: {results.height} of {count_text(results.height, 'effect')} are significant."
    n_undecided = nulls.height - equivalent.height
    verdict = (
        f"Of {count_text(nulls.height, 'effect')} that are not significant, {equivalent.height or 'none'} can be "
        f"shown to be smaller than |d| = {context.bound:g}; {n_undecided} {'is' if n_undecided == 1 else 'are'} "
        "undecided, not shown to be absent."
    )
    return Finding(
        "equivalence",
        question,
        "caution" if nulls.height > equivalent.height else "holds",
        verdict if nulls.height else none,
        tuple(details),
        ("d", "conf_low", "conf_high", "p_difference", "p_equivalence", "smallest_bound", "finding"),
    )


_PAGE: dict[str, Entry] = {
    "residuals": ("Are the residuals as the models assume?", ("residuals",), _residuals),
    "skew": ("Do a few long answers make the effects?", ("skew",), answer_findings.skew),
    "influence": ("Does one prompt decide a result?", ("influence",), _influence),
    "variance_shares": ("How much is due to prompts and words?", ("variance_shares",), word_findings.variance_shares),
    "words": ("Do the effects hold for other words and wordings?", ("words", "crossed"), word_findings.words),
    "meta": ("What do the effects of all tests and models come to?", ("crossed",), pooled_effects),
    "counts": ("Are token counts as the model of them has them?", ("counts",), count_models),
    "corrections": ("What is left after correcting for the number of tests?", ("corrections",), _corrections),
    "equivalence": ("Are the nulls nulls?", ("equivalence", "corrections"), _equivalence),
    "token_limits": ("Were answers cut off?", ("token_limits",), answer_findings.token_limits),
    "option_order": (
        "Can the condition be told from the order of the options?",
        ("option_order",),
        answer_findings.option_order,
    ),
    "refusals": ("Could refusals have made the effects?", ("refusals",), answer_findings.refusals),
}
"""The page of a mixed model: for each finding its question, the checks whose rows it reads, and what says it."""
_ONE_ANSWER_EACH: dict[str, Entry] = {
    "missing_answers": (
        "Are answers missing in one wording more than in another?",
        ("missing_answers",),
        choice_findings.missing_answers,
    ),
    "token_limits": ("Were answers cut off?", ("token_limits",), answer_findings.token_limits),
}
_PAGES: dict[str, dict[str, Entry]] = {
    "forced_choice": {
        "first_option": (
            "Is the option that is shown first chosen more often?",
            ("first_option",),
            choice_findings.first_option,
        ),
        "order_effect": (
            "Is the effect the same with the order of options in the model?",
            ("order_effect",),
            choice_findings.order_effect,
        ),
        "block_order": (
            "Is it the same with the order of blocks in the model?",
            ("block_order",),
            choice_findings.block_order,
        ),
        "missing_answers": (
            "Are answers missing in one condition more than in another?",
            ("missing_answers",),
            choice_findings.missing_answers,
        ),
        "missing_bounds": (
            "Could missing answers have made the effects?",
            ("missing_bounds",),
            choice_findings.missing_bounds,
        ),
        "left_out": ("Does one word or wording carry an effect?", ("left_out",), choice_findings.left_out),
        "separation": ("Are all answers of a cell alike?", ("separation",), choice_findings.separation),
        "token_limits": ("Were answers cut off?", ("token_limits",), answer_findings.token_limits),
    },
    "allocation": {
        "first_option": (
            "Is the group that is shown first chosen more often?",
            ("first_option",),
            choice_findings.first_option,
        ),
        "missing_answers": (
            "Are rounds missing in one class of jobs more than in another?",
            ("missing_answers",),
            choice_findings.missing_answers,
        ),
        "games_ended": ("Were games cut short?", ("games_ended",), game_findings.games_ended),
        "game_influence": ("Does one game decide a result?", ("game_influence",), game_findings.game_influence),
        "answer_lengths": (
            "Do answers grow or shrink along a game?",
            ("answer_lengths",),
            game_findings.answer_lengths,
        ),
        "token_limits": ("Were answers cut off?", ("token_limits",), answer_findings.token_limits),
    },
    "pairing": _ONE_ANSWER_EACH,
    "decision": _ONE_ANSWER_EACH,
}
"""The pages of designs that have checks of their own (design_checks.py)."""
