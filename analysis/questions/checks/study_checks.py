"""`check()`: what a paper does not say about its models, answers and games and a reader should know. Every number is
made by a function of R/ (check_residuals.R …); here only the way there and back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

import polars as pl

from slant.analysis.calls.call import Call, answered, computed
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.result_rows import ID
from slant.analysis.calls.results import Progress, results
from slant.analysis.fitting.fits import FitResult, fit
from slant.analysis.questions.checks.calibration_finding import kept_calibrations
from slant.analysis.questions.checks.count_finding import kept_count_models
from slant.analysis.questions.checks.design_checks import DESIGN_CHECKS, DesignChecks, has_checks
from slant.analysis.questions.checks.nothing_finding import nothing_rows
from slant.analysis.questions.checks.registration import REGISTRATION, Registered, registered_study
from slant.analysis.questions.checks.retest_check import RETEST
from slant.analysis.questions.checks.served_findings import served_rows
from slant.analysis.questions.checks.trials import CELL, mixed_fit, read_trials, refusals_call, with_signs
from slant.analysis.questions.checks.word_findings import crossed_rows
from slant.analysis.questions.meta import pooling
from slant.analysis.questions.retests import TABLE as RETESTS
from slant.analysis.questions.retests import occasion_warnings, occasions_of, retest_calls
from slant.analysis.rows.cells import GRAIN
from slant.analysis.rows.result_warnings import doubtful_fit_warnings, mixture_warnings
from slant.analysis.rows.study_choice import study_in
from slant.collector.arguments import checked_arguments
from slant.collector.errors import UsageError
from slant.collector.keep.database import opens_once, reading
from slant.collector.keep.frames import frame_of
from slant.collector.records import Registration
from slant.collector.stopping.looks import Look, read_looks
from slant.collector.studies.catalogue import Fit, Study, fits_of
from slant.collector.study.crossed_fits import CROSSED, crossed_fit

ALPHA = 0.05
BOUND = 0.1
RESTS_ON = {
    "corrections": "paper",
    "influence": "leave_one_out",
    "variance_shares": "words",
    "words": "words",
    "crossed": CROSSED,
    "corrections_over_words": CROSSED,
    "equivalence": CROSSED,
}


@dataclass(frozen=True)
class Checks:
    """What `check()` found.

    rows: by name of the check, its data frame as R returns it; each begins with source, study_version, variant, model
    and test. checks.csv says which there are. Those that rest on fits end with `fit_status`: not "ok" is
    doubtful.
    trials: the rows that were checked. warnings: what is doubtful, in sentences. not_kept: why fits could not be
    written to the database; None if they were. alpha, bound: as they were given. registered: the study next to what
    was registered of it, None if nothing was; its deviations are `rows["registration"]`, too. looks: those at the
    width of intervals, of answers whose collecting was to end on precision.
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
        """For notebooks."""
        rows = "".join(f"<tr><td>{escape(mark)}</td><td>{escape(said)}</td></tr>" for mark, said in self._verdicts())
        warnings = "".join(f"<p>{escape(warning)}</p>" for warning in self.warnings)
        return f"<p>{escape(self._heading)}</p><table>{rows}</table>{warnings}"

    @property
    def _heading(self) -> str:
        kept = f" Not kept: {self.not_kept}" if self.not_kept else ""
        return f"Checks of {self.study.name}: .rows has the numbers of each ({', '.join(self.rows)}).{kept}"

    def _verdicts(self) -> Iterator[tuple[str, str]]:
        from slant.analysis.questions.checks.check_findings import findings  # which needs this class

        for grain, of_grain in findings(self):
            yield f"{grain['source']}:", f"variant {grain['variant']}, version {grain['study_version']}"
            yield from ((finding.standing, finding.verdict) for finding in of_grain)

    def beside(self, registered: Registered | None) -> Checks:
        """Return the same next to what was registered."""
        rows = self.rows if registered is None else {**self.rows, REGISTRATION: registered.deviations}
        return replace(self, rows=rows, registered=registered)

    def asked_again(self, db: str | Path, calls: Sequence[Call], workers: Workers) -> Checks:
        """Return the same with what trials that were asked again say, `rows["retest"]`; as it is where none were."""
        if not calls:
            return self
        kept = results(db, calls, workers=workers, raises=False)
        warnings = [*self.warnings, *occasion_warnings(occasions_of(db, self.study.name))]
        return replace(self, rows={**self.rows, RETEST: kept.frames[RETESTS].drop(ID)}, warnings=warnings)


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
    """Check what `study` rests on, by its design (checks.csv has the table of them).

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
    study = study_in(db, study, has_checks, "has anything to check")
    known = registered_study(db, study.name, registration)
    calls = retest_calls(db, study.name, source)
    if (known is not None or calls) and not has_checks(study):
        checks = Checks(study, alpha, bound, {}, _grains(db, study, source), [], None)
        return checks.asked_again(db, calls, executor or workers).beside(known)
    checks = _check(db, study, source, measure, bound, alpha, executor or workers, refit, progress)
    nothing = nothing_rows(db, study.name, source, checks.rows)
    kept = kept_rows(db, study, source)
    checks = replace(checks, rows={**checks.rows, **kept, **nothing, **served_rows(db, study.name)})
    checks = replace(checks, looks=tuple(look for made in read_looks(Path(db), study.name).values() for look in made))
    checks = checks.asked_again(db, calls, executor or workers)
    # compared again: a check may be a look at the results, too
    return checks if known is None else checks.beside(registered_study(db, study.name, known.registration))


READ_ONLY = ("counts", "calibration")
"""Checks that compute nothing: they read what another command has kept."""


def kept_rows(db: str | Path, study: Study, source: str | None) -> dict[str, pl.DataFrame]:
    """Return the rows of the checks `READ_ONLY`; none of one of which nothing is kept."""
    counts = pl.DataFrame() if study.design.name in DESIGN_CHECKS else kept_count_models(db, study, source)
    return {**({} if counts.is_empty() else {"counts": counts}), **kept_calibrations(db, study.name, source)}


def _grains(db: str | Path, study: Study, source: str | None) -> pl.DataFrame:
    """Return the source, study version and variant of each answer: all that there is to say of a study without
    checks.
    """
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
    if study.design.name in DESIGN_CHECKS:
        own_checks = DESIGN_CHECKS[study.design.name]
        answers = own_checks.read(db, study, source, measure)
        rows, check_warnings = run_calls(list(design_calls(own_checks, answers, alpha)), workers, progress)
        return Checks(
            study,
            alpha,
            bound,
            rows,
            answers,
            [*mixture_warnings(db, study.name, source, measure), *check_warnings],
            None,
        )
    definition = mixed_fit(study)
    trials = read_trials(db, study, source, measure)
    of_trials = list(trial_calls(trials, definition, alpha))
    to_make = fits_to_make(definition, fits_of(study).get(CROSSED, crossed_fit(definition)))
    stages = [*[trials.select(CELL).n_unique()] * len(to_make), len(of_trials) + len(RESTS_ON)]
    fits: dict[str, FitResult] = {}
    for number, (name, check_fit) in enumerate(to_make.items()):
        fit_study = replace(study, fits={check_fit.name: check_fit})
        fits[name] = fit(
            db,
            fit_study,
            check_fit.name,
            source=source,
            measure=measure,
            workers=workers,
            refit=refit,
            progress=_stage(progress, stages, number),
        )
    calls = [*of_trials, *_fit_calls(fits, alpha, bound)]
    rows, check_warnings = run_calls(calls, workers, _stage(progress, stages, len(to_make)))
    rows["crossed"] = with_signs(crossed_rows(fits[CROSSED]), rows.get("refusals"))
    if (meta := pooling(rows["crossed"], alpha)) is not None:
        pooled, meta_warnings = run_calls([("meta", meta)], workers, None)
        rows |= pooled
        check_warnings += meta_warnings
    rows |= {name: with_status(rows[name], fits[fit_name]) for name, fit_name in RESTS_ON.items() if name in rows}
    return Checks(
        study,
        alpha,
        bound,
        rows,
        trials,
        [*mixture_warnings(db, study.name, source, measure), *_fit_warnings(fits), *check_warnings],
        next((result.not_kept for result in fits.values() if result.not_kept), None),
    )


def design_calls(checks: DesignChecks, trials: pl.DataFrame, alpha: float) -> Iterator[tuple[str, Call]]:
    """Each source, version and variant is corrected for the number of its own tests."""
    for _, rows in trials.group_by(*GRAIN, maintain_order=True):
        yield from checks.calls(rows, alpha)


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
    """Return a mixed model with an intercept of each word. One that has words or random slopes already becomes that of
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
    fits["leave_one_out"] = replace(paper, name=f"{paper.name}_leave_one_out", engine="leave_one_out")
    return fits


def trial_calls(trials: pl.DataFrame, paper: Fit, alpha: float) -> Iterator[tuple[str, Call]]:
    """Check of the trials themselves, one job for each model, so that all cores have something to do."""
    contrast = next(iter(paper.levels))
    levels = list(paper.levels[contrast])
    model = {"by": list(CELL), "formula": paper.formula, "levels": {contrast: levels}, "contrast": contrast}
    sides = {"by": list(CELL), "contrast": contrast, "levels": levels}
    for _, rows in trials.group_by(*GRAIN, "model", maintain_order=True):
        answered = rows.filter(pl.col("is_valid").fill_null(False))
        yield "residuals", Call("check_residuals", answered, model, packages=("lme4",))
        yield "option_order", Call("check_option_order", answered, model, packages=("lmerTest",))
        yield "skew", Call("check_skew", answered, {**sides, "alpha": alpha})
        yield "refusals", refusals_call(rows, paper)
        yield "repetitions", Call("check_repetitions", answered, {"by": list(CELL), "contrast": contrast})
        yield "token_limits", Call("check_token_limits", rows, {"by": list(CELL)})
        yield "effects_by_word", Call("check_effects_by_word", answered, sides)
    yield from (("same_words", call) for call in calls_of_same_words(trials, paper, alpha))


def calls_of_same_words(trials: pl.DataFrame, paper: Fit, alpha: float = ALPHA) -> Iterator[Call]:
    """How effects at words correlate between models, a call for each source, version and variant."""
    contrast = next(iter(paper.levels))
    arguments = {"by": list(GRAIN), "contrast": contrast, "levels": list(paper.levels[contrast]), "alpha": alpha}
    columns = [*CELL, contrast, "wording", "item", "tokens", *(name for name in ("group",) if name in trials.columns)]
    for _, rows in trials.filter(pl.col("is_valid").fill_null(False)).group_by(*GRAIN, maintain_order=True):
        yield Call("check_same_words", rows.select(columns), arguments)


def same_words_rows(db: str | Path, study: Study, source: str | None, workers: Workers) -> pl.DataFrame | None:
    """Return the rows of the check `same_words` alone; None if no two models were asked the same test."""
    calls = list(calls_of_same_words(read_trials(db, study, source, None), mixed_fit(study)))
    rows = pl.concat([answered(call, workers) for call in calls], how="vertical_relaxed")
    return None if rows.is_empty() else rows


def calls_of_fits(paper: FitResult, crossed: FitResult, alpha: float, bound: float) -> Iterator[tuple[str, Call]]:
    """Return the checks of the paper's effects and of those over words and wordings: they fit nothing again."""
    by = list(CELL)
    columns = [*by, "term", "estimate", "std_error", "df", "p_value"]
    effects = paper.table.select(columns).filter(pl.col("term") != "intercept")
    by_model = [name for name in by if name != "test"]
    yield "corrections", Call("check_corrections", effects, {"by": by_model, "alpha": alpha})
    over_words = crossed_rows(crossed).drop_nulls("p_value")
    if over_words.height:
        over_words = over_words.select(*by, "estimate", "std_error", "df", "p_value", "sd", "generalises_to")
        yield "corrections_over_words", Call("check_corrections", over_words, {"by": list(GRAIN), "alpha": alpha})
        yield "equivalence", Call("check_equivalence", over_words, {"by": by, "alpha": alpha, "bound": bound})


def _fit_calls(fits: dict[str, FitResult], alpha: float, bound: float) -> Iterator[tuple[str, Call]]:
    """Check of estimates and variances that have been fitted."""
    by = list(CELL)
    keep = [*by, "term", "estimate", "std_error", "df", "p_value"]
    estimates = {name: fits[name].table.select(keep) for name in ("paper", "words", "leave_one_out")}
    variances = fits["words"].variances.select(*by, "group", "term", "variance")
    yield from calls_of_fits(fits["paper"], fits[CROSSED], alpha, bound)
    yield "influence", Call("check_influence", estimates["leave_one_out"], {"by": by, "alpha": alpha})
    yield "variance_shares", Call("check_variance_shares", variances, {"by": by})
    arguments = {"with_words": estimates["words"], "by": by, "alpha": alpha}
    yield "words", Call("check_word_effects", estimates["paper"], arguments)


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
            warnings += [f"Doubtful ({name}): {text.partition(': ')[2]}" for text in answer.messages]
            if answer.error and not answer.has_died:
                warnings.append(f"Doubtful ({name}): {' '.join(' '.join(answer.error).split())}")
            if progress:
                progress(done, len(calls))
    rows = {}
    for name in dict.fromkeys(name for name, _ in calls):
        parts = [answers[n] for n, (check, _) in enumerate(calls) if check == name and n in answers]
        if parts:
            rows[name] = pl.concat(parts, how="vertical_relaxed")
            warnings += list(_cell_warnings(name, rows[name]))
    return rows, warnings


def _cell_warnings(name: str, rows: pl.DataFrame) -> Iterator[str]:
    """Yield what R said of single cells: warnings and failures, each with the cells that it holds for."""
    if "status" not in rows.columns:
        return
    for (status, text), part in rows.filter(pl.col("status") != "ok").group_by(
        "status", "messages", maintain_order=True
    ):
        cells = (
            part.select(pl.concat_str("model", "test", separator=", "))
            .to_series()
            .drop_nulls()
            .unique(maintain_order=True)
        )
        yield f"Doubtful: {name} is {status} for {'; '.join(cells) or 'all cells'}. {text}"


def _fit_warnings(fits: dict[str, FitResult]) -> Iterator[str]:
    for result in fits.values():
        for warning in doubtful_fit_warnings(result.diagnostics, are_reduced=result.engine == CROSSED):
            yield f"Doubtful: {warning}"
