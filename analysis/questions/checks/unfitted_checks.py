"""The checks that fit no model again: they are made in seconds, also where nobody has typed `analyze check`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from slant.analysis.calls.executors import Workers
from slant.analysis.fitting.fits import FitResult
from slant.analysis.questions.checks.check_findings import findings
from slant.analysis.questions.checks.check_table import CheckInfo, checks_of
from slant.analysis.questions.checks.design_checks import DESIGN_CHECKS
from slant.analysis.questions.checks.sentences import Finding
from slant.analysis.questions.checks.served_findings import served_rows
from slant.analysis.questions.checks.study_checks import (
    ALPHA,
    BOUND,
    RESTS_ON,
    Checks,
    calls_of_fits,
    design_calls,
    kept_rows,
    run_calls,
    trial_calls,
    with_status,
)
from slant.analysis.questions.checks.trials import mixed_fit, read_trials, with_signs
from slant.analysis.questions.checks.word_findings import crossed_rows
from slant.analysis.questions.meta import pooling
from slant.collector.studies.catalogue import Study
from slant.collector.study.crossed_fits import CROSSED

_REFIT = ("residuals", "option_order")  # each fits the study's mixed model again


def quick_checks(db: str | Path, study: Study, fits: Mapping[str, FitResult], workers: Workers = None) -> Checks:
    """Check what needs no other fit than `fits`, which are by name and as `fit()` returns them.

    Raises RError without R, DatabaseError where no answers are left to check.
    """
    if study.design.name in DESIGN_CHECKS:
        own_checks = DESIGN_CHECKS[study.design.name]
        trials = own_checks.read(db, study, None, None)
        rows, warnings = run_calls(list(design_calls(own_checks, trials, ALPHA)), workers, None)
    else:
        trials = read_trials(db, study, None, None)
        paper = mixed_fit(study)
        calls = [(name, call) for name, call in trial_calls(trials, paper, ALPHA) if name not in _REFIT]
        own_fits = {"paper": fits.get(paper.name), CROSSED: fits.get(CROSSED)}
        made = {name: result for name, result in own_fits.items() if result is not None}
        if len(made) == len(own_fits):
            calls += calls_of_fits(made["paper"], made[CROSSED], ALPHA, BOUND)
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
    asked = [check for check in checks_of(checks.study.design.name) if check.question and not check.kept_by]
    return [check for check in asked if any(name not in checks.rows for name in check.needs)]
