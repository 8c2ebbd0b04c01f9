"""Asks what has no final attempt yet: a bounded pool of workers over a generator, one lane a model, one writer."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from collector.client import KEPT_HEADERS, Client, Exchange, Verdict, backoff_s, judge
from collector.designs import Design, design_named
from collector.journal import utc_now
from collector.keeper import Keeper
from collector.pace import Pace, sleep_unless
from collector.providers import Provider
from collector.records import Attempt, Conversation, Outcome, Prompt, Reading, Reply, Run, TokenSource, Trial, Turn
from collector.study import Study, StudyModel

_FIELDS = tuple(f.name for f in fields(Attempt))
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
    last_failure: str | None = None

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
        self._sequence = 0
        # a stand-in for a key ("none", "EMPTY") would be found in ordinary words, and is no secret
        self._secrets = [lane.key for lane in lanes if lane.key and len(lane.key) >= 8]

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
            reply, verdict = self._reply(lane, exchange, verdict, try_no)
            is_final = reply.outcome != "failed"
            reading = self._design.read(self.study, trial, reply) if is_final else Reading("failed")
            attempt = self._attempt(
                lane, conversation, trial, prompt, turn_no, try_no, is_final, request.body, exchange, reply, reading
            )
            await self.keeper.keep(self._without_secrets(attempt))
            if is_final:
                lane.failed_in_a_row = 0
                self._count(lane, reading.outcome)
                return Turn(prompt, reply, reading)
            if verdict.action == "stop":
                lane.stopped_because = lane.stopped_because or self._redacted(verdict.reason)
                return None
            lane.pace.pause(verdict.pause_s)
            if try_no <= self._max_retries:
                await sleep_unless(self.stopping, verdict.wait_s * random.uniform(1.0, 1.3))
        self._give_up(lane, self._redacted(verdict.reason))
        return None

    def _reply(self, lane: Lane, exchange: Exchange, verdict: Verdict, try_no: int) -> tuple[Reply, Verdict]:
        if verdict.action != "read":
            outcome: Outcome = "filtered" if verdict.action == "filtered" else "failed"
            return Reply(outcome=outcome, detail=verdict.reason), verdict
        reply = lane.provider.dialect.reply(exchange.json() or {}, exchange.headers)
        if reply.outcome == "failed":  # a response that says of itself that it is no answer
            return reply, Verdict("again", reply.detail or "the response failed", wait_s=backoff_s(try_no))
        return reply, verdict

    def _give_up(self, lane: Lane, reason: str) -> None:
        self._count(lane, "failed")
        lane.failed_in_a_row += 1
        lane.last_failure = reason
        if lane.failed_in_a_row >= GIVE_UP_AFTER:
            lane.stopped_because = f"{GIVE_UP_AFTER} trials in a row failed, the last with: {reason}"

    def _count(self, lane: Lane, outcome: str) -> None:
        lane.outcomes[outcome] += 1
        with contextlib.suppress(OSError):  # a terminal that is gone is no reason to stop asking
            self._on_change(lane, outcome)

    def _redacted(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[key]")
        return text

    def _without_secrets(self, attempt: Attempt) -> Attempt:
        """Providers echo keys, in any field: wherever one stands, it is taken out before anything is stored."""
        texts = {name: value for name in _FIELDS if isinstance(value := getattr(attempt, name), str)}
        found = {name: self._redacted(text) for name, text in texts.items() if any(s in text for s in self._secrets)}
        return replace(attempt, **found) if found else attempt  # type: ignore[arg-type]

    def _attempt(
        self, lane: Lane, conversation: Conversation, trial: Trial, prompt: Prompt, turn_no: int, try_no: int,
        is_final: bool, body: Mapping[str, Any], exchange: Exchange, reply: Reply, reading: Reading,
    ) -> Attempt:  # fmt: skip
        self._sequence += 1
        tokens, token_source = analysed_tokens(reply, lane.model)
        headers = {k: v for k, v in exchange.headers.items() if k in KEPT_HEADERS or "ratelimit" in k}
        return Attempt(
            attempt_id=f"{self.run.run_id}-{self._sequence}", run_id=self.run.run_id, sequence=self._sequence,
            conversation_id=conversation.conversation_id, trial_id=trial.trial_id, turn=turn_no, try_no=try_no,
            is_final=is_final, source=self.run.source, study=trial.study, study_version=trial.study_version,
            variant=trial.variant, model=trial.model, provider=lane.provider.name,
            requested_model=lane.model.requested_model, game=trial.game, round=trial.round,
            repetition=trial.repetition, position=trial.position, test=trial.test, condition=trial.condition,
            item=trial.item, group=trial.group, wording=trial.wording, option_a=trial.option_a,
            option_b=trial.option_b, expected=trial.expected, factors=_json(trial.factors),
            outcome=reading.outcome, answer=reply.answer, choice=reading.choice,
            detail=reply.detail, tokens=tokens, token_source=token_source,
            reasoning_tokens=reply.reasoning_tokens, output_tokens=reply.output_tokens,
            input_tokens=reply.input_tokens, reasoning_text=reply.reasoning_text,
            finish_reason=reply.finish_reason, served_model=reply.served_model, fingerprint=reply.fingerprint,
            request_id=reply.request_id, headers=_json(headers), http_status=exchange.status,
            error=exchange.error, queued_at=exchange.queued_at, sent_at=exchange.sent_at,
            first_byte_at=exchange.first_byte_at, done_at=exchange.done_at, prompt_hash=prompt.hash,
            request=json.dumps(body, ensure_ascii=False), response=exchange.body,
        )  # fmt: skip


def analysed_tokens(reply: Reply, model: StudyModel) -> tuple[int | None, TokenSource | None]:
    """The count that is analysed as `tokens`, and which one that is. Without a measure: reasoning where it is known."""
    source: TokenSource
    if model.measure == "output" or (model.measure is None and reply.reasoning_tokens is None):
        tokens, source = reply.output_tokens, "output"
    else:
        tokens, source = reply.reasoning_tokens, "usage"
    return tokens, source if tokens is not None else None


def _json(values: Mapping[str, Any]) -> str | None:
    return json.dumps(dict(values), ensure_ascii=False) if values else None
