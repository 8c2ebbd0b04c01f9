"""One call of `collect --batch`: fetches what is ready of earlier calls' jobs, and submits what is pending."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from slant.collector.ask.watcher import Watcher
from slant.collector.batch.batches import Batches
from slant.collector.batch.report import BatchOptions, BatchReport
from slant.collector.batch.submit import refuse_game
from slant.collector.errors import DatabaseBusyError, Interrupted, ProviderError, UsageError
from slant.collector.keep.journal_loader import load_journals
from slant.collector.plan.conversations import plan
from slant.collector.plan.run_plan import RunPlan
from slant.collector.provenance.run_record import new_run_record


def carry_out_batch(run_plan: RunPlan, options: BatchOptions, *, yes: bool, watcher: Watcher) -> BatchReport:
    if not run_plan.model_plans:
        reasons = [f"{model}: {reason}." for model, reason in run_plan.left_out]
        raise ProviderError(f'Nobody is asked: "{run_plan.study.name}" has no model that can be asked here.', *reasons)
    if options.most_requests is not None and options.most_requests < 1:
        raise UsageError(f"--batch-size must be 1 or more, not {options.most_requests}.")
    first = next(plan(run_plan.study, run_plan.model_plans[0].model, run_plan.seed, run_plan.repetitions))
    refuse_game(run_plan.study, first)  # before anything is written
    run = new_run_record(run_plan, asdict(options) | {"batch": True}, is_simulated=False)
    try:
        return Batches(run_plan, run, options, yes, watcher.say).go()
    except KeyboardInterrupt:
        hint = "Jobs that were submitted go on at their provider; the same command fetches their answers."
        raise Interrupted("Left at once.", hint) from None
    finally:
        _load(run_plan.db, watcher)


def _load(db: Path, watcher: Watcher) -> None:
    try:
        load_journals(db, 30.0)
    except DatabaseBusyError:
        watcher.say("The answers are safe in the journal. When the database is free: collect load")
