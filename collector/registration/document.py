"""Write what a registration says: all that decides what is asked and how it is analysed, but nothing about the machine;
and the numbers that a plan was made with: what a pilot says about each cell, and about the whole plan.
"""

from __future__ import annotations

import fnmatch
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slant.collector.arguments import checked_arguments
from slant.collector.designs.study import Study
from slant.collector.errors import DatabaseError, UnknownNameError, UsageError, as_typed
from slant.collector.keep.database import fetched_frame
from slant.collector.plan.conversations import plan, planned_count, with_rates
from slant.collector.plan.run_plan import RunPlan
from slant.collector.records import MAX_REPETITIONS, Registration
from slant.collector.registration import canonical
from slant.collector.stopping.rule import StoppingRule, fit_of_width
from slant.collector.studies.catalogue import (
    Fit,
    Specification,
    StudyModel,
    load_study,
    load_variants,
    with_variant,
)
from slant.collector.system.files import contents_of_named
from slant.collector.system.scratch import write_whole_file
from slant.collector.system.shipped_files import current_code_version, sql_query

STOPPING_RULE = "Every planned trial is asked; nothing that the answers say ends the collection before that."
LATER_MODELS = "No model but those named."
_MANY = 50_000  # trials; making their prompts takes some seconds
_OF_FIT = "name engine view formula outcome contrast by levels drop_flags drop_outcomes settings"
_OF_SPECIFICATION = "name fit contrast formula drop_flags drop_outcomes missing_as rotate settings"
_PATTERN = re.compile(r"[\w.:@+*?/-]+")
_PROMPTS = (
    "The column prompt_hash of the first request of each conversation, as a set: BLAKE2b, 128 bits, of its messages. "
    "In a game later requests hold what was answered before; their texts are fixed by the study's version."
)


@dataclass(frozen=True)
class Choices:
    """Hold what a registration adds to the study. `seed` None is the study's. `eligible`: patterns of
    PROVIDER/NAME that a later model must match, `rule` the same in words. `fits`: those that are confirmatory (none:
    all of the study). `looks_at`: after how many trials of each model results are looked at, before the end.
    `stopping`: a rule by which collecting ends on precision, which has its own looks."""

    seed: int | None = None
    repetitions: int = 1
    eligible: Sequence[str] = ()
    rule: str = ""
    exclusions: Sequence[str] = ()
    fits: Sequence[str] = ()
    looks_at: Sequence[int] = ()
    stopping_rule: str = STOPPING_RULE
    stopping: StoppingRule | None = None


def make_registration(
    studies: Sequence[Study],
    models: Sequence[str],
    choices: Choices,
    *,
    simulated: bool = False,
    pilot: Path | None = None,
    say: Callable[[str], None] | None = None,
) -> Registration:
    """Register these variants of one study. No model is asked and nothing is written. `pilot`: a database with earlier
    answers, which adds the numbers that the plan was made with; `say` gets a sentence about what takes long. Raise
    UsageError if a choice can't hold."""
    study = studies[0]
    _check(choices, planned_count(study, choices.repetitions))
    if unknown := [name for name in choices.fits if name not in study.fits]:
        raise UnknownNameError(f"fit in the study {study.name}", unknown[0], study.fits)
    fits = [study.fits[name] for name in choices.fits or study.fits]
    if pilot is not None and not pilot.is_file():
        raise UsageError(f'There is no database "{pilot}" of a pilot.', "To name another one: --from FILE")
    n_planned = sum(planned_count(v, choices.repetitions) * len(_models(v, models, simulated)) for v in studies)
    if say is not None and n_planned > _MANY:
        say(f"Making the prompts of {n_planned:,} trials; a million take about a minute.")
    prompts: dict[str, list[str]] = {}
    plans = [_plan(variant, _models(variant, models, simulated), choices, pilot, prompts) for variant in studies]
    looks = choices.looks_at
    if choices.stopping is not None:
        looks = [planned_count(study, repetitions) for repetitions in choices.stopping.looks_at]
    at = sorted({*looks, max(plan_row["trials_per_model"] for plan_row in plans)})
    document = {
        "format": canonical.FORMAT,
        "canonical_form": canonical.CANONICAL_FORM,
        "software": {"slant": current_code_version()},
        "study": {
            "name": study.name,
            "title": study.title,
            "source": study.source,
            "design": study.design.name,
            "version": study.version,
            "files": {name: hashlib.sha256(text.encode("utf-8")).hexdigest() for name, text in study.texts.items()},
        },
        "plans": plans,
        "prompts": prompts,
        "prompts_are": _PROMPTS,
        "later_models": {
            "eligible": sorted(set(choices.eligible)),
            "rule": choices.rule or ("They match a pattern." if choices.eligible else LATER_MODELS),
        },
        "exclusions": {
            "rules": list(choices.exclusions),
            "always": "Answers of another model than the snapshot that was asked for; second answers to one trial.",
        },
        "fits": [_fields(fit, f"{_OF_FIT} where" if fit.where else _OF_FIT) for fit in fits],
        "specifications": [
            _fields(s, _OF_SPECIFICATION) for s in study.sensitivity.values() if s.fit in {f.name for f in fits}
        ],
        "looks": {"planned": len(at), "at": at},
        "stopping_rule": choices.stopping_rule,
        **_precision(choices, study),
        "pilot": None if pilot is None else pilot_numbers(pilot, study, plans),
    }
    return canonical.registration_of(document)


def _check(choices: Choices, planned: int) -> None:
    if not 1 <= choices.repetitions <= MAX_REPETITIONS:
        raise UsageError(f"--repetitions must be from 1 to {MAX_REPETITIONS:,}, not {choices.repetitions}.")
    for pattern in choices.eligible:
        if not _PATTERN.fullmatch(pattern) or "/" not in pattern:
            raise UsageError(
                f'"{pattern}" is no pattern of later models.',
                "It must be PROVIDER/NAME, in which * matches any letters and ? one: openai/gpt-*",
            )
    for look in choices.looks_at:
        if not 0 < look < planned:
            raise UsageError(f"A look after {look:,} trials can't be: the plan has {planned:,} of each model.")


def _precision(choices: Choices, study: Study) -> dict[str, Any]:
    """Return the rule of precision, if there is one, in words and in the form that a run compares."""
    if choices.stopping is None:
        return {}
    fit = fit_of_width(study)
    rule = choices.stopping
    words = rule.sentences(fit.fitted)
    return {"stopping_rule": words, "precision": {**rule.as_settings(), "fit": fit.name, "formula": fit.formula}}


def _models(study: Study, named: Sequence[str], simulated: bool) -> list[StudyModel]:
    """Return the models that are named, or that the study asks by default. Keys on this machine play no part."""
    usual = [m.model for m in study.models if m.asked_by_default and m.model not in study.left_out]
    names = [name for name in named if study.model(name).model not in study.left_out] if named else usual
    models = [study.model(f"simulated/{n}" if simulated and not n.startswith("simulated/") else n) for n in names]
    if not models and named:
        raise UsageError(f'The variant "{study.variant}" of {study.name} leaves out all models that were named.')
    return list({model.model: model for model in models}.values())


def _plan(
    study: Study, models: Sequence[StudyModel], choices: Choices, pilot: Path | None, prompts: dict[str, list[str]]
) -> dict[str, Any]:
    """Return the plan of one variant; each list of hashes goes into `prompts` once, because models often share them."""
    seed = study.seed if choices.seed is None else choices.seed
    planned = planned_count(study, choices.repetitions)
    with_rates_of, lacking = with_rates(study, models, pilot or Path("no.duckdb"))
    rows = []
    for model in models:
        row = {
            "model": model.model,
            "provider": model.provider,
            "requested_model": model.requested_model,
            "settings": _plain(model.settings),
            "frame": model.frame,
            "measure": model.measure,
            "trials": planned,
            "prompts": None,
        }
        if model.model in lacking:
            row["why_no_prompts"] = "They hold what the model itself will first have said in another variant."
        else:
            asked = plan(with_rates_of, model, seed, choices.repetitions)
            hashes = sorted({study.design.asks.first(with_rates_of, model, each)[1].hash for each in asked})
            name = hashlib.sha256("\n".join(hashes).encode()).hexdigest()
            prompts[name] = hashes
            row["prompts"] = name
        rows.append(row)
    return {
        "variant": study.variant,
        "seed": canonical.exact(seed),
        "repetitions": choices.repetitions,
        "trials_per_model": planned,
        "tests": {test.test: test.planned * choices.repetitions for test in study.tests},
        "conditions": [condition.condition for condition in study.conditions],
        "models": rows,
    }


def _fields(record: Fit | Specification, names: str) -> dict[str, Any]:
    return {name: _plain(getattr(record, name)) for name in names.split()}


def _plain(value: Any) -> Any:
    """Return a study file's settings as JSON values."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return canonical.exact(value) if isinstance(value, int) and not isinstance(value, bool) else value


def is_eligible(name: str, patterns: Iterable[str]) -> bool:
    """Return whether a later PROVIDER/NAME may be asked."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def pilot_numbers(db: Path, study: Study, plans: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a pilot's numbers by cell and for the entire plan. `cells` has the pilot by variant, model, test and
    condition (n, share answered, mean and sd of tokens); `expected` has, by variant and planned model, the answers,
    tokens and US dollars of the entire plan at the pilot's rates.

    Raise DatabaseError if the database holds no answers to this study.
    """
    of_study = {"study": study.name}
    cells = fetched_frame(db, sql_query("pilot_cells"), of_study).to_dicts()
    models = fetched_frame(db, sql_query("pilot_models"), of_study).to_dicts()
    if not cells:
        raise DatabaseError(
            f'"{db}" holds no answers to "{study.name}", so it is no pilot of it.',
            f"To make one: collect --study {study.as_typed} --pilot 50 --db {as_typed(db)}",
        )
    return {
        "trials": sum(row["n"] for row in models),
        "runs": sorted({run for row in models for run in row["runs"]}),
        "cells": cells,
        "expected": [_expected(plan, model, models) for plan in plans for model in plan["models"]],
    }


def _expected(plan: Mapping[str, Any], model: Mapping[str, Any], pilot: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return expectations at the rates of the same model in this variant; unknown if the pilot did not ask it."""
    is_played = model["provider"] == "simulated"
    same = [r for r in pilot if (r["variant"], r["model"]) == (plan["variant"], model["model"])]
    same = [r for r in same if (r["source"] == "simulated") == is_played]
    row: dict[str, Any] = {"variant": plan["variant"], "model": model["model"], "trials": model["trials"]}
    means = dict.fromkeys(("answered", "input_tokens", "output_tokens", "cost_usd"))
    if not same:
        return row | means
    n = sum(r["n"] for r in same)

    def whole(name: str, digits: int) -> float | None:
        known = [r for r in same if r[name] is not None]
        weight = sum(r["n"] for r in known)
        return round(model["trials"] * sum(r[name] * r["n"] for r in known) / weight, digits) if weight else None

    answered = round(model["trials"] * sum(r["n_answered"] for r in same) / n)
    sizes = {name: whole(f"mean_{name}", 0) for name in ("input_tokens", "output_tokens")}
    return row | {"answered": answered, **sizes, "cost_usd": whole("mean_cost_usd", 6)}


@checked_arguments(repetitions=1, seed=0, looks=1)
def preregister(
    study: str | Path | Study,
    models: Sequence[str] | None = None,
    *,
    simulated: bool = False,
    variants: Sequence[str] = ("base",),
    seed: int | None = None,
    repetitions: int = 1,
    eligible: Sequence[str] = (),
    rule: str = "",
    fits: Sequence[str] = (),
    exclusions: Sequence[str] = (),
    looks_at: Sequence[int] = (),
    stopping_rule: str | None = None,
    until_width: float | None = None,
    looks: int | None = None,
    pilot: str | Path | None = None,
    say: Callable[[str], None] | None = None,
) -> Registration:
    """Return the plan before the data, as canonical JSON (`.text`, RFC 8785) with its SHA-256 (`.sha256`).

    `models` are specs like "openai/NAME" (None: those the study names), `variants` names of the study's ("all": all
    but extensions). `eligible`: patterns of later models that may be asked, as in "openai/gpt-*"; `rule`
    says the same in words. `fits` are confirmatory (none: all of the study), `exclusions` rules in words next to
    the fits' own flags, `looks_at` numbers of trials of each model at which results are looked at before the end.
    `until_width` and `looks`: the rule of `collect()` by which collecting ends, with `repetitions` at most; its looks
    and its words are then those of the registration. `pilot` is a database with earlier answers; `say` gets a sentence
    about what takes long. No model is asked; no key is needed. Raise a SlantError if a choice can't hold.

    >>> preregister("rmiat", ["simulated/o3-mini"]).sha256  # doctest: +SKIP
    """
    place = None if pilot is None else Path(pilot)
    stopping = StoppingRule.of(until_width, looks, repetitions)
    if stopping is not None and (looks_at or stopping_rule):
        raise UsageError(
            "--until-width is a stopping rule with its own looks.",
            "Leave out --stop and --look, or --until-width.",
        )
    words = stopping_rule or STOPPING_RULE
    choices = Choices(seed, repetitions, eligible, rule, exclusions, fits, looks_at, words, stopping)
    studies = _variants(study, variants, place)
    return make_registration(studies, models or (), choices, simulated=simulated, pilot=place, say=say)


def _variants(study: str | Path | Study, names: Sequence[str], pilot: Path | None) -> list[Study]:
    if "all" in names:
        path = study.path if isinstance(study, Study) else study
        return [variant for variant in load_variants(path, pilot).values() if not variant.is_extension]
    if isinstance(study, Study):
        return [with_variant(study, name) for name in dict.fromkeys(names)]
    return [load_study(study, name, pilot) for name in dict.fromkeys(names)]


@checked_arguments()
def write_registration(registration: Registration, path: str | Path) -> Path:
    """Write the text, to the byte, to `path`; UsageError if it holds another one: what was fixed is not replaced."""
    path, data = Path(path), registration.text.encode("utf-8")
    try:
        if not path.exists():
            write_whole_file(path, data)
        elif contents_of_named(path) != data:
            raise UsageError(
                f'"{path}" is there, and registers something else.',
                "What was fixed is not replaced. To write another one: --out OTHER.json",
            )
    except OSError as error:
        raise UsageError(
            f'Can\'t write the registration to "{path}": {error.strerror}.', "Name another: --out FILE"
        ) from None
    return path


def departures(run_plan: RunPlan, registration: Registration) -> list[str]:
    """Return a sentence for each deviation of this run from its registration; UsageError if it is of another study."""
    if registration.study != run_plan.study.name:
        raise UsageError(
            f'This registration is of the study "{registration.study}", not of "{run_plan.study.name}".',
            "It must be the one that `collect preregister` made of this study.",
        )
    return [f"Not as registered: {sentence}." for sentence in _sentences(run_plan, registration)]


def _sentences(run_plan: RunPlan, registration: Registration) -> Iterator[str]:
    document = canonical.document_of(registration)
    study, plans = run_plan.study, {plan["variant"]: plan for plan in document["plans"]}
    if study.version != document["study"]["version"]:
        yield f"the study's version is {study.version}, registered is {document['study']['version']}"
    if study.variant not in plans:
        yield f"the variant is {study.variant}, registered are {', '.join(plans)}"
        return
    plan = plans[study.variant]
    if run_plan.seed != int(plan["seed"]):
        yield f"the seed is {run_plan.seed}, registered is {plan['seed']}"
    if run_plan.repetitions != plan["repetitions"]:
        yield f"each trial is asked {run_plan.repetitions} times, registered is {plan['repetitions']}"
    rule = canonical.registered_rule(document)
    if run_plan.stopping != rule:
        yield f"the rule of stopping is {run_plan.stopping or 'none'}, registered is {rule or 'none'}"
    named = {(model["provider"], model["requested_model"]): model for model in plan["models"]}
    for model_plan in run_plan.model_plans:
        name = f"{model_plan.model.provider}/{model_plan.model.requested_model}"
        known = named.get((model_plan.model.provider, model_plan.model.requested_model))
        if known is None and not is_eligible(name, document["later_models"]["eligible"]):
            yield f"{name} is neither registered nor eligible as a later model"
        if known is not None and canonical.canonical_text(dict(model_plan.model.settings)) != canonical.canonical_text(
            known["settings"]
        ):
            yield f"the settings of {name} are {dict(model_plan.model.settings)}, registered are {known['settings']}"
