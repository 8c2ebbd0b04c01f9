"""Say what a person should know about a run plan before anything is sent."""

from __future__ import annotations

from slant.collector.ask.watcher import Watcher
from slant.collector.cost.estimate import dollars
from slant.collector.cost.repeated_trials import repeated_trial_notes
from slant.collector.model_checks.notes import run_notes
from slant.collector.plan.asking_again import occasion_notes
from slant.collector.plan.run_plan import RunPlan
from slant.collector.provenance.addresses import other_address_notes
from slant.collector.registration.registering import departures
from slant.collector.request.record import Request


def tell_of_plan(run_plan: RunPlan, request: Request, watcher: Watcher) -> None:
    """Say who is left out and what is worth knowing about models; warn of what asks or costs more than intended."""
    for model, reason in run_plan.left_out:
        watcher.note(f"{model} can't be asked here: {reason}.")
    for note in run_notes(run_plan, wants_logprobs=request.logprobs):
        watcher.note(note)
    for note in other_address_notes(run_plan):
        watcher.warn(note)
    for note in repeated_trial_notes(run_plan, request.concurrency, is_batch=request.batch):
        watcher.warn(note)
    for note in _shard_notes(run_plan, request.budget):
        watcher.note(note)
    unregistered = [] if run_plan.registration is None else departures(run_plan, run_plan.registration)
    if run_plan.registration is not None and not unregistered:
        watcher.note(f"As registered (SHA-256 {run_plan.registration.sha256[:12]}…): nothing departs from it so far.")
    for note in (*occasion_notes(run_plan), *unregistered):
        watcher.warn(note)


def _shard_notes(run_plan: RunPlan, budget_usd: float | None) -> list[str]:
    """Return notes on the part of the plan that is collected if that is not all of it, and on the meaning of a budget
    then."""
    if run_plan.shard is None:
        return []
    trials = ", ".join(
        f"{model_plan.planned:,} of {run_plan.whole:,} trials of {model_plan.name}"
        for model_plan in run_plan.model_plans
    )
    notes = [f"Shard {run_plan.shard} of the plan: {trials}."]
    if budget_usd is not None:
        notes.append(
            f"--budget is for this shard's database alone: {run_plan.shard.of} shards may cost "
            f"{run_plan.shard.of} times {dollars(budget_usd)}."
        )
    return notes
