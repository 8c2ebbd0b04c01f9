"""How a run that is about to begin stands to what was registered: told before anybody is asked."""

from __future__ import annotations

from collections.abc import Iterator

from slant.collector.errors import UsageError
from slant.collector.plan.run_plan import RunPlan
from slant.collector.records import Registration
from slant.collector.registration.canonical import canonical_text, document_of, registered_rule
from slant.collector.registration.document import is_eligible


def departures(run_plan: RunPlan, registration: Registration) -> list[str]:
    """One sentence for each way in which this run is not as registered. UsageError where another study was."""
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
            yield f"{name} is neither named nor eligible as a later model"
        if known is not None and canonical_text(dict(model_plan.model.settings)) != canonical_text(known["settings"]):
            yield f"the settings of {name} are {dict(model_plan.model.settings)}, registered are {known['settings']}"
