"""Register a study before its data by `preregister()`, and say how a run departs from its registration before any
model is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from slant.collector.arguments import checked_arguments
from slant.collector.errors import UsageError
from slant.collector.plan.run_plan import RunPlan
from slant.collector.records import Registration
from slant.collector.registration.canonical import canonical_text, document_of, registered_rule
from slant.collector.registration.document import STOPPING_RULE, Choices, is_eligible, make_registration
from slant.collector.stopping.rule import StoppingRule
from slant.collector.studies.catalogue import Study, load_study, load_variants, with_variant
from slant.collector.system.files import contents_of_named
from slant.collector.system.scratch import write_whole_file


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
            "--until-width is a rule of stopping with looks of its own.",
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
    document = document_of(registration)
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
    rule = registered_rule(document)
    if run_plan.stopping != rule:
        yield f"the rule of stopping is {run_plan.stopping or 'none'}, registered is {rule or 'none'}"
    named = {(model["provider"], model["requested_model"]): model for model in plan["models"]}
    for model_plan in run_plan.model_plans:
        name = f"{model_plan.model.provider}/{model_plan.model.requested_model}"
        known = named.get((model_plan.model.provider, model_plan.model.requested_model))
        if known is None and not is_eligible(name, document["later_models"]["eligible"]):
            yield f"{name} is neither registered nor eligible as a later model"
        if known is not None and canonical_text(dict(model_plan.model.settings)) != canonical_text(known["settings"]):
            yield f"the settings of {name} are {dict(model_plan.model.settings)}, registered are {known['settings']}"
