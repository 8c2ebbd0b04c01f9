"""The checks that fit no model again: they are made in seconds, also where nobody has typed `analyze check`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from slant.analysis.calls.executors import Workers
from slant.analysis.fitting.fits import FitResult
from slant.analysis.questions.checks.check_calls import calls_of_answers, calls_of_trials, read_answers, read_profiles
from slant.analysis.questions.checks.check_findings import Checks, findings
from slant.analysis.questions.checks.check_table import CheckInfo, checks_of_study, mixed_model_checks
from slant.analysis.questions.checks.sentences import Finding
from slant.analysis.questions.checks.served_findings import served_rows
from slant.analysis.questions.checks.study_checks import (
    ALPHA,
    BOUND,
    RESTS_ON,
    calls_of_fits,
    kept_rows,
    of_sources,
    run_calls,
    with_status,
)
from slant.analysis.questions.checks.trials import mixed_fit, read_trials, with_signs
from slant.analysis.questions.checks.word_findings import crossed_rows
from slant.analysis.questions.meta import pooling
from slant.collector.studies.catalogue import Study
from slant.collector.study.crossed_fits import CROSSED


def quick_checks(db: str | Path, study: Study, fits: Mapping[str, FitResult], workers: Workers = None) -> Checks:
    """Check what needs no other fit than `fits`, which are by name and as `fit()` returns them.

    Raises RError without R, DatabaseError where no answers are left to check.
    """
    if study.design.checked_view:
        trials = read_answers(db, study, None, None)
        rows, warnings = run_calls(
            list(calls_of_answers(trials, study, ALPHA, read_profiles(db, study, None))), workers, None
        )
    else:
        trials = read_trials(db, study, None, None)
        paper = mixed_fit(study)
        without_fit = [one for one in mixed_model_checks() if not one.refits]
        calls = list(calls_of_trials(trials, paper, ALPHA, without_fit))
        own_fits = {"paper": fits.get(paper.name), CROSSED: fits.get(CROSSED)}
        sources = trials["source"].unique()
        made = {name: of_sources(result, sources) for name, result in own_fits.items() if result is not None}
        if len(made) == len(own_fits):
            calls += calls_of_fits(made, ALPHA, BOUND)
        rows, warnings = run_calls(calls, workers, None)
        if CROSSED in made:
            rows["crossed"] = with_signs(crossed_rows(made[CROSSED]), rows.get("refusals"))
            if (meta := pooling(rows["crossed"], ALPHA)) is not None:
                rows |= run_calls([("meta", meta)], workers, None)[0]
        rests = {name: made[on] for name, on in RESTS_ON.items() if name in rows and on in made}
        rows |= {name: with_status(rows[name], result) for name, result in rests.items()}
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
