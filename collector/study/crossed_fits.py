"""Derive fits from a study's own mixed model that test what a sceptic asks: does its effect hold for other words and
wordings, and for counts that are not normally distributed?

Read the table of engines, inst/engines.csv: what may fit the trials of a study. R and the analysis read the same
file; this module is for code that names engines without R.

Columns: `engine` (its name in study files), `what` (in words), `r_function`, `packages` (of R), `needs` (keys of the
study's fit), `random` (whether its formula must have random effects: `yes`, `no`, or empty if that doesn't matter),
`columns` of its view that it always uses, `arguments` of the R function (`name`, or `name=what it is called in the
study`; `*`: all settings),
`settings` that a caller may set differently than the study, `asides` (settings that change no number), `tables` that
only this engine keeps, `files` it writes (argument=ending), `shown_as` (the fit in words), `are_of_cells`,
`takes_all_cores`, `quick` (`report`: a report makes such a fit if it is missing; `yes`: only for a printed number;
`no`: it takes minutes). Several values of a cell are separated by a space."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slant.collector.errors import StudyError, check_known
from slant.collector.study.records import Fit
from slant.collector.system.shipped_files import csv_rows, engines_file

WORDS_OF_R = frozenset({"if", "else", "repeat", "while", "function", "for", "next", "break", "in"})
"""List R's reserved words of small letters: what a formula names can't be called so."""

_SET_BY_STUDIES = ("text", "id", "removed_words")  # if topics are searched; no caller may change them


@functools.cache
def engine_rows() -> tuple[dict[str, str], ...]:
    """Return a dict per row of the table, in its order."""
    return tuple(csv_rows(engines_file()))


def engine_names() -> tuple[str, ...]:
    """Return the engines that a study's fit can name."""
    return tuple(row["engine"] for row in engine_rows())


def check_engine(fit: Fit, where: str) -> None:
    """Raise StudyError if a fit lacks a key that its engine needs, UnknownNameError if there is no such engine, or it
    has no such setting. Nothing else of a study's file reaches R, whose functions also take paths of files to write."""
    check_known(f"engine for {where}", fit.engine, engine_names())
    [row] = (row for row in engine_rows() if row["engine"] == fit.engine)
    if missing := [key for key in row["needs"].split() if getattr(fit, key) is None]:
        raise StudyError(f'{where} needs the key "{missing[0]}" for {fit.engine}.')
    for name in fit.settings:
        check_known(f"setting of {fit.engine}, for {where}", name, (*row["settings"].split(), *_SET_BY_STUDIES))


def engine_columns(engine: str) -> tuple[str, ...]:
    """Return the columns of its view that such a fit uses, whatever the study says of it."""
    return next((tuple(row["columns"].split()) for row in engine_rows() if row["engine"] == engine), ())


def needs_contrast(engine: str) -> bool:
    """Return whether a fit of this engine has to name what is compared; True for an engine that slant doesn't know."""
    return all("contrast" in row["needs"].split() for row in engine_rows() if row["engine"] == engine)


def takes_random_effects(engine: str) -> bool | None:
    """Return whether the formula of such a fit must have random effects; None if that doesn't matter."""
    needs = next((row["random"] for row in engine_rows() if row["engine"] == engine), "")
    return {"yes": True, "no": False}.get(needs)


def lists_levels(engine: str) -> bool:
    """Return whether the fit makes factors of text columns by the levels that the study lists."""
    return any("levels" in row["arguments"].split() for row in engine_rows() if row["engine"] == engine)


CROSSED = "crossed"
"""Name this fit in every study that defines none, and its engine."""
CENSORED = "censored"
"""Name the lognormal model of counts in steps, and its engine."""
BAYES = "brms"
"""Name the Bayesian models of these counts, whose words and wordings vary, too, and their engine."""
D_SCORE = "d_score"
"""The same of people's response times."""
STEP = "token_step"
"""Name the column with the step in which a row's model counts."""
CELLS = ("model", "test")


def cell_model(fits: dict[str, Fit]) -> Fit | None:
    """Return the first linear mixed model of these fits that compares conditions by cell (model and test); None if
    there is none.
    """
    of_cells = (fit for fit in fits.values() if fit.engine == "lme4" and fit.by == CELLS and fit.levels)
    return next((fit for fit in of_cells if fit.settings.get("family", "gaussian") == "gaussian"), None)


def crossed_fit(own: Fit, word: str = "item") -> Fit:
    """Return `own`, a mixed model whose first factor is the condition, with an intercept and an effect of the condition
    for each wording and each word; the result is set next to its own. `word` may be nested: "group:item".
    """
    contrast = next(iter(own.levels))
    slopes = " + ".join(f"(1 + {contrast} || {group})" for group in ("wording", word))
    formula = f"{own.fitted} ~ {contrast} + {slopes}"
    return _of_first_factor(own, CROSSED, {"reference_model": own.formula}, formula=formula)


def _of_first_factor(own: Fit, engine: str, settings: Mapping[str, Any], **changes: Any) -> Fit:
    """Return a fit named after its engine that compares the levels of the first factor of `own`, and no other."""
    contrast = next(iter(own.levels))
    changes |= {"contrast": contrast, "levels": {contrast: own.levels[contrast]}}
    return replace(own, name=engine, engine=engine, settings=settings, **changes)


def bayes_fit(own: Fit, word: str = "item") -> Fit:
    """Fit lognormal counts known to a step, with the terms of `crossed_fit`; a caller may set another family.

    There is a model per cell, so its chains are shorter than those of one model of a whole study.
    """
    crossed = crossed_fit(own, word)
    settings = {"family": "lognormal", "step": STEP, "chains": 4, "iterations": 1500, "warmup": 500}
    return replace(crossed, name=BAYES, engine=BAYES, settings=settings)


def d_score_fit(own: Fit) -> Fit:
    """Return D of people's response times, of the conditions of `own`: the algorithm leaves out what is to be."""
    columns = {"unit": "participant", "error": "is_error", "phase": "phase"}
    fit = _of_first_factor(own, D_SCORE, columns, formula=None, outcome="response_time_ms")
    return replace(fit, drop_flags=(), drop_outcomes=(), where={"source": ("human",)})


def censored_fit(own: Fit, word: str = "item") -> Fit:
    """Fit the condition effect on lognormal counts known to a step; errors are clustered by wording and word, with
    `word` as in `crossed_fit`.
    """
    return _of_first_factor(own, CENSORED, {"cluster": ("wording", word)}, formula=None, outcome=own.fitted)
