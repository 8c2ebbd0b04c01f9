"""What `collect --batch` is told and what it reports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slant.collector.batch.submit import BatchLane
from slant.collector.keep.batch_jobs import Job
from slant.collector.keep.final_trials import Finals
from slant.collector.plan.conversations import done_in
from slant.collector.plan.run_plan import RunPlan, done_in_slice
from slant.collector.records import OUTCOMES


@dataclass(frozen=True)
class BatchOptions:
    """`most_requests` in one job (None: the provider's limit); `settle_s` is how long a job whose submission got no
    answer may take to show up in the provider's list; with `wait`, jobs are looked at every `poll_s` seconds, and what
    came back without an answer is submitted again at most `most_rounds` times. `mixed` lets a model that was asked
    live in this study be asked by batch as well. `budget_usd`: the most that the study may cost in its database, live
    runs and batch jobs together, in US dollars; what may cost more is held back."""

    wait: bool = False
    most_requests: int | None = None
    settle_s: float = 120.0
    poll_s: float = 60.0
    most_rounds: int = 5
    mixed: bool = False
    budget_usd: float | None = None


@dataclass(frozen=True)
class BatchReport:
    """What one call did. `models`: one dict a model. `needs_yes`: requests that wait for somebody to agree to pay."""

    run_id: str | None
    db: Path
    models: tuple[dict[str, Any], ...]
    made: tuple[Job, ...]
    open_jobs: tuple[Job, ...]
    needs_yes: int

    @property
    def has_all_answers(self) -> bool:
        return all(m["planned"] == m["done"] for m in self.models)

    @property
    def is_complete(self) -> bool:
        return not self.open_jobs and self.has_all_answers

    @property
    def ending(self) -> str:
        """The run's end as the table `runs` keeps it."""
        return "finished" if self.is_complete else "waiting for batch jobs" if self.open_jobs else "incomplete"


def lane_row(run_plan: RunPlan, lane: BatchLane, finals: Finals, waiting: Finals) -> dict[str, Any]:
    """One model: how far it is, what this call fetched by outcome, what it submitted, what open jobs are asking."""
    done, in_jobs = (_trials_in(run_plan, lane, ids) for ids in (finals, waiting))
    return {
        "model": lane.model.model,
        "planned": lane.model_plan.planned,
        "done": done,
        "fetched": sum(lane.outcomes.values()) - lane.outcomes["failed"],
        **{outcome: lane.outcomes[outcome] for outcome in OUTCOMES},
        "submitted": lane.submitted,
        "waiting": in_jobs,
        "stopped_because": lane.stopped_because or lane.held_back,
    }


def _trials_in(run_plan: RunPlan, lane: BatchLane, ids: Finals) -> int:
    if run_plan.slice is not None:
        return done_in_slice(run_plan, lane.model, ids)
    return done_in(*run_plan.plan_of(lane.model), ids, lane.model_plan.others).trials
