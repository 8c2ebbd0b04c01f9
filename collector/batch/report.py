"""Report each model of one call of `collect --batch`."""

from __future__ import annotations

from typing import Any

from slant.collector.batch.submit import BatchLane
from slant.collector.keep.final_trials import Finals
from slant.collector.plan.conversations import done_in
from slant.collector.plan.run_plan import RunPlan, done_in_slice
from slant.collector.records import OUTCOMES


def lane_row(run_plan: RunPlan, lane: BatchLane, finals: Finals, waiting: Finals) -> dict[str, Any]:
    """Return one model's row: its progress, what this call fetched by outcome and submitted, what open jobs are
    asking."""
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
