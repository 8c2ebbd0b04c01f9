"""What the checks found, in plain words: for each a question, a verdict and its numbers. R has computed them all; here
they are only counted and said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

import polars as pl

from slant.analysis.questions.calibration import LEVEL, calibration_sentences, last_calibrations
from slant.analysis.questions.checks import answer_findings, choice_findings, fit_findings, sentences, word_findings
from slant.analysis.questions.checks.answer_findings import RETEST, findings_of_served_models, retest_finding
from slant.analysis.questions.checks.check_calls import has_checks
from slant.analysis.questions.checks.check_table import CheckInfo, Rule, checks_of_study, question_of
from slant.analysis.questions.checks.count_finding import count_models
from slant.analysis.questions.checks.nothing_finding import found_by_chance
from slant.analysis.questions.checks.registration import REGISTRATION, Registered, finding
from slant.analysis.questions.checks.sentences import CheckRows, Context, Finding, Verdict, number, percent, spread
from slant.analysis.questions.checks.word_findings import pooled_effects
from slant.analysis.rows.cells import CONDITION_LABELS, GRAIN
from slant.analysis.rows.views import rows_if_kept
from slant.collector.registration.canonical import document_of, registered_rule
from slant.collector.stopping.looks import Look, looks_by_plan, looks_clause
from slant.collector.studies.catalogue import BASE, Study
from slant.collector.terminal import count_text

CALIBRATION = "calibration"


def kept_calibrations(db: str | Path, study: str, source: str | None) -> dict[str, pl.DataFrame]:
    """Return the rows of the last calibration of each fit, by the name of the check; nothing if there is none."""
    rows = rows_if_kept(db, "calibration_summary", study=study, source=source)
    return {} if rows.is_empty() else {CALIBRATION: last_calibrations(rows)}


def sampler_quality(checks: CheckRows, context: Context) -> Verdict:
    """Return whether simulated truths are found again as often as the posteriors say."""
    rows = checks[CALIBRATION]
    off = rows.filter(pl.col("p_adjusted") < LEVEL)
    n_fits = rows["calibration_id"].n_unique()
    named = f" ({', '.join(off['quantity'].unique(maintain_order=True))})" if off.height else ""
    doubtful = rows.filter(pl.col("n_failed") + pl.col("n_doubtful") > 0)
    standing = "caution" if off.height else "note" if doubtful.height else "not found"
    verdict = (
        f"In {count_text(n_fits, 'Bayesian fit')} of data drawn from the priors, {off.height or 'none'} of "
        f"{rows.height} quantities {'is' if off.height < 2 else 'are'} found less well than posteriors say{named}."
    )
    return Verdict(standing, verdict, tuple(calibration_sentences(rows)))


_NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Checks:
    """Hold what `check()` found.

    rows: by name of the check, its data frame as R returns it; each begins with source, study_version, variant, model
    and test. checks.toml says which there are. Those that rest on fits end with `fit_status`: not "ok" is doubtful.
    trials: the rows that were checked. warnings: what is doubtful, in sentences. not_kept: why fits could not be
    written to the database; None if they were. alpha, bound: as they were given. registered: the study next to what was
    registered of it, None if nothing was; its deviations are `rows["registration"]`, too. looks: those at the width of
    intervals, of answers whose collecting was to end on precision.
    """

    study: Study
    alpha: float
    bound: float
    rows: dict[str, pl.DataFrame]
    trials: pl.DataFrame
    warnings: list[str]
    not_kept: str | None
    registered: Registered | None = None
    looks: tuple[Look, ...] = ()

    def __repr__(self) -> str:
        return "\n".join([self._heading, *(f"{mark:12}{said}" for mark, said in self._verdicts()), *self.warnings])

    def _repr_html_(self) -> str:
        """Return the HTML that notebooks show."""
        rows = "".join(f"<tr><td>{escape(mark)}</td><td>{escape(said)}</td></tr>" for mark, said in self._verdicts())
        warnings = "".join(f"<p>{escape(warning)}</p>" for warning in self.warnings)
        return f"<p>{escape(self._heading)}</p><table>{rows}</table>{warnings}"

    @property
    def _heading(self) -> str:
        kept = f" Not kept: {self.not_kept}" if self.not_kept else ""
        return f"Checks of {self.study.name}: .rows has the numbers of each ({', '.join(self.rows)}).{kept}"

    def _verdicts(self) -> Iterator[tuple[str, str]]:
        for grain, of_grain in findings(self):
            yield f"{grain['source']}:", f"variant {grain['variant']}, version {grain['study_version']}"
            yield from ((finding.standing, finding.verdict) for finding in of_grain)

    def after(self, registered: Registered | None) -> Checks:
        """Return the same next to what was registered."""
        rows = self.rows if registered is None else {**self.rows, REGISTRATION: registered.deviations}
        return replace(self, rows=rows, registered=registered)


def findings(checks: Checks) -> Iterator[tuple[dict[str, str], list[Finding]]]:
    """Return the key and the findings of each source, study version and variant, in the order of the page."""
    base_first = checks.trials.sort(*GRAIN[:2], pl.col("variant") != BASE, "variant", maintain_order=True)
    for values, trials in base_first.group_by(GRAIN, maintain_order=True):
        grain = dict(zip(GRAIN, map(str, values), strict=True))
        own = [] if checks.registered is None else [finding(checks.registered, grain)]
        rows = rows_of(checks, grain)
        if has_checks(checks.study):
            models = dict(trials.select("model", "model_label").unique(maintain_order=True).iter_rows())
            tests = dict(trials.select("test", "test_label").unique(maintain_order=True).iter_rows())
            named = trials.select(CONDITION_LABELS).unique(maintain_order=True).sort("condition_no", nulls_last=True)
            conditions = dict(named.select("condition", "condition_label").iter_rows())
            is_balanced = "balanced" in checks.study.variants
            context = Context(models, tests, conditions, checks.alpha, checks.bound, is_balanced)
            if looks := [look for look in checks.looks if all(getattr(look, name) == grain[name] for name in GRAIN)]:
                own.append(stopping_finding(looks, context.models, checks.registered))
            asked = (one for one in checks_of_study(checks.study) if one.question and one.is_about(grain["source"]))
            own += [
                _make_finding(checks, check, rows, context)
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


def _make_finding(checks: Checks, check: CheckInfo, rows: CheckRows, context: Context) -> Finding:
    question = question_of(check, checks.study.design)
    usable = {name: _usable_rows(frame) for name, frame in rows.items()}
    if any(name not in usable or usable[name].is_empty() for name in check.needs):
        reason = "the warnings say why" if checks.warnings else "no answer here can be used for it"
        said = f"This could not be checked ({check.check}): {reason}."
        return Finding(check.check, question, _NOT_CHECKED, said)
    own = usable[check.needs[0]]
    verdict = ruled_finding(check.rule, own, context) if check.rule else FINDINGS[check.check](usable, context)
    warnings = tuple(warning for name in check.needs for warning in _status_warnings(rows[name]))
    columns = () if verdict.standing == _NOT_CHECKED else (*check.columns, *(("fit_status",) if warnings else ()))
    missed = could_be_found(check, own, context) if verdict.standing == "not found" else ()
    details = (*verdict.details, *missed, *warnings)
    return Finding(check.check, question, verdict.standing, verdict.sentence, details, columns)


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
        yield f"Caution: {kinds} of {count_text(fits.height, 'fit')}; the warnings say which and why."


def _usable_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that could be checked; NaN becomes null, because it sorts as the largest of all."""
    return (rows.filter(pl.col("status") != "failed") if "status" in rows.columns else rows).fill_nan(None)


_NAMED_AS_THEIR_CHECK: tuple[Callable[[CheckRows, Context], Verdict], ...] = (
    fit_findings.residuals, fit_findings.influence, fit_findings.corrections, fit_findings.equivalence,
    word_findings.variance_shares, word_findings.words, word_findings.same_words,
    answer_findings.token_limits, answer_findings.repetitions, answer_findings.option_order, answer_findings.refusals,
    choice_findings.first_option, choice_findings.order_effect, choice_findings.block_order,
    choice_findings.missing_answers, choice_findings.missing_bounds, choice_findings.left_out,
    choice_findings.games_ended, choice_findings.game_influence,
)  # fmt: skip
FINDINGS = {
    **{function.__name__: function for function in _NAMED_AS_THEIR_CHECK},
    "meta": pooled_effects,
    "nothing": found_by_chance,
    "counts": count_models,
    CALIBRATION: sampler_quality,
}
"""By the name of a check that asks a question and has no rule in checks.toml, what its rows come to."""


STOPPING = "stopping"
_QUESTION = "When did collecting end?"


def stopping_finding(looks: Sequence[Look], labels: Mapping[str, str], known: Registered | None) -> Finding:
    """Return the finding from the looks at one source, study version and variant; at least one look."""
    rules = list(dict.fromkeys(look.rule for look in looks))
    registered = None if known is None else registered_rule(document_of(known.registration))
    by_plan = looks_by_plan(looks).values()
    if registered is None:
        standing, rule = "note", "by a rule that was not registered"
    elif rules == [registered]:
        standing, rule = "not found", "by the rule that was registered"
    else:
        standing, rule = "caution", f"by another rule than the registered one ({registered})"
    several = f" There were {len(rules)} rules, one after the other; this is the last." if len(rules) > 1 else ""
    return Finding(
        STOPPING,
        _QUESTION,
        standing,
        f"It was to stop on precision, {rule}: {rules[-1]}.{several}",
        (
            rules[-1].sentences(looks[-1].outcome),
            _with_margin(looks),
            *(f"{labels.get(made[-1].model, made[-1].model)}: {looks_clause(made)}." for made in by_plan),
        ),
    )


def _with_margin(looks: Sequence[Look]) -> str:
    """Say that the interval of a run that ended is the one with the margin; how wide that is."""
    margins = sorted({cell.width_margin for look in looks for cell in look.widths if cell.width_margin is not None})
    span = "" if not margins else f" ({margins[0]:.2f} to {margins[-1]:.2f} times as wide)"
    return (
        "If a model stopped because its interval was narrow, its interval is its effect ± the width at that "
        f"look{span}: the model's own is then too narrow, because runs stop more readily if the variance is "
        "underestimated."
    )


_SAID: dict[str, Callable[..., str]] = {"number": number, "p": sentences.p_text, "percent": percent, "spread": spread}


class _Count(NamedTuple):
    """Say how many of how many have what the rule is about."""

    n: int
    total: int


class _Sentences(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        how, *digits = format_spec.split(" ")
        if isinstance(value, _Count):
            return sentences.count_of(*value, format_spec)
        if how in _SAID:
            return _SAID[how](value, *map(int, digits))
        return str(super().format_field(value, format_spec))


def ruled_finding(rule: Rule, rows: pl.DataFrame, context: Context) -> Verdict:
    """Return the verdict of a check's rule on its rows."""
    counted = rows.unique(rule.one_of, keep="first", maintain_order=True) if rule.one_of else rows
    flagged = counted.filter(pl.sql_expr(rule.caution))
    values: dict[str, Any] = {name: rows[name] for name in rows.columns}
    values |= {name: getattr(context, name) for name in ("reference", "other", "alpha", "bound")}
    values["caution"] = _Count(flagged.height, counted.height)
    details = [_said(text, values) for text in rule.details]
    if rule.each:
        details += [_said(rule.each, _labelled(row, context)) for row in flagged.to_dicts()]
    if rule.advice and flagged.height:
        details.append(rule.advice)
    return Verdict("caution" if flagged.height else "not found", _said(rule.sentence, values), tuple(details))


def could_be_found(check: CheckInfo, rows: pl.DataFrame, context: Context) -> Iterator[str]:
    """Yield sentences on what a check that found nothing could have found: its worst row, and none of n independent."""
    if check.found_nothing:
        worst = rows.with_columns(pl.sql_expr(check.worst).alias("worst")).drop_nulls("worst")
        for row in worst.sort("worst", descending=True, maintain_order=True).head(1).to_dicts():
            yield _said(check.found_nothing, _labelled(row, context))
    if check.none_of:
        looked_at = rows.unique(maintain_order=True).select(pl.sql_expr(check.none_of).alias("n"))["n"]
        if (n := int(looked_at.sum())) and not looked_at.null_count():
            most = percent(1 - 0.05 ** (1 / n), 1 if n < 3000 else 3)
            yield f"None of {n:,}: if independent, a proportion of {most} would have shown one in 95 % of such studies."


def _said(text: str, values: Mapping[str, Any]) -> str:
    return _Sentences().vformat(text, (), values)


def _labelled(row: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Return a row with labels for ids; of rows without tests or conditions, what there is."""
    labels: dict[str, Any] = {"model": context.model(row)}
    if "test" in row:
        labels |= {"test": context.test(str(row["test"])), "cell": context.cell(row)}
    if {"test", "condition"} <= set(row):
        labels |= {"condition": context.condition(row["condition"]), "in_condition": context.in_condition(row)}
    return {**row, **labels}
