"""What every factorial study is asked without a word in its file: marginal means, effects of levels, impact ratios,
contrasts, interactions, the reliability of scales; and what its checks need to know of the study.

Its attributes are the factors, what files say of their levels, templates and personas. Names that differ in nothing but
their gender, say, can be separated from their gender by no regression: effects are of the gender there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

from slant.collector.designs.factorial.parts import ITEM, KEYS_OF_ITEMS, PERSONA, FactorialData
from slant.collector.records import WITHOUT_ANSWER
from slant.collector.study.records import Fit, StudyFile

VIEW, MEASURED = "factorial_profiles", "measured"
TEMPLATE, PAIRED = "template", "paired"
NUMERIC = ("scale", "number", "profile", "yes_no")
"""Kinds of questions whose answers have a mean."""
MOST_LEVELS, MOST_COMPARED, MOST_CROSSED = 60, 10, 3
LEAST_PERSONAS = 10
Levels = Mapping[str, tuple[str, ...]]


def estimand_fits(study: StudyFile) -> dict[str, Fit]:
    """Return the fits by name, the main one first; of a study whose questions have no number, none."""
    data: FactorialData = study.data
    kinds = {question.shown_kind for question in data.questions.values()} | ({"number"} if data.measures else set())
    measured = tuple(kind for kind in NUMERIC if kind in kinds)
    shown = shown_levels(data)
    fits: dict[str, Fit] = {}
    if measured and data.material:
        fits |= _paired(study, data, measured)
    elif measured and shown:
        fits |= _of_levels(study, data, shown, measured)
    if data.profiles.repeated and "profile" in kinds:
        settings = {"attributes": list(independent_levels(data)), "cluster": cluster_of(data)}
        settings |= {"repeated": "again", "of": "models"}
        choices = _fit("consistency", independent_levels(data), ("profile",), outcome="chosen", settings=settings)
        fits["consistency"] = replace(choices, view="factorial_choices")
    if has_keys(data) and "scale" in kinds:
        fits["reliability"] = _fit("reliability", {}, ("scale",), by=("test",), outcome="rating", settings=_KEYED)
    return fits


ESTIMANDS = ("marginal_means", "amce", "impact_ratio", "mean_contrasts", "amie")
DECLARING = ("lme4", "lm", "logistic", "clm", *ESTIMANDS)
"""Engines of a file's own fits that take what the study says that varied: R chooses clusters from it."""


def with_declaration(study: StudyFile, fit: Fit) -> Fit:
    """Return a fit of the study's file with what the study declares to vary, unless the file says that itself."""
    named = set(re.findall(r"\w+", fit.formula or ""))
    nested = {name: levels for name, levels in nested_levels(study.data).items() if name in named}
    if nested and fit.view == VIEW:  # rows that have these factors
        fit = replace(fit, where={**nested, **fit.where})
    fitted = set(re.findall(r"\w+", fit.fitted))
    if study.data.measures and not fitted & {MEASURED, "number"} and not {"question", "test"} & set(fit.where):
        fit = replace(fit, where={"question": questions_of(study.data), **fit.where})  # each answer once
    of_answers = fit.view == "factorial_trials"
    if fit.engine not in DECLARING or not (of_answers or fit.view == VIEW) or "declared" in fit.settings:
        return fit
    declared = declared_of(study.data)
    if of_answers:  # where the position is that of the trial, not of a profile
        declared["prompt"].remove("position")
    if fit.engine not in ESTIMANDS:
        declared["cluster"] = cluster_of(study.data)
        return replace(fit, settings={**fit.settings, "declared": declared})
    if "cluster" in fit.settings:
        return fit
    return replace(fit, settings={**fit.settings, "declared": declared, "cluster": cluster_of(study.data)})


_KEYED = {
    "respondent": "respondent", "item": "item", "scale": "scale", "key": "key", "limits": ["low", "high"],
}  # fmt: skip


def _of_levels(study: StudyFile, data: FactorialData, shown: Levels, measured: tuple[str, ...]) -> dict[str, Fit]:
    compared = _compared(shown)
    own, linked = ({}, None) if has_keys(data) else (independent_levels(data), linked_pairs(data))
    clusters = {"cluster": cluster_of(data), "declared": declared_of(data)}
    fits = {"marginal_means": _fit("marginal_means", shown, measured, settings=clusters)}
    if own and linked is not None:
        pairs = {"linked": [":".join(pair) for pair in linked]} if linked else {}
        fits["amce"] = _fit("amce", own, measured, settings=clusters | pairs)
    groups = {name: levels for name, levels in own.items() if name not in (TEMPLATE, PERSONA)}
    if groups and "yes_no" in measured:
        fits |= _ratios(data, groups, clusters)
    if compared:
        fits["mean_contrasts"] = _fit("mean_contrasts", compared, measured, settings=clusters)
    if compared and len(study.models) > 1:
        between = clusters | {"between": "model"}
        fits["model_contrasts"] = _fit("mean_contrasts", compared, measured, by=("test",), settings=between)
    if linked is not None:
        for one, other in _crossed(own, linked):
            both = {name: own[name] for name in (one, other)}
            fits[f"amie_{one}_{other}"] = _fit("amie", both, measured, settings=clusters)
    for name, levels in nested_levels(data).items():
        for engine in ("marginal_means", "amce"):
            fit = _fit(engine, {name: levels}, measured, settings=clusters)
            fits[f"{engine}_{name}"] = replace(fit, where={**fit.where, name: levels})
    return {name: replace(fit, name=name) for name, fit in fits.items()}


def _paired(study: StudyFile, data: FactorialData, measured: tuple[str, ...]) -> dict[str, Fit]:
    """Return the comparisons of each change with the baseline, by model and, of several models, over them."""
    changing = {
        factor.name: factor.levels_of(factor.name) for factor in data.factors if factor.name not in data.material
    }
    settings: dict[str, Any] = {"material": list(data.material)}
    settings |= {"placebo": list(data.placebo)} if data.placebo else {}
    settings |= {"bound": data.bound} if data.bound else {}
    fits = {PAIRED: _fit(PAIRED, changing, measured, settings=settings)}
    if len(study.models) > 1:
        over = settings | {"respondent": "model"}
        fits["paired_models"] = _fit(PAIRED, changing, measured, by=("test",), settings=over)
    return {name: replace(fit, name=name) for name, fit in fits.items()}


def _fit(
    engine: str,
    levels: Levels,
    kinds: tuple[str, ...],
    *,
    by: tuple[str, ...] = ("model", "test"),
    outcome: str = MEASURED,
    settings: Mapping[str, Any],
) -> Fit:
    attributes = {"attributes": list(levels)} if levels else {}
    return Fit(
        engine, engine, VIEW, None, outcome, None, by, dict(levels), tuple(levels), (),
        attributes | dict(settings), WITHOUT_ANSWER, {"kind": kinds},
    )  # fmt: skip


def _ratios(data: FactorialData, groups: Levels, settings: Mapping[str, Any]) -> dict[str, Fit]:
    """Return the impact ratios of the favourable answer: a fit for questions whose good answer is yes, one for no."""
    questions = {one.base: one for one in data.questions.values() if one.shown_kind == "yes_no"}
    refusals = tuple(name for name, one in questions.items() if one.favourable == "no")
    fit = _fit("impact_ratio", groups, ("yes_no",), outcome="chosen", settings=settings)
    if not refusals:
        return {"impact_ratio": fit}
    others = tuple(name for name in questions if name not in refusals)
    no = replace(fit, settings={**fit.settings, "favourable": "no"}, where={**fit.where, "question": refusals})
    if not others:
        return {"impact_ratio": no}
    return {"impact_ratio": replace(fit, where={**fit.where, "question": others}), "impact_ratio_of_no": no}


def declared_of(data: FactorialData) -> dict[str, Any]:
    """Return the study's declaration of what varied, from which R's choose_cluster() takes the clusters of each
    attribute: the factor whose levels an attribute describes, the crossed factors, the columns that distinguish
    prompts."""
    properties = {
        name: factor.name
        for factor in (*data.factors, *([data.personas] if data.has_personas else []))
        for name in factor.columns
        if name not in KEYS_OF_ITEMS
    }
    asked = any(question.shown_kind != "profile" for question in data.questions.values())
    crossed = [factor.name for factor in data.factors] if data.takes == "all" and data.profiles.count == 1 else []
    of_prompt = [*([PERSONA] if data.has_personas else []), TEMPLATE] if crossed and asked else []
    prompt = ["item", TEMPLATE, "respondent", "position"]
    return {"properties": properties, "cells": [*crossed, *of_prompt], "prompt": prompt}


def questions_of(data: FactorialData) -> tuple[str, ...]:
    """Return the names of the questions in tables, without those of measures."""
    return tuple(question.base for question in data.questions.values())


def nested_levels(data: FactorialData) -> dict[str, tuple[str, ...]]:
    """Return the levels of factors that exist at some levels of another only, by name."""
    return {factor.name: factor.levels_of(factor.name) for factor in data.factors if factor.within}


def _compared(shown: Levels) -> dict[str, tuple[str, ...]]:
    return {name: levels for name, levels in shown.items() if len(levels) <= MOST_COMPARED}


def has_keys(data: FactorialData) -> bool:
    """Return True of a questionnaire, whose items have scales and keys."""
    return any(factor.name == ITEM and set(KEYS_OF_ITEMS) <= set(factor.columns) for factor in data.factors)


def shown_levels(data: FactorialData) -> dict[str, tuple[str, ...]]:
    """Return the levels of each attribute that has two or more (and not too many for a table), in the study's order.
    Where only profiles of a task are chosen among, what is so of the task makes no difference: it is left out.
    """
    every = {name: factor.levels_of(name) for factor in data.factors if not factor.within for name in factor.names}
    if any(question.shown_kind != "profile" for question in data.questions.values()):  # what is so of a whole task
        if data.has_personas:
            every |= {name: data.personas.levels_of(name) for name in data.personas.names}
        every[TEMPLATE] = tuple(data.templates)
    keys = KEYS_OF_ITEMS if has_keys(data) else ()
    return {name: levels for name, levels in every.items() if 1 < len(levels) <= MOST_LEVELS and name not in keys}


def independent_levels(data: FactorialData) -> dict[str, tuple[str, ...]]:
    """Return the levels of attributes that vary apart: of a factor what its file says of the levels, if anything that
    several of them share, else its own; of two such columns that say the same of each level the first.
    """
    shown = shown_levels(data)
    chosen: dict[str, tuple[str, ...]] = {}
    linked = {name for pair in linked_pairs(data) or () for name in pair}
    for factor in (*(factor for factor in data.factors if not factor.within), data.personas):
        names = [] if factor.name in linked else list(_shared_columns(factor, shown))
        chosen |= {name: shown[name] for name in names or [factor.name] if name in shown}
    return chosen | ({TEMPLATE: shown[TEMPLATE]} if TEMPLATE in shown else {})


def _shared_columns(factor: Any, shown: Levels) -> Iterator[str]:
    kept: list[list[str]] = []
    for name in factor.columns:
        values = [factor.values(number)[factor.names.index(name)] for number in range(len(factor.levels))]
        if name not in shown or len(set(values)) == len(values):
            continue
        pairs = (len(set(zip(values, other, strict=True))) for other in kept)
        if not any(n in (len(set(values)), len(set(other))) for n, other in zip(pairs, kept, strict=True)):
            kept.append(values)
            yield name


def linked_pairs(data: FactorialData) -> list[tuple[str, str]] | None:
    """Return the pairs of factors of which some combinations are forbidden; None if more than two are linked. Nested
    factors are compared where they exist alone, and link nothing."""
    apart = [[number for number in group if not data.factors[number].within] for group in data.cells.linked]
    groups = [group for group in apart if len(group) > 1]
    if any(len(group) > 2 for group in groups):
        return None
    return [(data.factors[one].name, data.factors[other].name) for one, other in groups]


def _crossed(own: Levels, linked: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield pairs of attributes whose interaction is looked at: of the first few, templates and personas aside."""
    names = [name for name in own if name not in (TEMPLATE, PERSONA) and len(own[name]) <= MOST_COMPARED]
    forbidden = [set(pair) for pair in linked]
    yield from (pair for pair in combinations(names[:MOST_CROSSED], 2) if set(pair) not in forbidden)


OF_MODEL = "of_model"  # who wrote the text that is a level


def cluster_of(data: FactorialData) -> str:
    """Return the column that clusters answers: with many personas the respondent, with texts that models wrote the
    text, otherwise the prompt, because repeating it is informative about this prompt only."""
    if len(data.personas.levels) >= LEAST_PERSONAS:
        return "respondent"
    return next((factor.name for factor in data.factors if OF_MODEL in factor.columns), "item")


def check_arguments(study: StudyFile) -> dict[str, dict[str, Any]]:
    """Return the arguments of this design's checks, by their keys in checks.toml; those that a study has no rows for
    are left out.
    """
    data: FactorialData = study.data
    kinds = {question.shown_kind for question in data.questions.values()} | ({"number"} if data.measures else set())
    found: dict[str, dict[str, Any]] = {}
    factors = {factor.name for factor in data.factors}
    shown = list(shown_levels(data))
    drawn = [name for name in shown if name in factors]
    compared = {name: list(levels) for name, levels in _compared(independent_levels(data)).items()}
    # a measure is missing where its answer is, which counts once
    asked = {"where": {"test": questions_of(data)}} if data.measures else {}
    if asked:
        found |= {"missing_answers": asked, "token_limits": asked}
    if shown:
        prompt = ["item", "condition", "wording", "persona", "respondent"]
        found["missing_levels"] = {"attributes": shown, "once": ["trial_id"], "prompt": prompt, **asked}
    if compared and (measured := [kind for kind in NUMERIC if kind in kinds]):
        dealt = {name: levels for name, levels in compared.items() if name != TEMPLATE}  # the variant null keeps those
        of_levels = {"outcome": MEASURED, "attributes": list(dealt), "levels": dealt, "cluster": cluster_of(data)}
        of_levels["declared"] = declared_of(data)
        if dealt:
            found |= {"level_contrasts": {"where": {"kind": measured}, **of_levels}, "nothing_in_levels": {}}
    linked = [":".join(pair) for pair in linked_pairs(data) or ()]
    if data.takes != "all" and drawn and linked_pairs(data) is not None:
        found["balance"] = {"attributes": drawn, "linked": linked, "draws": "cells", "once": ["item", "position"]}
    if data.profiles.count > 1 and "profile" in kinds:
        attributes = [name for name in independent_levels(data) if name in factors]
        of_places = {"outcome": "chosen", "places": ["position"], "attributes": attributes, "cluster": "task"}
        found["position_effects"] = {"where": {"kind": ["profile"]}, **of_places}
    if "scale" in kinds:
        ratings: dict[str, Any] = {"where": {"kind": ["scale"]}}
        limits = ["low", "high"]
        found["scale_use"] = {**ratings, "outcome": "rating", "limits": limits, "respondent": "respondent"}
        if has_keys(data):
            found["acquiescence"] = {**ratings, "keys": ["scale", "item", "key"], "limits": limits}
        elif compared:
            odds = {"outcome": "rating", "attributes": list(compared), "levels": compared, "cluster": "item"}
            found["proportional_odds"] = {**ratings, **odds}
    return found
