"""Check [fits.*] and [sensitivity.*] for `collect studies validate`: known views, columns, levels and priors.

R checks formulas and priors against its own lists before anything is fitted. This check reports a mistake before any
answer is paid for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from slant.collector.designs.study import Study
from slant.collector.errors import NEAR
from slant.collector.keep.database import writing
from slant.collector.keep.view_heads import read_view_heads
from slant.collector.records import WITHOUT_ANSWER
from slant.collector.studies.catalogue import fits_of
from slant.collector.study.crossed_fits import engine_columns, lists_levels, takes_random_effects
from slant.collector.study.records import Fit, Specification
from slant.collector.system.patterns import lazy_pattern
from slant.collector.system.scratch import temporary_folder
from slant.collector.system.shipped_files import sql_query

PRIORS: Mapping[str, tuple[bool, ...]] = {
    "normal": (False, True), "student_t": (True, False, True), "cauchy": (False, True), "logistic": (False, True),
    "exponential": (True,), "gamma": (True, True), "lognormal": (False, True), "lkj": (True,),
}  # fmt: skip
"""Hold the distributions as R/brms_parts.R has them: for each argument, whether it must be above 0."""
PRIOR_CLASSES = ("b", "Intercept", "sd", "cor")
_FUNCTIONS = ("I", "log", "log1p", "sqrt", "scale", "poly")
_NAME = lazy_pattern(r"(?<![\w.])[A-Za-z.][\w.]*")
_TOKEN = lazy_pattern(
    r"""\s*(?:(?P<operand>[A-Za-z.][\w.]*|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|`[^`]*`|"[^"]*"|'[^']*')"""
    r"""|(?P<operator>%[^%]*%|[<>=!]=|&&|\|\||[-+*/^:|~<>&,=])|(?P<open>\()|(?P<close>\))|(?P<other>\S))"""
)
_NUMBER = r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_PRIOR = lazy_pattern(rf"\s*(\w+)\s*\(\s*({_NUMBER}(?:\s*,\s*{_NUMBER})*)\s*\)\s*")
Columns = Mapping[str, Sequence[str]]

OUTCOME = "outcome"


def wrong_fits(study: Study) -> list[str]:
    """Return the mistakes in the study's fits; the design's views are made in memory to know their columns."""
    if not study.fits:
        return []
    with temporary_folder("work") as folder, writing(folder / "new.duckdb") as connection:
        columns = dict(connection.execute(sql_query("columns_of_views")).fetchall())
    others = {name for name, head in read_view_heads().items() if not head.is_about(study.design.name)}
    own, of_people = study.design.analyses.own_columns(study.data), tuple(study.person_columns)
    views = {
        name: (
            *columns[name],
            *(own if "attributes" in columns[name] else ()),
            *(of_people if "participant" in columns[name] else ()),
        )
        for name in columns
        if name not in others
    }
    levels = _levels(study)
    wrong = [problem for fit in study.fits.values() for problem in _wrong_in_fit(fit, views, levels)]
    fits = fits_of(study)
    for spec in study.sensitivity.values():
        wrong += _wrong_in_specification(spec, fits[spec.fit], views.get(fits[spec.fit].view, ()))
    return wrong


def _levels(study: Study) -> dict[str, tuple[Any, ...]]:
    """Return the values of text columns; if a design doesn't list its conditions, those that its questions
    have.
    """
    design = study.design
    levels = dict(design.analyses.factor_levels(study)) | {
        name: known for name, known in study.person_columns.items() if known
    }
    if len(study.models) > 1:
        levels["model"] = tuple(dict.fromkeys(model.model for model in study.models))
    if "condition" not in levels and study.models:
        asked = dict.fromkeys(question.condition for question in design.asks.questions(study, study.models[0]))
        levels |= {"condition": tuple(asked)} if any(asked) else {}
    return levels


def _wrong_in_fit(fit: Fit, views: Columns, levels: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    where = f"[fits.{fit.name}]"
    if fit.view not in views:
        yield f'{where}: there is no view "{fit.view}" of this design. {_near(fit.view, views)}'
        return
    yield from _unread_formula(where, fit.formula)
    columns = views[fit.view]
    named = [fit.outcome, fit.contrast, *fit.by, *fit.levels, *fit.factors, *fit.drop_flags, *fit.columns, *fit.where]
    named += engine_columns(fit.engine)
    yield from _unknown_columns(where, (*_in_formula(fit.formula), *filter(None, named)), columns)
    for column, fit_levels in fit.levels.items():
        yield from _wrong_levels(f"{where} levels of {column}", fit_levels, levels.get(column, fit_levels))
    for column, values in fit.where.items():
        known = () if column == "model" else levels.get(column, ())  # rows of any model may be imported
        if known and (lacking := [value for value in values if value not in map(str, known)]):
            yield f'{where} where: the study has no "{lacking[0]}". {_near(lacking[0], map(str, known))}'
    if OUTCOME not in columns and fit.drop_outcomes not in ((), WITHOUT_ANSWER):
        yield f'{where}: drop_outcomes needs a view with the column "{OUTCOME}", and "{fit.view}" has none.'
    yield from _wrong_engine(where, fit, levels)
    yield from _wrong_priors(where, fit.settings.get("priors"))


def _wrong_engine(where: str, fit: Fit, levels: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Yield a sentence for each part of a formula that its engine can't take."""
    has_random = "|" in (fit.formula or "") or bool(fit.settings.get("random"))
    needs_random = takes_random_effects(fit.engine)
    if fit.formula and needs_random is not None and needs_random != has_random:
        if needs_random:
            advice = (
                "Without one, the engines are lm (an outcome that is a number), logistic (1 or 0) and clm (a rating)."
            )
            yield f"{where}: {fit.engine} needs a random effect, as in (1 | item), and the formula has none. {advice}"
        else:
            advice = 'With one, the engine is lme4 (for an outcome of 1 and 0 with settings = { family = "binomial" }).'
            yield f"{where}: {fit.engine} takes no random effect, and the formula has one. {advice}"
    if not lists_levels(fit.engine) or fit.settings.get("family", "gaussian") != "gaussian" or fit.engine == "brms":
        return
    if needs_random is None:  # orders models itself
        levels = {name: known for name, known in levels.items() if name != "model"}
    for name in _in_formula(re.sub(r"\([^()]*\|[^()]*\)", "", (fit.formula or "").partition("~")[2])):
        is_text = any(isinstance(value, str) for value in levels.get(name, ()))
        if is_text and name not in fit.levels:
            listed = ", ".join(f'"{value}"' for value in levels[name])
            needed = f"levels = {{ {name} = [{listed}] }}"
            yield f"{where}: {name} is text and needs its levels, the reference first: {needed}"


def _wrong_in_specification(own: Specification, fit: Fit, columns: Sequence[str]) -> Iterator[str]:
    where = f"[sensitivity.{own.name}]"
    if not columns:
        return  # its fit's view does not exist, which has been reported
    rotated = [own.rotate] if own.rotate else []
    named = (*_in_formula(own.formula), own.contrast, *own.drop_flags, *own.missing_as, *rotated)
    yield from _unread_formula(where, own.formula)
    yield from _unknown_columns(where, named, columns)
    yield from _wrong_priors(where, own.settings.get("priors"))


def formula_mistake(formula: str) -> str | None:
    """Return the part of a formula that R could not read (an operator without a term, a bracket too many); None if it
    can."""
    before, depth, needs_term = "", 0, True
    for match in _TOKEN.finditer(formula):
        token, kind = match[0].strip(), match.lastgroup
        is_sign = token in ("+", "-", "~")
        is_wrong = {
            "operand": not needs_term,
            "operator": needs_term and not is_sign,
            "open": not needs_term and not _NAME.fullmatch(before),
            "close": depth == 0 or (needs_term and before != "("),
        }.get(str(kind), True)
        if is_wrong:
            return f'"{token}" follows "{before}"' if before else f'it begins with "{token}"'
        depth += {"open": 1, "close": -1}.get(str(kind), 0)
        before, needs_term = token, kind in ("operator", "open")
    if needs_term:
        return f'it ends with "{before}"' if before else "it is empty"
    return 'a ")" is missing' if depth else None


def _unread_formula(where: str, formula: str | None) -> Iterator[str]:
    if formula is not None and (mistake := formula_mistake(formula)):
        yield f'{where}: R can\'t read the formula "{formula}": {mistake}.'


def _in_formula(formula: str | None) -> list[str]:
    """Return the columns that a formula names, without its functions and names of arguments."""
    problems = []
    for match in _NAME.finditer(formula or ""):
        after = (formula or "")[match.end() :].lstrip()
        is_function = match[0] in _FUNCTIONS and after.startswith("(")
        is_argument = after.startswith("=") and not after.startswith("==")
        if not is_function and not is_argument and match[0] not in ("TRUE", "FALSE"):
            problems.append(match[0])
    return problems


def _unknown_columns(where: str, named: Iterable[str], columns: Sequence[str]) -> Iterator[str]:
    for name in dict.fromkeys(named):
        if name not in columns:
            yield f'{where}: its view has no column "{name}". {_near(name, columns)}'


def _wrong_levels(where: str, fit_levels: Sequence[Any], known: Sequence[Any]) -> Iterator[str]:
    names = [str(value) for value in known]
    for level in fit_levels:
        if str(level) not in names:
            yield f'{where}: the study has no "{level}". {_near(str(level), names)}'
    if lacking := [name for name in names if name not in map(str, fit_levels)]:
        yield f"{where}: {', '.join(lacking)} of the study is not among them."


def _wrong_priors(where: str, priors: Any) -> Iterator[str]:
    if priors is None:
        return
    if not isinstance(priors, dict):
        yield f'{where}: priors must be a table, as in {{ b = "normal(0, 1)" }}.'
        return
    for name, text in priors.items():
        if name not in PRIOR_CLASSES:
            yield f'{where}: there is no prior of "{name}". {_near(name, PRIOR_CLASSES)}'
        if problem := _wrong_prior(text):
            yield f"{where}: the prior of {name} can't be {text!r}: {problem}"


def _wrong_prior(text: Any) -> str:
    match = _PRIOR.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return 'it is written like "normal(0, 1)", with plain numbers.'
    if match[1] not in PRIORS:
        return f"that is not a known distribution. {_near(match[1], PRIORS)}"
    numbers, is_scale = [float(number) for number in match[2].split(",")], PRIORS[match[1]]
    if len(numbers) != len(is_scale):
        return f"{match[1]} takes {len(is_scale)} numbers."
    too_low = any(number <= 0 for number, positive in zip(numbers, is_scale, strict=True) if positive)
    return "its scale must be above 0." if too_low else ""


def _near(name: str, known: Iterable[str]) -> str:
    names = list(known)
    near = get_close_matches(name, names, n=1, cutoff=NEAR)
    return f'Did you mean "{near[0]}"?' if near else f"There are: {', '.join(names)}."
