"""`check()`: what a paper does not say about its models, answers and games and a reader should know. Every number is
made by a function of R/ (check_fits.R …); here only the way there and back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.calls.call import Call, answered, computed
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.result_rows import ID
from slant.analysis.calls.results import Progress, results
from slant.analysis.fitting.fits import FitResult, fit
from slant.analysis.questions.checks import check_calls
from slant.analysis.questions.checks.answer_findings import RETEST, served_rows
from slant.analysis.questions.checks.check_findings import Checks, findings, kept_calibrations
from slant.analysis.questions.checks.check_table import CheckInfo, checks_of_study, mixed_model_checks
from slant.analysis.questions.checks.count_finding import kept_count_models
from slant.analysis.questions.checks.nothing_finding import nothing_rows
from slant.analysis.questions.checks.registration import registered_study
from slant.analysis.questions.checks.sentences import Finding
from slant.analysis.questions.checks.trials import CELL, mixed_fit, read_trials, with_signs
from slant.analysis.questions.checks.word_findings import crossed_rows
from slant.analysis.questions.meta import pooling
from slant.analysis.questions.occasions import TABLE as RETESTS
from slant.analysis.questions.occasions import occasion_warnings, occasions_of, retest_calls
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.result_warnings import grouped_doubts, mixture_warnings
from slant.analysis.rows.study_choice import study_in
from slant.collector.arguments import checked_arguments
from slant.collector.errors import DatabaseError, UsageError
from slant.collector.keep.database import opens_once, reading
from slant.collector.keep.frames import frame_of
from slant.collector.records import Registration
from slant.collector.stopping.looks import read_looks
from slant.collector.studies.catalogue import Fit, Study, fits_of
from slant.collector.study.crossed_fits import CROSSED, crossed_fit

ALPHA = 0.05
BOUND = 0.1
_FITS = {
    "effects": "paper", "estimates": "words", "variances": "words", "leave_one_out": "leave_one_out",
    "over_words": CROSSED,
}  # fmt: skip
"""By the rows that checks read (see check_calls.py), the fit on which these rest."""
RESTS_ON = {"crossed": CROSSED, **{one.check: _FITS[one.reads] for one in mixed_model_checks() if one.reads in _FITS}}


@checked_arguments()
@opens_once
def check(
    db: str | Path,
    study: str | Study | None = None,
    source: str | None = None,
    measure: str | None = None,
    bound: float = BOUND,
    alpha: float = ALPHA,
    workers: Workers = None,
    refit: bool = False,
    progress: Progress | None = None,
    executor: Executor | None = None,
    registration: str | Path | Registration | None = None,
) -> Checks:
    """Check what `study` rests on, by its design (checks.toml has the table of them).

    Mixed models of counts: residuals, influence of prompts, words and wordings, the words of each model, corrections,
    nulls, limits, option order, refusals, skew. Forced choices: order of options and of blocks, missing answers and
    what they could hide, words and wordings that carry an effect, separation, limits. Games: order of options, missing
    rounds, games cut short, games that carry an index, lengths, limits. All: what was asked again (`collect --again`).
    `bound` is the smallest |d| that would matter, `alpha` the level of significance.

    What `calibrate()` has kept of its Bayesian fits is said, too: `rows["calibration"]`; what `permute()` has kept of
    conditions, and the effects of the variant null: `rows["nothing"]`.

    What was registered (`registration`: its file; without one, what runs were given) is compared with what was done.
    Fits are taken from the database where they are unchanged, and kept there. `workers` and `executor` as of `fit()`.
    Raises StudyError for a study that has nothing to check, DatabaseError without trials, RError without R.
    """
    if not (bound > 0 and 0 < alpha < 1):
        raise UsageError(f"The bound must be above 0 and alpha between 0 and 1, not {bound:g} and {alpha:g}.")
    study = study_in(db, study, check_calls.has_checks, "has anything to check")
    known = registered_study(db, study.name, registration)
    calls = retest_calls(db, study.name, source)
    if (known is not None or calls) and not check_calls.has_checks(study):
        checks = Checks(study, alpha, bound, {}, _grains(db, study, source), [], None)
        return _asked_again(checks, db, calls, executor or workers).after(known)
    checks = _check(db, study, source, measure, bound, alpha, executor or workers, refit, progress)
    nothing = nothing_rows(db, study.name, source, checks.rows)
    kept = kept_rows(db, study, source)
    checks = replace(checks, rows={**checks.rows, **kept, **nothing, **served_rows(db, study.name)})
    checks = replace(checks, looks=tuple(look for made in read_looks(Path(db), study.name).values() for look in made))
    checks = _asked_again(checks, db, calls, executor or workers)
    # compared again: a check may be a look at the results, too
    return checks if known is None else checks.after(registered_study(db, study.name, known.registration))


READ_ONLY = ("counts", "calibration")
"""Checks that compute nothing: they read what another command has kept."""


def kept_rows(db: str | Path, study: Study, source: str | None) -> dict[str, pl.DataFrame]:
    """Return the rows of the checks `READ_ONLY`; none of one of which nothing is kept."""
    counts = pl.DataFrame() if study.design.analyses.checked_view else kept_count_models(db, study, source)
    return {**({} if counts.is_empty() else {"counts": counts}), **kept_calibrations(db, study.name, source)}


def _grains(db: str | Path, study: Study, source: str | None) -> pl.DataFrame:
    """Return a row for each source, study version and variant: all that there is to say of a study without checks."""
    with reading(db) as connection:
        rows = frame_of(connection.view("trials").select(", ".join(("study", *GRAIN)))).filter(study=study.name)
    return rows.select(GRAIN).unique() if source is None else rows.filter(source=source).select(GRAIN).unique()


def _check(
    db: str | Path,
    study: Study,
    source: str | None,
    measure: str | None,
    bound: float,
    alpha: float,
    workers: Workers,
    refit: bool,
    progress: Progress | None,
) -> Checks:
    mixtures = mixture_warnings(db, study.name, source, measure)
    if study.design.analyses.checked_view:
        answers = check_calls.read_answers(db, study, source, measure)
        of_answers = list(
            check_calls.calls_of_answers(answers, study, alpha, check_calls.read_profiles(db, study, source))
        )
        rows, check_warnings = run_calls(of_answers, workers, progress)
        return Checks(study, alpha, bound, rows, answers, [*mixtures, *check_warnings], None)
    definition = mixed_fit(study)
    trials = read_trials(db, study, source, measure)
    of_trials = list(check_calls.calls_of_trials(trials, definition, alpha))
    to_make = fits_to_make(definition, fits_of(study).get(CROSSED, crossed_fit(definition)))
    stages = [*[trials.select(CELL).n_unique()] * len(to_make), len(of_trials) + len(RESTS_ON)]
    how: dict[str, Any] = {"source": source, "measure": measure, "workers": workers, "refit": refit}
    fits: dict[str, FitResult] = {}
    for number, (name, check_fit) in enumerate(to_make.items()):
        fit_study = replace(study, fits={check_fit.name: check_fit})
        made = fit(db, fit_study, check_fit.name, **how, progress=_stage(progress, stages, number))
        fits[name] = of_sources(made, trials["source"].unique())
    calls = [*of_trials, *calls_of_fits(fits, alpha, bound)]
    rows, check_warnings = run_calls(calls, workers, _stage(progress, stages, len(to_make)))
    check_warnings += _add_rows_of_fits(rows, fits, alpha, workers)
    of_fits = map(str, grouped_doubts(made.diagnostics for made in fits.values()))
    in_order = {one.check: rows[one.check] for one in mixed_model_checks() if one.check in rows}
    not_kept = next((result.not_kept for result in fits.values() if result.not_kept), None)
    return Checks(study, alpha, bound, in_order, trials, [*mixtures, *of_fits, *check_warnings], not_kept)


def _add_rows_of_fits(
    rows: dict[str, pl.DataFrame], fits: Mapping[str, FitResult], alpha: float, workers: Workers
) -> list[str]:
    """Add effects over words, what they come to, and the status of each fit; return warnings of the pooling."""
    warnings: list[str] = []
    if CROSSED in fits:
        rows["crossed"] = with_signs(crossed_rows(fits[CROSSED]), rows.get("refusals"))
        if (meta := pooling(rows["crossed"], alpha)) is not None:
            pooled, warnings = run_calls([("meta", meta)], workers, None)
            rows.update(pooled)
    rests = {name: fits[on] for name, on in RESTS_ON.items() if name in rows and on in fits}
    rows.update({name: with_status(rows[name], result) for name, result in rests.items()})
    return warnings


def _asked_again(checks: Checks, db: str | Path, calls: Sequence[Call], workers: Workers) -> Checks:
    """Return the same with what trials that were asked again say, `rows["retest"]`; as it is where none were."""
    if not calls:
        return checks
    kept = results(db, calls, workers=workers, raises=False)
    warnings = [*checks.warnings, *occasion_warnings(occasions_of(db, checks.study.name))]
    return replace(checks, rows={**checks.rows, RETEST: kept.frames[RETESTS].drop(ID)}, warnings=warnings)


def _stage(progress: Progress | None, stages: Sequence[int], number: int) -> Progress | None:
    """Return the progress of one stage as that of all of them; what a stage need not do again counts as done."""
    if progress is None:
        return None
    offset = sum(stages[: number + 1])
    return lambda done, total: progress(offset - total + done, sum(stages))


def with_status(rows: pl.DataFrame, result: FitResult) -> pl.DataFrame:
    """Add `fit_status` to rows: what rests on a fit that is singular, say, has it in its own row."""
    status = result.diagnostics.select(*CELL, fit_status="status")
    return rows.join(status, on=CELL, how="left", maintain_order="left")


def with_words(formula: str) -> str:
    """Return a mixed model with words' intercepts. One that has words or random slopes already becomes that of
    intercepts alone: a second intercept of the same words would be fitted to nothing."""
    if not re.search(r"\(\s*(?!1\s*\|)[^()|]*\||\|\s*item\s*\)", formula):
        return f"{formula} + (1 | item)"
    fixed = re.sub(r"\s*\+\s*\([^()]*\|[^()]*\)", "", formula)
    return f"{fixed} + (1 | wording) + (1 | item)"


def fits_to_make(paper: Fit, crossed: Fit) -> dict[str, Fit]:
    """Return the paper's mixed model; the same with an effect of the word; the one that generalises over words and
    wordings; and the paper's without each prompt in turn.
    """
    fits = {"paper": paper, CROSSED: crossed}
    fits["words"] = replace(paper, name=f"{paper.name}_words", formula=with_words(paper.formula or ""))
    fits["leave_one_out"] = replace(paper, name=f"{paper.name}_leave_one_out", engine="leave_one_out", settings={})
    return fits


def same_words_rows(db: str | Path, study: Study, source: str | None, workers: Workers) -> pl.DataFrame | None:
    """Return the rows of the check `same_words` alone; None if no two models were asked the same test."""
    only = [one for one in mixed_model_checks() if one.check == "same_words"]
    try:
        trials = read_trials(db, study, source, None)
    except DatabaseError:  # only people answered
        return None
    calls = check_calls.calls_of_trials(trials, mixed_fit(study), ALPHA, only)
    rows = pl.concat([answered(call, workers) for _, call in calls], how="vertical_relaxed")
    return None if rows.is_empty() else rows


def calls_of_fits(fits: Mapping[str, FitResult], alpha: float, bound: float) -> check_calls.Calls:
    """Yield the checks of estimates and variances, as far as there are `fits` (see fits_to_make()): they fit nothing
    again.
    """
    keep = [*CELL, "term", "estimate", "std_error", "df", "p_value"]
    estimates = {name: result.table.select(keep) for name, result in fits.items() if name != CROSSED}
    frames = {"effects": estimates["paper"].filter(pl.col("term") != "intercept")}
    over_words = crossed_rows(fits[CROSSED]).drop_nulls("p_value")
    if over_words.height:
        columns = (*CELL, "estimate", "std_error", "df", "p_value", "sd", "generalises_to")
        frames["over_words"] = over_words.select(columns)
    if "words" in fits:
        frames["estimates"] = estimates["paper"]
        frames["leave_one_out"] = estimates["leave_one_out"]
        frames["variances"] = fits["words"].variances.select(*CELL, "group", "term", "variance")
    given = {"alpha": alpha, "bound": bound, "with_words": estimates.get("words")}
    yield from check_calls.calls_of(mixed_model_checks(), frames, given)


def run_calls(
    calls: Sequence[tuple[str, Call]], workers: Workers, progress: Progress | None
) -> tuple[dict[str, pl.DataFrame], list[str]]:
    answers: dict[int, pl.DataFrame] = {}
    warnings: list[str] = []
    with closing(computed([call for _, call in calls], workers)) as finished:
        for done, (number, answer) in enumerate(finished, start=1):
            name, _ = calls[number]
            if answer.has_died:
                warnings.append(f"Not checked ({name}): {answer.error[0]}")
            elif not answer.error:
                answers[number] = answer.frames[""]
            warnings += [f"Caution ({name}): {text.partition(': ')[2]}" for text in answer.messages]
            if answer.error and not answer.has_died:
                warnings.append(f"Caution ({name}): {' '.join(' '.join(answer.error).split())}")
            if progress:
                progress(done, len(calls))
    rows = {}
    for name in dict.fromkeys(name for name, _ in calls):
        parts = [answers[n] for n, (check, _) in enumerate(calls) if check == name and n in answers]
        if parts:
            rows[name] = pl.concat(parts, how="vertical_relaxed")
    said_by_r = (made.with_columns(fit=pl.lit(name)) for name, made in rows.items() if "status" in made.columns)
    return rows, [*dict.fromkeys(warnings), *map(str, grouped_doubts(said_by_r))]


def of_sources(made: FitResult, sources: pl.Series) -> FitResult:
    """Return a fit without the rows of sources that are not checked."""
    frames = {name: getattr(made, name) for name in ("table", "diagnostics", "variances", "messages")}
    return replace(made, **{name: rows.filter(pl.col("source").is_in(list(sources))) for name, rows in frames.items()})


def quick_checks(db: str | Path, study: Study, fits: Mapping[str, FitResult], workers: Workers = None) -> Checks:
    """Check what needs no other fit than `fits`, which are by name and as `fit()` returns them.

    Raises RError without R, DatabaseError where no answers are left to check.
    """
    if study.design.analyses.checked_view:
        trials = check_calls.read_answers(db, study, None, None)
        calls = list(check_calls.calls_of_answers(trials, study, ALPHA, check_calls.read_profiles(db, study, None)))
        rows, warnings = run_calls(calls, workers, None)
    else:
        trials = read_trials(db, study, None, None)
        paper = mixed_fit(study)
        without_fit = [one for one in mixed_model_checks() if not one.refits]
        calls = list(check_calls.calls_of_trials(trials, paper, ALPHA, without_fit))
        own_fits = {"paper": fits.get(paper.name), CROSSED: fits.get(CROSSED)}
        sources = trials["source"].unique()
        made = {name: of_sources(result, sources) for name, result in own_fits.items() if result is not None}
        if len(made) == len(own_fits):
            calls += calls_of_fits(made, ALPHA, BOUND)
        rows, warnings = run_calls(calls, workers, None)
        _add_rows_of_fits(rows, made, ALPHA, workers)
    rows |= {**kept_rows(db, study, None), **served_rows(db, study.name)}
    return Checks(study, ALPHA, BOUND, rows, trials, warnings, None)


def findings_made(checks: Checks) -> list[tuple[dict[str, str], list[Finding]]]:
    """Return `findings()` without those that lack their rows, because they would need another fit."""
    lacking = {check.check for check in checks_not_made(checks)}
    return [(grain, [one for one in its if one.check not in lacking]) for grain, its in findings(checks)]


def checks_not_made(checks: Checks) -> list[CheckInfo]:
    """Return the checks of the design that lack their rows, but those that another command keeps."""
    sources = checks.trials["source"].unique()
    known = (one for one in checks_of_study(checks.study) if any(map(one.is_about, sources)))
    asked = [check for check in known if check.question and not check.kept_by]
    return [check for check in asked if any(name not in checks.rows for name in check.needs)]
