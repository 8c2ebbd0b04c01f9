"""Say what a run plan would take, with its first prompt; nothing is sent."""

from __future__ import annotations

from collections.abc import Sequence

from slant.collector.cost.quote import Quote, quote_rows, quotes, sentences, short_rows
from slant.collector.plan.run_plan import RunPlan
from slant.collector.request.record import Request
from slant.collector.run.until_width import Precision
from slant.collector.run_report import DryRun


def dry_run_of(run_plan: RunPlan, request: Request) -> DryRun:
    """Return the estimate for this plan. It refuses everything that a run would refuse."""
    if request.batch and run_plan.model_plans:
        from slant.collector.batch.submit import refuse_game  # most runs need none of it

        refuse_game(run_plan.study)
    quoted = quotes(run_plan, request.concurrency, is_batch=request.batch)
    return _dry_run(run_plan, [({}, quoted)], sentences(quoted))


def dry_run_until_narrow(precision: Precision, request: Request) -> DryRun:
    """Return the estimates for the minimum before anything can end, and for the maximum."""
    going = precision.going()
    parts = [
        ({"asked": name, "repetitions": run_plan.repetitions}, quotes(run_plan, request.concurrency))
        for name, run_plans in (("least", precision.until_next_look()), ("most", [going]))
        for run_plan in run_plans
    ]
    return _dry_run(going, parts, [f"At most: {sentence}" for sentence in sentences(parts[-1][1])])


def _dry_run(run_plan: RunPlan, parts: Sequence[tuple[dict[str, object], list[Quote]]], notes: Sequence[str]) -> DryRun:
    first = run_plan.model_plans[0] if run_plan.model_plans else None
    return DryRun(
        run_id="",
        db=run_plan.db,
        models=tuple(part | row for part, quoted in parts for row in quote_rows(quoted)),
        left_out=run_plan.left_out,
        notes=tuple(notes),
        short=tuple(part | row for part, quoted in parts for row in short_rows(quoted)),
        first_model=None if first is None else first.name,
        first_prompt=None if first is None else run_plan.first_prompt(first),
    )
