"""What batch jobs may cost: the most of every request is reserved when its job is made, until its answers are here.

Nothing is remembered but the sum in each job's file: what is spent is in the database and the journals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slant.collector.ask.lane_money import LaneMoney, Ledger
from slant.collector.cost.budget import batch_factor, lane_money, open_ledger, price_of
from slant.collector.errors import UsageError
from slant.collector.plan.run_plan import ModelPlan, RunPlan


class Purse:
    """The money for one model's next jobs. `held_back` becomes true with the first request that does not fit."""

    def __init__(self, money: LaneMoney) -> None:
        self._money = money
        self._factor = batch_factor(money.price)
        self._job_usd = 0.0
        self.held_back = False

    def has_room(self, body: Mapping[str, Any]) -> bool:
        room = self._money.ledger.has_room(self._most_usd(body))
        self.held_back = self.held_back or not room
        return room

    def take(self, body: Mapping[str, Any]) -> bool:
        """Reserves the most that this request may cost and says True; False where the budget has no room for it."""
        if not self.has_room(body):
            return False
        self._money.ledger.reserve(self._most_usd(body))
        self._job_usd += self._most_usd(body)
        return True

    def closed(self) -> float | None:
        """What was taken since the last call, for one job, in US dollars; None where no price is known."""
        taken, self._job_usd = self._job_usd, 0.0
        return taken if self._money.price is not None else None

    def sentence(self, n_requests: int) -> str:
        """Why these requests were not submitted, and what makes them go."""
        ledger = self._money.ledger
        open_usd = ledger.uncertain_usd + ledger.reserved_usd
        return (
            f"{n_requests:,} requests were held back: the budget of ${ledger.cap_usd:,.2f} has no room for the most "
            f"that they may cost. ${ledger.spent_usd:,.4f} is spent, up to ${open_usd:,.4f} is reserved for open jobs. "
            "Answers often cost less: fetch them with the same command, and it goes on; or a higher --budget"
        )

    def _most_usd(self, body: Mapping[str, Any]) -> float:
        return self._factor * self._money.most_usd(body)


def purse(run_plan: RunPlan, model_plan: ModelPlan, budget_usd: float | None) -> Purse:
    """As the money stands now, on disk. UsageError for a budget that can't be kept."""
    return Purse(lane_money(run_plan, model_plan, open_budget(run_plan, budget_usd)))


def open_budget(run_plan: RunPlan, budget_usd: float | None) -> Ledger:
    """The ledger of the study. UsageError too where a model's batches have no price."""
    ledger = open_ledger(run_plan, budget_usd)
    for model_plan in run_plan.paid if budget_usd is not None else ():
        price = price_of(run_plan, model_plan)
        if price is not None and price.batch_factor is None:
            raise UsageError(
                f"Can't keep a budget: no price of batch jobs is known for {model_plan.address}.",
                'Give one ("batch_factor"): --prices FILE (collector/providers/prices.toml shows how).',
            )
    return ledger
