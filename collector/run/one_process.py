"""Carry out a run in one process: from its plan to answers in a journal and in the database."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from slant.collector.ask.call import Call, run_anywhere
from slant.collector.ask.client import Client
from slant.collector.ask.declined import DeclinedTrials, declined_trials
from slant.collector.ask.journal_writer import JournalWriter, PartWriter
from slant.collector.ask.lane_money import LaneMoney, Ledger
from slant.collector.ask.pace import Pace, Paces
from slant.collector.ask.runner import Lane, Runner
from slant.collector.ask.simulator import Simulator
from slant.collector.ask.unfinished_games import Begun, begun_games
from slant.collector.batch.submit import check_not_mixed
from slant.collector.cost.budget import lane_money, open_ledger, price_of, spent_usd
from slant.collector.errors import Interrupted, ProviderError, UsageError
from slant.collector.keep.database import kept_open
from slant.collector.keep.journal import Journal, pack_journals
from slant.collector.plan.run_plan import ModelPlan, RunPlan, how_to_try, up_to_date
from slant.collector.provenance.run_history import new_run_record
from slant.collector.records import OUTCOMES, Run
from slant.collector.request.record import Request
from slant.collector.run.key_consent import check_key_hosts
from slant.collector.run_report import RunReport
from slant.collector.screen_tables import printable
from slant.collector.studies.stored_texts import text_lines
from slant.collector.system.child_processes import garbage_collected_rarely

log = logging.getLogger(__name__)
LAST_LOAD_S = 60.0  # how long a run waits at its end while another process holds the database


def carry_out_alone(run_plan: RunPlan, call: Call) -> RunReport:
    """Do what a run plan says, in this process."""
    run_plan = checked_run_plan(run_plan, call.request)
    report = run_anywhere(ask(run_plan, call), call.switch.press)
    pack_journals(run_plan.db)
    return report


def checked_run_plan(run_plan: RunPlan, request: Request) -> RunPlan:
    """Return the run plan as it is carried out; raise an error if it can't be, or would cost money without consent."""
    if not run_plan.model_plans:
        reasons = [f"{model}: {reason}." for model, reason in run_plan.left_out]
        hint = how_to_try(run_plan.study)
        raise ProviderError(f'Nothing was sent: no model of "{run_plan.study.name}" can be used here.', *reasons, hint)
    if run_plan.paid and not request.yes:
        names = ", ".join(model_plan.name for model_plan in run_plan.paid)
        raise UsageError(
            f"This would send {sum(a.pending for a in run_plan.paid):,} paid requests ({names}).",
            "To agree: --yes (from Python: yes=True). To see what would be sent: --dry-run",
        )
    if not request.yes:
        check_key_hosts(run_plan.model_plans)
    if not request.mixed:
        pending = [plan.name for plan in run_plan.model_plans if plan.pending]
        check_not_mixed(run_plan.db, run_plan.study, pending, is_batch=False)
    return run_plan.asking_logprobs() if request.logprobs else run_plan


async def ask(run_plan: RunPlan, call: Call) -> RunReport:
    """Ask; with a ledger in this one of several processes, while another one holds the lock and loads all journals."""
    request, watcher, switch, ledger = call.request, call.watcher, call.switch, call.ledger
    is_part = ledger is not None
    if ledger is None:
        ledger = await asyncio.to_thread(open_ledger, run_plan, request.budget)
    run = new_run_record(run_plan, request.kept(), is_simulated=run_plan.is_simulated)
    with ExitStack() as stack:
        simulator = stack.enter_context(Simulator(run_plan.study, run_plan.seed)) if run_plan.is_simulated else None
        journal = stack.enter_context(
            Journal(
                run_plan.db, run, text_lines(run_plan.study, run_plan.registration, run.started_at), is_part=is_part
            )
        )
        for cut in journal.mended:
            watcher.say(cut)
        writer = (PartWriter if is_part else JournalWriter)(run_plan.db, journal, watcher.say)
        await asyncio.to_thread(writer.load, 0.2)  # reports at once if the database is not ours or can't be made
        run_plan, begun, declined = await asyncio.to_thread(_as_it_stands, run_plan, request)
        for sentence in begun.problems:
            watcher.say(sentence)
        paces = Paces(request.concurrency, writer.note)
        url = simulator.base_url if simulator else None
        with kept_open(run_plan.db):
            lanes = [
                _lane(run_plan, model_plan, url, paces, ledger, begun, of_model)
                for model_plan, of_model in zip(run_plan.model_plans, declined, strict=True)
            ]
        for lane in lanes:
            log.info("run %s asks %s (%s)", run.run_id, lane.model.model, lane.provider.name)
        says = (watcher.change, watcher.say, call.long_waits)
        runner = Runner(run_plan.study, run, lanes, writer, request.max_retries, *says)
        watcher.begin(lanes, runner.stop)
        end_reason = "stopped by an error"
        try:
            with switch.connected(runner, writer):
                async with Client(request.concurrency * len(lanes), request.time_limit) as client:
                    with garbage_collected_rarely():
                        await runner.go(client, request.concurrency)
            is_incomplete = any(lane.stopped_because or lane.outcomes["failed"] for lane in lanes)
            end_reason = "stopped" if runner.stopping.is_set() else "incomplete" if is_incomplete else "finished"
        except asyncio.CancelledError:
            end_reason = "left at once"
            raise Interrupted("Left at once.", "The same command asks again what was in flight.") from None
        finally:
            watcher.end()
            journal.close(end_reason)
            log.info("run %s: %s", run.run_id, end_reason)
    with switch.connected(runner, writer):
        is_loaded = await asyncio.to_thread(writer.load, LAST_LOAD_S)
    if not is_loaded:  # a reader holds the file: answers are late, not lost, and `collect load` loads them
        writer.loader.say_what_is_left()
    return _report(run_plan, run, lanes, runner, is_loaded=is_loaded, disk_was_full=journal.is_full)


def _as_it_stands(run_plan: RunPlan, request: Request) -> tuple[RunPlan, Begun, list[DeclinedTrials]]:
    """Return the plan without answered trials, the games that have begun, and each model's declined trials, from the
    database."""
    with kept_open(run_plan.db):
        run_plan = up_to_date(run_plan)
        return run_plan, begun_games(run_plan), [_declined(run_plan, of, request) for of in run_plan.model_plans]


def _declined(run_plan: RunPlan, of_model: ModelPlan, request: Request) -> DeclinedTrials:
    max_in_a_row = request.stop_after_declined
    if of_model.provider.name == "simulated":  # it declines nothing
        return DeclinedTrials(max_in_a_row)
    return declined_trials(run_plan.db, run_plan.study.name, of_model.model, run_plan.made_at, max_in_a_row)


def _lane(
    run_plan: RunPlan,
    model_plan: ModelPlan,
    simulated_url: str | None,
    paces: Paces,
    ledger: Ledger,
    begun: Begun,
    declined: DeclinedTrials,
) -> Lane:
    base_url = simulated_url or model_plan.base_url
    assert base_url is not None
    planned = run_plan.conversations(model_plan, model_plan.skip)
    pending = declined.last(each for each in planned if each.conversation_id not in begun.unusable)
    key = model_plan.provider.key()
    pace = paces.pace(model_plan.name, model_plan.provider.name, base_url, key)
    return Lane(
        model_plan.model,
        model_plan.provider,
        base_url,
        key,
        pending,
        model_plan.planned,
        model_plan.already_done,
        pace,
        lane_money(run_plan, model_plan, ledger),
        begun.of_model.get(model_plan.name, {}),
        declined=declined,
    )


def _report(
    run_plan: RunPlan, run: Run, lanes: Sequence[Lane], runner: Runner, *, is_loaded: bool, disk_was_full: bool
) -> RunReport:
    stopped = runner.stopping.is_set()
    why = ("the disk is full" if disk_was_full else "interrupted") if stopped else None
    models = tuple(lane_row(run_plan, lane, why, len(lane.marks.model_changed)) for lane in lanes)
    notes = tuple(note for lane in lanes for note in lane.notes)
    return RunReport(run.run_id, run_plan.db, models, run_plan.left_out, is_loaded, stopped, disk_was_full, notes=notes)


def lane_row(run_plan: RunPlan, lane: Lane, why_all_stopped: str | None, n_changed: int) -> dict[str, Any]:
    """Return a model's row for a run's report; `n_changed` of its games were answered by more than one model."""
    has_games = run_plan.study.design.asks.has_turns(run_plan.study)
    why = lane.stopped_because or (why_all_stopped if lane.done < lane.planned else None)
    return {
        "model": lane.model.model,
        "planned": lane.planned,
        "already_done": lane.already_done,
        "asked": lane.asked,
        **{outcome: lane.outcomes[outcome] for outcome in OUTCOMES},
        **({"not_asked": lane.not_asked, "model_changed": n_changed} if has_games else {}),
        "cost_usd": spent_usd([lane.money]),
        "stopped_because": why and printable(why),
        "last_failure": lane.last_failure and printable(lane.last_failure),
    }


def lane_at_rest(run_plan: RunPlan, model_plan: ModelPlan, pace: Pace | None = None) -> Lane:
    """Return a model as it is shown if this process asks it nothing."""
    return Lane(
        model_plan.model,
        model_plan.provider,
        model_plan.base_url or "",
        None,
        iter(()),
        model_plan.planned,
        model_plan.already_done,
        pace or Pace(),
        LaneMoney(price_of(run_plan, model_plan)),
    )


def report_without_run(run_plan: RunPlan) -> RunReport:
    """Return the report of a plan that has all its answers."""
    rows = (lane_row(run_plan, lane_at_rest(run_plan, model_plan), None, 0) for model_plan in run_plan.model_plans)
    return RunReport("", run_plan.db, tuple(rows), run_plan.left_out)
