"""Hold what one call of `collect` shares from its first plan to its last answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from slant.collector.ask.interrupts import StopSwitch
from slant.collector.ask.lane_money import Ledger
from slant.collector.ask.long_waits import LongWaits
from slant.collector.ask.watcher import Watcher

if TYPE_CHECKING:
    from slant.collector.plan.run_plan import RunPlan
    from slant.collector.request.record import Request


@dataclass(frozen=True)
class Call:
    """Hold a request, who watches it, and what stops it, for all runs of one call: a pilot and the rest, the stages
    between looks at intervals, the parts of several processes. A limit of the entire call belongs here.

    `agreed_s` has the waits that a person agreed to, in seconds by model. `ledger` is the money of one of several
    processes; None: what the database says is spent, and the request's budget.
    """

    request: Request
    watcher: Watcher
    switch: StopSwitch
    ledger: Ledger | None = None
    agreed_s: dict[str, float] = field(default_factory=dict)

    @classmethod
    def begun(cls, request: Request, watcher: Watcher | None = None) -> Call:
        watcher = watcher or Watcher()
        return cls(request, watcher, StopSwitch(watcher))

    @property
    def long_waits(self) -> LongWaits:
        """Return the rule for long waits of one event loop; an agreement to wait holds for the entire call."""
        return LongWaits(self.request.longest_wait, self.watcher.may_wait, self.agreed_s)

    def agreeing(self, run_plan: RunPlan) -> Call:
        """Return the call with the watcher's consent to the paid requests of this plan, or without it."""
        return replace(self, request=replace(self.request, yes=self.watcher.agrees(run_plan, self.request)))
