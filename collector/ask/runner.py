"""Ask what has no final attempt yet: a bounded pool of workers over a generator, one lane per model, one writer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from slant.collector.ask.attempts import AttemptMaker, AttemptPlace
from slant.collector.ask.client import Client
from slant.collector.ask.declined import DeclinedTrials
from slant.collector.ask.journal_writer import JournalWriter
from slant.collector.ask.lane_money import NOT_SENT, UNCERTAIN, BudgetReached, LaneMoney
from slant.collector.ask.pace import PATIENCE_S, Pace
from slant.collector.ask.rate_limits import spoken
from slant.collector.ask.retries import LONGEST_BACKOFF_S, LongWaits, judge
from slant.collector.ask.run_warnings import Endings, ReasoningLimit, explained, ignored, malformed_notes
from slant.collector.ask.uncounted_answers import Marks, Uncounted, next_turn_no, read_exchange, uncounted
from slant.collector.designs import Design
from slant.collector.designs.study import read_reply
from slant.collector.keep.journal import utc_now
from slant.collector.keep.reserved_money import ReservedMoney
from slant.collector.providers import Provider
from slant.collector.providers.error_meanings import speakers
from slant.collector.records import Conversation, Prompt, Reading, Reply, Run, Trial, Turn
from slant.collector.studies.catalogue import Study, StudyModel

log = logging.getLogger(__name__)
SAID_AFTER = 50  # answers, all of them malformed
GIVE_UP_AFTER = 20  # trials in a row whose tries all failed: the server is gone, not slow


@dataclass
class Lane:
    """Hold one model's progress: who serves it, what is pending, how far it is. Lanes don't wait for each other."""

    model: StudyModel
    provider: Provider
    base_url: str
    key: str | None
    pending: Iterator[Conversation]
    planned: int
    already_done: int
    pace: Pace = field(default_factory=Pace)
    money: LaneMoney = field(default_factory=LaneMoney)
    begun: dict[str, list[Turn]] = field(default_factory=dict)  # turns that earlier runs have asked
    outcomes: Counter[str] = field(default_factory=Counter)
    not_asked: int = 0  # trials of games that ended early
    marks: Marks = field(default_factory=Marks)
    uncounted: Uncounted = field(default_factory=Uncounted)
    declined: DeclinedTrials = field(default_factory=DeclinedTrials)
    endings: Endings = field(default_factory=Endings)
    reasoning: ReasoningLimit = field(default_factory=ReasoningLimit)
    ignored: str | None = None  # the sentence about a setting that its answers show to be ignored
    failed_in_a_row: int = 0
    stopped_because: str | None = None
    last_failure: str | None = None
    has_reached: bool = False  # a server has answered anything at this address
    loading_since_s: float | None = None
    speakers: frozenset[str] = field(init=False)  # the providers whose codes count in its errors

    def __post_init__(self) -> None:
        self.speakers = speakers(self.provider.name, self.base_url, self.model.requested_model)

    @property
    def asked(self) -> int:
        return sum(self.outcomes.values())

    @property
    def done(self) -> int:
        """Count the trials that need not be asked any more, including those of games that ended."""
        return self.already_done + self.asked + self.not_asked - self.outcomes["failed"]

    @property
    def notes(self) -> list[str]:
        """Return the notes on the answers at the end of the run."""
        name = f"{self.provider.name}/{self.model.requested_model}"
        of_reasoning = self.reasoning.notes(name, self.model.settings)
        of_settings = [self.ignored] if self.ignored else []
        of_endings = self.endings.notes(self.provider.name, name)
        is_partial = self.money.n_unknown > 0 and self.money.spent_usd > 0
        of_money = [f"cost_usd of {name} lacks {UNCERTAIN}: {self.money.n_unknown:,}."] * is_partial
        return [*of_endings, *of_money, *malformed_notes(name, self.outcomes), *of_reasoning, *of_settings]

    def stop(self, reason: str) -> None:
        """Ask this model nothing more; the others go on. Only the first reason is kept."""
        self.stopped_because = self.stopped_because or reason
        self.pace.close()


class Runner:
    """Run one run of one study. `stop()` ends it in order: nothing new is asked, what is in flight is waited for."""

    def __init__(
        self,
        study: Study,
        run: Run,
        lanes: Sequence[Lane],
        writer: JournalWriter,
        max_retries: int,
        on_change: Callable[[Lane, str], None],
        say: Callable[[str], None] = lambda text: None,
        long_waits: LongWaits | None = None,
    ) -> None:
        self.study, self.run, self.lanes, self.writer = study, run, lanes, writer
        self.stopping = asyncio.Event()
        self._design: Design = study.design
        self._max_retries = max_retries
        self._on_change = on_change
        self._say = say
        self._long_waits = long_waits or LongWaits()
        self._reserved = ReservedMoney(writer.journal.folder, run.run_id, study.name)
        self._n_at_risk, self._at_risk_usd = 0, 0.0  # requests that may be billed and are not in the journal yet
        self._maker = AttemptMaker(run, [lane.key for lane in lanes if lane.key])

    def stop(self) -> None:
        self.stopping.set()
        for lane in self.lanes:
            lane.pace.close()

    async def go(self, client: Client, concurrency: int) -> None:
        """Ask everything that is pending. Raise JournalError if answers can't be kept any more."""
        writing = asyncio.create_task(self.writer.write())
        loader = asyncio.create_task(self.writer.load_now_and_then())
        workers = [asyncio.create_task(self._work(client, lane)) for lane in self.lanes for _ in range(concurrency)]
        try:
            results = await asyncio.gather(*workers, return_exceptions=True)
        finally:
            loader.cancel()
            for worker in workers:
                worker.cancel()
            for lane in self.lanes:
                lane.pace.close()
            self.writer.close()
            await writing
            await self._reserved.idle()
            self._reserved.close(is_settled=self._n_at_risk == 0)
        if self.writer.failure:
            raise self.writer.failure
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def _work(self, client: Client, lane: Lane) -> None:
        try:
            for conversation in lane.pending:
                if self.stopping.is_set() or lane.stopped_because:
                    return
                await self._converse(client, lane, conversation)
        except BaseException:
            self.stop()  # a defect or a dead journal must not leave the other workers spending money
            raise

    async def _converse(self, client: Client, lane: Lane, conversation: Conversation) -> None:
        history = lane.begun.pop(conversation.conversation_id, [])
        while step := self._design.asks.next(self.study, lane.model, conversation, history):
            trial, prompt = step
            turn = await self._ask(client, lane, conversation, trial, prompt, history)
            if self.writer.journal.is_full:
                self.stop()
            if turn is None:
                return
            history.append(turn)

    async def _ask(
        self, client: Client, lane: Lane, conversation: Conversation, trial: Trial, prompt: Prompt, history: list[Turn]
    ) -> Turn | None:
        """Ask one turn of a trial until it has an answer; None if its tries failed, or the run stops."""
        failures, wait_s = 0, 0.0
        turn_no = next_turn_no(history, trial)
        for try_no in count(1):
            queued_at = utc_now()
            await lane.pace.sleep(wait_s)
            ticket = await lane.pace.enter()
            if ticket is None:
                return None
            request = lane.provider.dialect.request(lane.base_url, lane.key, lane.model, prompt, trial)
            reserved_usd = await self._reserved_usd(lane, request.body)
            if reserved_usd is None:
                lane.pace.give_back(ticket)
                return None
            at_risk_usd = await self._put_at_risk(lane, request.body, reserved_usd)
            exchange = await client.exchange(request, queued_at)
            verdict = judge(exchange, try_no, lane.speakers)
            if verdict.pause_s:
                verdict = await self._long_waits.judged(lane.model.model, verdict)
            status = verdict.status or exchange.status
            lane.has_reached = lane.has_reached or status is not None
            lane.pace.leave(ticket, status, exchange.headers, verdict.pause_s)
            if lane.declined.is_open(verdict):
                await lane.pace.quiet_until(lambda: lane.declined.has_answered)
            verdict = lane.declined.judged(trial.trial_id, verdict)
            reply, verdict = read_exchange(lane.provider, exchange, verdict, trial, try_no)
            if verdict.action == "read":
                lane.declined.answered()
                lane.endings.count(reply)
                lane.reasoning.count(reply)
                lane.ignored = lane.ignored or ignored(lane.model, reply)
            is_answer = reply.outcome != "failed"
            cost_usd = lane.money.settle(reserved_usd, exchange, reply, is_read=verdict.action == "read")
            reading = self._read(lane, trial, reply, history) if is_answer else Reading("failed", is_final=False)
            place = AttemptPlace(
                conversation.conversation_id,
                turn_no,
                try_no,
                reading.is_final,
                prompt.hash,
                request.kept,
                cost_usd=cost_usd,
                is_shortened=request.n_earlier > 0,
            )
            model = lane.model.model
            log.debug("%s: trial %s, turn %d, try %d: %s", model, trial.trial_id, turn_no, try_no, reading.outcome)
            attempt = self._maker.make(lane.model, trial, place, exchange, reply, reading)
            await self.writer.keep(attempt)
            self._n_at_risk -= 1
            self._at_risk_usd = self._at_risk_usd - at_risk_usd if self._n_at_risk else 0.0
            self._reserved.settled(self._at_risk_usd)
            if is_answer and self._design.analyses.counts_tokens and lane.uncounted.says_so(attempt):
                name, seen = f"{lane.provider.name}/{lane.model.requested_model}", lane.uncounted
                self._say(uncounted(name, seen.answers, seen.readable, self.writer.db))
            if len(lane.declined.in_a_row) >= lane.declined.max_in_a_row:
                n, limit = len(lane.declined.in_a_row), "--stop-after-declined"
                said = f"{n} different trials in a row were declined ({limit}), the last with: {verdict.reason}"
                lane.stop(self._maker.redacted(said))
            if is_answer:
                lane.pace.used(reply.input_tokens, reply.output_tokens)
                lane.failed_in_a_row, lane.loading_since_s = 0, None
                lane.not_asked += reading.factors.get("n_not_asked", 0)
                if reading.is_final:
                    lane.endings.count_questions(reading)
                    self._count(lane, reading.outcome)
                return Turn(prompt, reply, reading, trial.trial_id)
            if verdict.action == "stop":
                lane.stop(self._maker.redacted(explained(verdict.reason, lane.model)))
                return None
            # a 429 is not the trial's fault: it waits, and keeps its tries; without retries nothing is asked again
            is_patient = (status == 429 and not lane.pace.is_hopeless) or (
                verdict.is_loading and self._is_loading(lane)
            )
            failures += not (is_patient and self._max_retries > 0)
            if failures > self._max_retries or verdict.action in ("fail", "decline"):
                break
            reason = self._maker.redacted(verdict.reason)
            log.info("%s: trial %s is asked again after try %d: %s", model, trial.trial_id, try_no, reason)
            wait_s = verdict.wait_s + random.uniform(0.0, 0.3) * min(verdict.wait_s, LONGEST_BACKOFF_S)
        if (exchange.error or "").startswith(NOT_SENT) and not lane.has_reached:
            lane.stop(
                f"no server answers at {lane.base_url} ({self._maker.redacted(verdict.reason)}). "
                "Start the server, correct --base-url, or check the network"
            )
        else:
            self._give_up(lane, self._maker.redacted(verdict.reason))
        return None

    def _is_loading(self, lane: Lane) -> bool:
        """Return whether a server that loads its model may still take its time; say so at first."""
        now = time.monotonic()
        if lane.loading_since_s is None:
            lane.loading_since_s = now
            self._say(f"{lane.model.model}: the server is loading the model; waiting ({spoken(PATIENCE_S)}).")
        return now - lane.loading_since_s < PATIENCE_S

    def _read(self, lane: Lane, trial: Trial, reply: Reply, history: list[Turn]) -> Reading:
        """Read the reply as the design does, with marks of what happened to its game on the way."""
        reading = read_reply(self.study, trial, reply)
        marks = lane.marks.of(trial, reply, history)
        while lane.marks.sentences:
            self._say(lane.marks.sentences.pop())
        return replace(reading, factors={**reading.factors, **marks}) if marks else reading

    async def _reserved_usd(self, lane: Lane, body: Mapping[str, Any]) -> float | None:
        """Return the money reserved for a request; None if the run stops or the budget can't cover it."""
        try:
            return await lane.money.reserve(body, self.stopping, lambda: lane.stopped_because is not None)
        except BudgetReached as reached:
            lane.stop(str(reached))
            return None

    async def _put_at_risk(self, lane: Lane, body: Mapping[str, Any], reserved_usd: float) -> float:
        """Store on disk what this request may cost before it is sent: if this run is killed, the next one counts it.
        Return that amount, in US dollars."""
        usd = reserved_usd or lane.money.max_usd(body)
        self._n_at_risk += 1
        self._at_risk_usd += usd
        await self._reserved.cover(self._at_risk_usd)
        return usd

    def _give_up(self, lane: Lane, reason: str) -> None:
        self._count(lane, "failed")
        lane.failed_in_a_row += 1
        lane.last_failure = reason
        if lane.failed_in_a_row >= GIVE_UP_AFTER:
            lane.stop(f"{GIVE_UP_AFTER} trials in a row failed, the last with: {reason}")

    def _count(self, lane: Lane, outcome: str) -> None:
        lane.outcomes[outcome] += 1
        if outcome == "malformed" == "".join(lane.outcomes) and lane.outcomes[outcome] == SAID_AFTER:
            for note in malformed_notes(lane.model.model, lane.outcomes):  # while money can still be saved
                self._say(note)
        with contextlib.suppress(OSError):  # a terminal that is gone is no reason to stop asking
            self._on_change(lane, outcome)
