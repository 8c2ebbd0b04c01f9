"""A run in one process: from what was offered to answers in a journal and in the database."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from slant.collector.ask.client import Client
from slant.collector.ask.interrupts import StopSwitch, run_anywhere
from slant.collector.ask.journal_writer import JournalWriter, PartWriter
from slant.collector.ask.ledger import Ledger
from slant.collector.ask.pace import Paces
from slant.collector.ask.runner import Lane, Runner
from slant.collector.ask.simulator import Simulator
from slant.collector.ask.unfinished_games import Begun, begun_games
from slant.collector.ask.watcher import Watcher
from slant.collector.batch.live_or_batch import check_not_mixed
from slant.collector.cost.budget import lane_money, open_ledger, spent_usd
from slant.collector.designs import design_named
from slant.collector.errors import Interrupted, ProviderError, UsageError
from slant.collector.keep.journal import Journal, pack_journals
from slant.collector.plan.run_plan import ModelPlan, Offer, up_to_date
from slant.collector.provenance.run_record import new_run_record
from slant.collector.records import Conversation, Run
from slant.collector.stopping.looks import Look
from slant.collector.studies.stored_texts import text_lines
from slant.collector.system.garbage_collection import rarely_collected
from slant.collector.terminal import printable

log = logging.getLogger(__name__)
LAST_LOAD_S = 60.0  # how long a run waits at its end for whoever holds the database


@dataclass(frozen=True)
class Options:
    """How a run asks, as against what it asks. Times in seconds; `concurrency` is requests in flight for each model.

    `mixed` lets a model that was asked by batch in this study be asked live as well.
    `budget_usd`: the most that the study may cost in its database, all runs together, in US dollars.
    """

    concurrency: int = 16
    max_retries: int = 5
    time_limit_s: float = 600.0
    logprobs: bool = False
    budget_usd: float | None = None
    mixed: bool = False

    def __post_init__(self) -> None:
        if self.concurrency < 1 or self.max_retries < 0 or not 0 < self.time_limit_s < math.inf:
            raise UsageError("concurrency must be 1 or more, max_retries 0 or more, time_limit_s above 0 s.")


@dataclass(frozen=True)
class RunReport:
    """What a run did. Dicts of `models`: model, planned, already_done, asked, counts by outcome, cost_usd
    (None: not known), stopped_because; of a study with games also not_asked, the trials of games that ended early, and
    model_changed, the games that were answered by more than one served model; of a run that was to end on precision
    (`until_width`) looks, repetitions and half_width, those of the last look. `looks`: all looks at these models;
    `lacks_look`: one of them has not ended by its rule, for it lacks a trial.
    """

    run_id: str
    db: Path
    models: tuple[dict[str, Any], ...]
    left_out: tuple[tuple[str, str], ...]
    is_loaded: bool
    was_stopped: bool
    disk_was_full: bool
    looks: tuple[Look, ...] = ()
    lacks_look: bool = False

    @property
    def is_complete(self) -> bool:
        """True where every planned trial of every asked model has its final answer, and the database has them all."""
        done = [m["already_done"] + m["asked"] + m.get("not_asked", 0) - m["failed"] for m in self.models]
        return self.is_loaded and not self.lacks_look and done == [m["planned"] for m in self.models]


def carry_out_alone(offer: Offer, options: Options, *, yes: bool, watcher: Watcher) -> RunReport:
    """Do what an offer says, in this process."""
    offer = checked_offer(offer, options, yes=yes)
    switch = StopSwitch(watcher)
    report = run_anywhere(ask(offer, options, watcher, switch), switch.press)
    pack_journals(offer.db)
    return report


def checked_offer(offer: Offer, options: Options, *, yes: bool) -> Offer:
    """The offer as it is carried out. Raises where it can't be, or would cost money and nobody agreed."""
    if not offer.asked:
        reasons = [f"{model}: {reason}." for model, reason in offer.left_out]
        hint = f"To try it without a key: {offer.study.trial_command}"
        raise ProviderError(
            f'Nobody is asked: "{offer.study.name}" has no model that can be asked here.', *reasons, hint
        )
    if offer.paid and not yes:
        names = ", ".join(asked.model.model for asked in offer.paid)
        raise UsageError(
            f"This would send {sum(a.pending for a in offer.paid):,} paid requests ({names}).",
            "To agree: --yes (from Python: yes=True). To see what would be sent: --dry-run",
        )
    if not options.mixed:
        asked = [one.model.model for one in offer.asked if one.pending]
        check_not_mixed(offer.db, offer.study, asked, is_batch=False)
    if len({asked.provider.name == "simulated" for asked in offer.asked}) > 1:
        raise UsageError("Simulated and real models can't share a run: their answers are never mixed.")
    return offer.asking_logprobs() if options.logprobs else offer


async def ask(
    offer: Offer, options: Options, watcher: Watcher, switch: StopSwitch, *, is_part: bool = False
) -> RunReport:
    """`is_part`: another process holds the journal's lock, asks the other parts, and loads all journals."""
    source = {asked.provider.name == "simulated" for asked in offer.asked}
    ledger = await asyncio.to_thread(open_ledger, offer, options.budget_usd)
    run = new_run_record(offer, asdict(options), is_simulated=source == {True})
    with ExitStack() as stack:
        simulator = stack.enter_context(Simulator(offer.study, offer.seed)) if source == {True} else None
        journal = stack.enter_context(
            Journal.open(offer.db, run, text_lines(offer.study, offer.registration, run.started_at), is_part=is_part)
        )
        for cut in journal.mended:
            watcher.say(cut)
        keeper = (PartWriter if is_part else JournalWriter)(offer.db, journal, watcher.say)
        await asyncio.to_thread(keeper.load, 0.2)  # says at once if the database is not ours or can't be made
        offer = await asyncio.to_thread(up_to_date, offer)
        begun = await asyncio.to_thread(begun_games, offer)
        for sentence in begun.problems:
            watcher.say(sentence)
        paces = Paces(options.concurrency, keeper.note)
        url = simulator.base_url if simulator else None
        lanes = [_lane(offer, asked, url, paces, ledger, begun) for asked in offer.asked]
        for lane in lanes:
            log.info("run %s asks %s (%s)", run.run_id, lane.model.model, lane.provider.name)
        runner = Runner(offer.study, run, lanes, keeper, options.max_retries, watcher.change, watcher.say)
        watcher.begin(lanes, runner.stop)
        end_reason = "stopped by an error"
        try:
            with switch.connected(runner, keeper):
                await _ask_all(runner, lanes, options)
            end_reason = _end_reason(runner, lanes)
        except asyncio.CancelledError:
            end_reason = "left at once"
            raise Interrupted("Left at once.", "The same command asks again what was in flight.") from None
        finally:
            watcher.end()
            journal.close(end_reason)
            log.info("run %s: %s", run.run_id, end_reason)
    with switch.connected(runner, keeper):
        is_loaded = await asyncio.to_thread(_load_at_last, keeper, watcher)
    return _report(offer, run, lanes, runner, is_loaded=is_loaded, disk_was_full=journal.is_full)


async def _ask_all(runner: Runner, lanes: list[Lane], options: Options) -> None:
    async with Client(options.concurrency * len(lanes), options.time_limit_s) as client:
        with rarely_collected():
            await runner.go(client, options.concurrency)


def _lane(
    offer: Offer, asked: ModelPlan, simulated_url: str | None, paces: Paces, ledger: Ledger, begun: Begun
) -> Lane:
    base_url = simulated_url or asked.base_url
    assert base_url is not None
    pending = _pending(offer, asked, begun)
    key = asked.provider.key()
    pace = paces.pace(asked.model.model, asked.provider.name, base_url, key)
    money = lane_money(offer, asked, ledger)
    turns = begun.of_model.get(asked.model.model, {})
    return Lane(
        asked.model, asked.provider, base_url, key, pending, asked.planned, asked.already_done, pace, money, turns
    )


def _pending(offer: Offer, asked: ModelPlan, begun: Begun) -> Iterator[Conversation]:
    for conversation in offer.conversations(asked, asked.skip):
        if conversation.conversation_id not in begun.unusable:
            yield conversation


def _load_at_last(keeper: JournalWriter, watcher: Watcher) -> bool:
    """The last flush. A reader that keeps the file makes it late, not lost: `collect load` does it later."""
    if keeper.load(LAST_LOAD_S):
        return True
    watcher.say("The answers are safe in the journal. When the database is free: collect load")
    return False


def _end_reason(runner: Runner, lanes: Sequence[Lane]) -> str:
    if runner.stopping.is_set():
        return "stopped"
    return "finished" if not any(lane.stopped_because or lane.outcomes["failed"] for lane in lanes) else "incomplete"


def _why_stopped(lane: Lane, runner: Runner, *, disk_was_full: bool) -> str | None:
    """Of a model that has trials left: why it was asked no more."""
    if lane.stopped_because or not runner.stopping.is_set() or lane.done >= lane.planned:
        return lane.stopped_because
    return "the disk is full" if disk_was_full else "interrupted"


def _report(
    offer: Offer, run: Run, lanes: Sequence[Lane], runner: Runner, *, is_loaded: bool, disk_was_full: bool
) -> RunReport:
    outcomes = ("answered", "refused", "filtered", "truncated", "malformed", "failed")
    models = tuple(
        {"model": lane.model.model, "planned": lane.planned, "already_done": lane.already_done, "asked": lane.asked}
        | {outcome: lane.outcomes[outcome] for outcome in outcomes}
        | (
            {"not_asked": lane.not_asked, "model_changed": len(lane.marks.model_changed)}
            if design_named(offer.study.design).has_turns(offer.study)
            else {}
        )
        | {
            "cost_usd": spent_usd([lane.money]),
            "stopped_because": (why := _why_stopped(lane, runner, disk_was_full=disk_was_full)) and printable(why),
            "last_failure": lane.last_failure and printable(lane.last_failure),
        }
        for lane in lanes
    )
    stopped = runner.stopping.is_set()
    return RunReport(run.run_id, offer.db, models, offer.left_out, is_loaded, stopped, disk_was_full)
