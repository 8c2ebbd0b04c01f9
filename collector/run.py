"""Asks what has no final attempt yet: a bounded pool of workers over a generator, one lane a model, one writer."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from collector.attempts import AttemptMaker, Place
from collector.client import Client, judge
from collector.designs import Design, design_named
from collector.journal import utc_now
from collector.keeper import Keeper
from collector.pace import Pace, sleep_unless
from collector.providers import Provider
from collector.records import Conversation, Prompt, Reading, Reply, Run, Trial, Turn
from collector.study import Study, StudyModel

GIVE_UP_AFTER = 20  # trials in a row that failed in all their tries: the server is gone, not slow


@dataclass
class Lane:
    """One model on its way: who serves it, what is pending, how far it is. Lanes don't wait for each other."""

    model: StudyModel
    provider: Provider
    base_url: str
    key: str | None
    pending: Iterator[Conversation]
    planned: int
    already_done: int
    pace: Pace = field(default_factory=Pace)
    outcomes: Counter[str] = field(default_factory=Counter)
    failed_in_a_row: int = 0
    stopped_because: str | None = None

    @property
    def asked(self) -> int:
        return sum(self.outcomes.values())


class Runner:
    """One run of one study. `stop()` ends it in order: nothing new is asked, what is in flight is waited for."""

    def __init__(
        self, study: Study, run: Run, lanes: Sequence[Lane], keeper: Keeper, max_retries: int,
        on_change: Callable[[Lane, str], None],
    ) -> None:  # fmt: skip
        self.study, self.run, self.lanes, self.keeper = study, run, lanes, keeper
        self.stopping = asyncio.Event()
        self._design: Design = design_named(study.design)
        self._max_retries = max_retries
        self._on_change = on_change
        self._maker = AttemptMaker(run, [lane.key for lane in lanes if lane.key])

    def stop(self) -> None:
        self.stopping.set()

    async def go(self, client: Client, concurrency: int) -> None:
        """Ask everything that is pending. Raises JournalError where answers can't be kept any more."""
        writer = asyncio.create_task(self.keeper.write())
        loader = asyncio.create_task(self.keeper.load_now_and_then())
        workers = [asyncio.create_task(self._work(client, lane)) for lane in self.lanes for _ in range(concurrency)]
        try:
            results = await asyncio.gather(*workers, return_exceptions=True)
        finally:
            loader.cancel()
            for worker in workers:
                worker.cancel()
            self.keeper.close()
            await writer
        if self.keeper.failure:
            raise self.keeper.failure
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def _work(self, client: Client, lane: Lane) -> None:
        try:
            for conversation in lane.pending:
                if self.stopping.is_set() or lane.stopped_because:
                    return
                await self._converse(client, lane, conversation)
                if self.keeper.journal.is_full:
                    self.stop()
        except BaseException:
            self.stop()  # a defect or a dead journal must not leave the other workers spending money
            raise

    async def _converse(self, client: Client, lane: Lane, conversation: Conversation) -> None:
        history: list[Turn] = []
        while step := self._design.next(self.study, lane.model, conversation, history):
            trial, prompt = step
            turn = await self._ask(client, lane, conversation, trial, prompt, len(history) + 1)
            if turn is None:
                return
            history.append(turn)

    async def _ask(
        self, client: Client, lane: Lane, conversation: Conversation, trial: Trial, prompt: Prompt, turn_no: int
    ) -> Turn | None:
        """Ask one trial until it has a final answer; None where it has none (its tries failed, or the run stops)."""
        for try_no in range(1, self._max_retries + 2):
            queued_at = utc_now()
            await lane.pace.ready(self.stopping)
            if self.stopping.is_set() or lane.stopped_because:
                return None
            request = lane.provider.dialect.request(lane.base_url, lane.key, lane.model, prompt, trial)
            exchange = await client.exchange(request, queued_at)
            verdict = judge(exchange, try_no)
            is_final = verdict.action in ("read", "filtered")
            if verdict.action == "read":
                reply = lane.provider.dialect.reply(exchange.json() or {}, exchange.headers)
            else:
                reply = Reply(outcome="filtered" if is_final else "failed", detail=verdict.reason)
            reading = self._design.read(self.study, trial, reply) if is_final else Reading("failed")
            place = Place(conversation.conversation_id, turn_no, try_no, is_final, prompt.hash, request.body)
            attempt = self._maker.make(lane.provider, lane.model, trial, place, exchange, reply, reading)
            await self.keeper.keep(attempt)
            if is_final:
                lane.failed_in_a_row = 0
                self._count(lane, reading.outcome)
                return Turn(prompt, reply, reading)
            if verdict.action == "stop":
                lane.stopped_because = lane.stopped_because or self._maker.redacted(verdict.reason)
                return None
            lane.pace.pause(verdict.pause_s)
            if try_no <= self._max_retries:
                await sleep_unless(self.stopping, verdict.wait_s * random.uniform(1.0, 1.3))
        self._give_up(lane, self._maker.redacted(verdict.reason))
        return None

    def _give_up(self, lane: Lane, reason: str) -> None:
        self._count(lane, "failed")
        lane.failed_in_a_row += 1
        if lane.failed_in_a_row >= GIVE_UP_AFTER:
            lane.stopped_because = f"{GIVE_UP_AFTER} trials in a row failed, the last with: {reason}"

    def _count(self, lane: Lane, outcome: str) -> None:
        lane.outcomes[outcome] += 1
        self._on_change(lane, outcome)
