"""Decide what a run may spend: a ledger with the study's earlier cost, and the money of each model."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

from slant.collector.ask.lane_money import LaneMoney, Ledger
from slant.collector.cost.estimate import (
    earlier_sizes,
    spent_before_usd,
    uncounted_models,
    uncounted_requests,
    unpriced_tokens,
)
from slant.collector.errors import UsageError
from slant.collector.keep.batch_jobs import Job, JobFolder
from slant.collector.keep.database import kept_open
from slant.collector.keep.reserved_money import left_files
from slant.collector.plan.run_plan import ModelPlan, RunPlan
from slant.collector.providers.prices import Price, cost_usd
from slant.collector.system.files import opened

LOST = "lost: "  # how the result of a job begins if its provider no longer knows it


def price_of(run_plan: RunPlan, model_plan: ModelPlan) -> Price | None:
    return run_plan.prices.find(model_plan.provider.name, model_plan.model.requested_model)


def open_ledger(run_plan: RunPlan, budget_usd: float | None) -> Ledger:
    """Open the ledger of a study in this database, for all its runs and batch jobs together: a new start after a stop
    must not spend the budget twice. Raise UsageError for a budget that can't be kept, as if there is no price.
    """
    if budget_usd is None:
        return Ledger()
    if not 0 < budget_usd < math.inf:
        raise UsageError(f"--budget must be more than 0 US dollars, not {budget_usd:g}.")
    unpriced = [model_plan for model_plan in run_plan.paid if price_of(run_plan, model_plan) is None]
    if unpriced:
        names = ", ".join(model_plan.address for model_plan in unpriced)
        raise UsageError(
            f"Can't keep a budget: no price is known for {names}.",
            "Give one: --prices FILE (collector/providers/prices.toml shows how).",
        )
    left = left_files(run_plan.db, run_plan.study.name)
    folder = JobFolder(run_plan.db)
    jobs = [job for job in folder.jobs() if job.study == run_plan.study.name]
    lost_usd = sum(job.reserved_usd or 0.0 for job in jobs if (job.result or "").startswith(LOST))
    with kept_open(run_plan.db):
        # what earlier answers, that came while no price was known, cost at today's prices
        total = 0.0
        for (provider, model, is_batch), counts in unpriced_tokens(run_plan.db, run_plan.study.name).items():
            price = run_plan.prices.find(provider, model)
            if price is not None:
                total += (batch_factor(price) if is_batch else 1.0) * (cost_usd(price, counts) or 0.0)
        return Ledger(
            budget_usd,
            spent_usd=spent_before_usd(run_plan.db, run_plan.study.name),
            uncertain_usd=_uncounted_usd(run_plan, budget_usd) + total + lost_usd + sum(left.values()),
            left=left,
            promised_usd=sum(_promised(run_plan, folder, job) for job in folder.open_jobs(run_plan.study.name)),
        )


def _uncounted_usd(run_plan: RunPlan, budget_usd: float) -> float:
    """Return the most that uncounted requests of earlier runs may have cost: their servers gave no count, or they broke
    off. It is in US dollars, calculated as if the request were made now.
    """
    moneys = {
        (plan.provider.name, plan.model.requested_model): lane_money(run_plan, plan, Ledger(budget_usd))
        for plan in run_plan.model_plans
    }
    total = 0.0
    for provider, model, is_batch in uncounted_models(run_plan.db, run_plan.study.name):
        price = run_plan.prices.find(provider, model)
        if price is not None:
            money = moneys.get((provider, model)) or LaneMoney(price)
            bodies = uncounted_requests(run_plan.db, run_plan.study.name, provider, model, is_batch=is_batch)
            total += (batch_factor(price) if is_batch else 1.0) * sum(map(money.max_usd, bodies))
    return total


def _promised(run_plan: RunPlan, folder: JobFolder, job: Job) -> float:
    """Return the most that an open batch job may cost, in US dollars."""
    if job.reserved_usd is not None:
        return job.reserved_usd
    # an older slant's job, or one made before its price was known: its requests say it
    price = run_plan.prices.find(job.provider, job.study_model.requested_model)
    money = LaneMoney(price)
    with opened(folder.requests(job)) as lines:
        bodies = (line.get("body") or line.get("params") or {} for line in map(json.loads, lines))
        return batch_factor(price) * sum(map(money.max_usd, bodies))


def batch_factor(price: Price | None) -> float:
    """Return a batch job's share of the usual price; 1 if it is unknown."""
    return 1.0 if price is None or price.batch_factor is None else price.batch_factor


def lane_money(run_plan: RunPlan, model_plan: ModelPlan, ledger: Ledger) -> LaneMoney:
    """Return a model's money. With a budget, its earlier answers say how much one may cost."""
    price = price_of(run_plan, model_plan)
    sizes = (
        earlier_sizes(run_plan.db, run_plan.study, model_plan.model) if price and ledger.cap_usd is not None else None
    )
    if sizes is None:
        return LaneMoney(price, ledger)
    return LaneMoney(price, ledger, seen=sizes.n_counted, longest=sizes.max_output_tokens or 0)


def spent_usd(moneys: Iterable[LaneMoney]) -> float | None:
    """Return the cost of these models in this run, in US dollars; None if no cost is known."""
    priced = [m.spent_usd for m in moneys if m.price is not None and (m.spent_usd or not m.n_unknown)]
    return sum(priced) if priced else None
