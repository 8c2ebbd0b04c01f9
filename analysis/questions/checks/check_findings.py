"""What the checks found, in plain words: for each a question, a verdict and its numbers. R has computed them all; here
they are only counted and said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import polars as pl

from slant.analysis.questions.checks import answer_findings, choice_findings, game_findings, word_findings
from slant.analysis.questions.checks.calibration_finding import sampler_quality
from slant.analysis.questions.checks.check_table import CheckInfo, checks_of
from slant.analysis.questions.checks.count_finding import count_models
from slant.analysis.questions.checks.design_checks import has_checks
from slant.analysis.questions.checks.nothing_finding import found_by_chance
from slant.analysis.questions.checks.pooled_finding import pooled_effects
from slant.analysis.questions.checks.registration import finding
from slant.analysis.questions.checks.retest_check import RETEST, retest_finding
from slant.analysis.questions.checks.sentences import (
    CheckRows,
    Context,
    Finding,
    Verdict,
    count_of,
    middle,
    number,
    percent,
    spread,
    standing,
    which_cells,
)
from slant.analysis.questions.checks.served_findings import findings_of_served_models
from slant.analysis.questions.checks.stopping import looks_in, stopping_finding
from slant.analysis.questions.checks.study_checks import Checks
from slant.analysis.rows.cells import GRAIN
from slant.collector.studies.catalogue import BASE
from slant.collector.terminal import count_text

_SKEWED = 1.0
_NOT_CHECKED = "not checked"


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
            asked = (check for check in checks_of(checks.study.design.name) if check.question)
            own += [
                _make_finding(check, rows, context, bool(checks.warnings))
                for check in asked
                if not check.kept_by or _has_rows(rows, check.check)
            ]
        if _has_rows(rows, RETEST):
            labels = {model.model: model.label for model in checks.study.models}
            own.append(retest_finding(rows[RETEST], labels, checks.alpha))
        own += findings_of_served_models(rows)
        yield grain, own


def _has_rows(rows: CheckRows, name: str) -> bool:
    return name in rows and not rows[name].is_empty()


def rows_of(checks: Checks, grain: Mapping[str, str]) -> dict[str, pl.DataFrame]:
    """Return the rows of each check for one source, study version and variant."""
    return {name: rows.filter(**grain) for name, rows in checks.rows.items()}


def context_of(checks: Checks, trials: pl.DataFrame) -> Context:
    models = dict(trials.select("model", "model_label").unique(maintain_order=True).iter_rows())
    tests = dict(trials.select("test", "test_label").unique(maintain_order=True).iter_rows())
    condition_rows = trials.select("condition", "condition_label", "condition_no").unique(maintain_order=True)
    conditions = dict(
        condition_rows.sort("condition_no", nulls_last=True).select("condition", "condition_label").iter_rows()
    )
    is_balanced = "balanced" in checks.study.variants
    return Context(models, tests, conditions, checks.alpha, checks.bound, is_balanced)


def _make_finding(check: CheckInfo, rows: CheckRows, context: Context, is_explained: bool) -> Finding:
    usable = {name: _usable_rows(frame) for name, frame in rows.items()}
    if any(name not in usable or usable[name].is_empty() for name in check.needs):
        reason = "the warnings say why" if is_explained else "no answer here can be used for it"
        said = f"This could not be checked ({check.check}): {reason}."
        return Finding(check.check, check.question, _NOT_CHECKED, said)
    verdict = _VERDICTS[check.check](usable, context)
    warnings = tuple(warning for name in check.needs for warning in _status_warnings(rows[name]))
    columns = () if verdict.standing == _NOT_CHECKED else (*check.columns, *(("fit_status",) if warnings else ()))
    details = (*verdict.details, *warnings)
    return Finding(check.check, check.question, verdict.standing, verdict.sentence, details, columns)


def _status_warnings(rows: pl.DataFrame) -> Iterator[str]:
    """Warn that some of the fits that rows rest on are singular or worse. Rows with `is_singular` are of the largest
    model that is not, as their own finding says.
    """
    if "fit_status" not in rows.columns:
        return
    fits = rows.select("model", "test", "fit_status").unique()
    fine = ["ok", "singular"] if "is_singular" in rows.columns else ["ok"]
    doubtful = fits.filter(~pl.col("fit_status").is_in(fine)).group_by("fit_status").len().sort("fit_status")
    if doubtful.height:
        kinds = ", ".join(f"{n} {status}" for status, n in doubtful.iter_rows())
        yield f"Doubtful: {kinds} of {count_text(fits.height, 'fit')}; the warnings say which and why."


def _usable_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that could be checked; NaN becomes null, because it sorts as the largest of all."""
    return (rows.filter(pl.col("status") != "failed") if "status" in rows.columns else rows).fill_nan(None)


def _residuals(rows: CheckRows, context: Context) -> Verdict:
    results = rows["residuals"]
    skewed = results.filter(pl.col("skewness").abs() > _SKEWED)
    most_skewed = results.sort(pl.col("skewness").abs(), descending=True, nulls_last=True).to_dicts()[0]
    uneven = results.filter(~pl.col("sd_ratio").is_between(0.8, 1.25))
    farthest = results.sort("largest", descending=True, nulls_last=True).to_dicts()[0]
    return Verdict(
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
    )


def _influence(rows: CheckRows, context: Context) -> Verdict:
    results = rows["influence"].drop_nulls("changes_conclusion")
    n_failed = rows["influence"].height - results.height
    if results.is_empty():
        return Verdict("not checked", "No model could be refitted without a prompt.")
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
    return Verdict(
        standing(cells.height, n_failed),
        f"{subject} {count_of(cells.height, n_models, 'mixed model')}.",
        tuple(details),
    )


def _corrections(rows: CheckRows, context: Context) -> Verdict:
    results = rows["corrections"]
    significant = results.filter("is_significant")
    lost = {name: significant.filter(~pl.col(f"is_significant_{name}")) for name in ("holm", "bh")}
    sizes = sorted(set(results["n_tests"]))
    corrected = " or ".join(map(str, sizes))
    over_words = rows.get("corrections_over_words", pl.DataFrame())
    return Verdict(
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
            *_over_words_corrected(over_words, context),
        ),
    )


def _over_words_corrected(results: pl.DataFrame, context: Context) -> Iterator[str]:
    """Yield what is left over words and wordings, with all tests of all models as one family."""
    if results.is_empty():
        return
    left = {name: results.filter(f"is_significant{name}").height for name in ("", "_holm", "_bh")}
    yield (
        f"Over other words and wordings, all {count_text(results.height, 'effect')} of all models corrected together: "
        f"{left['']} are significant, {left['_holm']} after Holm's correction, {left['_bh']} after Benjamini and "
        "Hochberg's."
    )


def _equivalence(rows: CheckRows, context: Context) -> Verdict:
    results = rows["equivalence"]
    is_significant = pl.col("p_difference") < context.alpha
    nulls = results.filter(~is_significant)
    equivalent = nulls.filter(pl.col("p_equivalence") < context.alpha)
    small = results.filter(is_significant & (pl.col("p_equivalence") < context.alpha))
    details = [
        f"{context.cell(row)}: d = {number(row['d'])}, {percent(1 - 2 * context.alpha, 0)} interval "
        f"{number(row['conf_low'])} to {number(row['conf_high'])}, so that a bound of {number(row['smallest_bound'])} "
        "could just be shown."
        for row in nulls.to_dicts()
    ]
    details.insert(0, _bound_sentence(context.bound, float(results["percentile"][0])))
    short = results.filter(~pl.col("is_possible"))
    if short.height:
        details.append(
            f"In {count_of(short.height, results.height, 'cell')} there are too few words, wordings or trials to show "
            f"|d| < {context.bound:g} even if d were exactly 0."
        )
    details.append(
        f"Significant and yet smaller than {context.bound:g}: {count_of(small.height, results.height, 'cell')}"
        f"{which_cells(small, context)}."
    )
    none = f"There is no null: {results.height} of {count_text(results.height, 'effect')} are significant over words."
    n_undecided = nulls.height - equivalent.height
    verdict = (
        f"Of {count_text(nulls.height, 'effect')} that are not significant over words and wordings, "
        f"{equivalent.height or 'none'} can be shown to be smaller than |d| = {context.bound:g} there; {n_undecided} "
        f"{'is' if n_undecided == 1 else 'are'} undecided, not shown to be absent."
    )
    return Verdict(
        "caution" if nulls.height > equivalent.height else "holds", verdict if nulls.height else none, tuple(details)
    )


_COHENS_SMALL = 0.2


def _bound_sentence(bound: float, percentile: float) -> str:
    """Return what an effect of the bound would be: a reason to take it, or to take another one."""
    share = bound / _COHENS_SMALL
    of_small = "half of" if share == 0.5 else "exactly" if share == 1 else f"{share:.2g} times"
    return (
        f"The bound |d| = {bound:g} is {of_small} what Cohen (1988) calls small (.2): the median of one condition "
        f"would lie at the {percentile:.0f}th percentile of the other. For another one: --bound."
    )


_VERDICTS: dict[str, Callable[[CheckRows, Context], Verdict]] = {
    "residuals": _residuals,
    "skew": answer_findings.skew,
    "influence": _influence,
    "variance_shares": word_findings.variance_shares,
    "words": word_findings.words,
    "same_words": word_findings.same_words,
    "meta": pooled_effects,
    "nothing": found_by_chance,
    "counts": count_models,
    "corrections": _corrections,
    "equivalence": _equivalence,
    "token_limits": answer_findings.token_limits,
    "repetitions": answer_findings.repetitions,
    "option_order": answer_findings.option_order,
    "refusals": answer_findings.refusals,
    "first_option": choice_findings.first_option,
    "order_effect": choice_findings.order_effect,
    "block_order": choice_findings.block_order,
    "missing_answers": choice_findings.missing_answers,
    "missing_bounds": choice_findings.missing_bounds,
    "left_out": choice_findings.left_out,
    "separation": choice_findings.separation,
    "games_ended": game_findings.games_ended,
    "game_influence": game_findings.game_influence,
    "answer_lengths": game_findings.answer_lengths,
    "calibration": sampler_quality,
}
"""By the name of a check that asks a question (checks.csv), what its rows come to."""
