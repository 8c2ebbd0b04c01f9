"""One exchange and the trial it was for become one Attempt: the same for live requests and for rows of a batch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from collector.client import KEPT_HEADERS, Exchange, as_json
from collector.option_logprobs import option_logprobs
from collector.providers import Provider
from collector.records import Attempt, Reading, Reply, Run, TokenSource, Trial
from collector.study_records import StudyModel


@dataclass(frozen=True, slots=True)
class Place:
    """Where in its conversation an attempt stands, whether it ended its trial, and what was sent in it.

    `batch_id` is the provider's name of the batch job that it came in; None for a live request. `cost_usd` is what the
    provider charges for it; None where that is unknown.
    """

    conversation_id: str
    turn: int
    try_no: int
    is_final: bool
    prompt_hash: str
    body: Mapping[str, Any]
    batch_id: str | None = None
    cost_usd: float | None = None


def spellings(secret: str) -> list[str]:
    """How a server may echo a key: as it is, inside JSON (some escape slashes), in an address. Longest first."""
    in_json = json.dumps(secret)[1:-1]
    forms = {secret, in_json, in_json.replace("/", "\\/"), quote(secret, safe="")}
    return sorted(forms, key=len, reverse=True)


class AttemptMaker:
    """Numbers the attempts of one run, and takes the keys out of whatever a provider echoes."""

    def __init__(self, run: Run, secrets: Sequence[str]) -> None:
        self._run = run
        self._secrets = [spelt for secret in secrets if secret for spelt in spellings(secret)]
        self._sequence = 0

    def redacted(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[key]")
        return text

    def make(
        self, provider: Provider, model: StudyModel, trial: Trial, place: Place, exchange: Exchange, reply: Reply,
        reading: Reading,
    ) -> Attempt:  # fmt: skip
        self._sequence += 1
        tokens, token_source = analysed_tokens(reply, model)
        graded = option_logprobs(reply.logprobs, reply.answer, trial.option_a, trial.option_b)
        headers = {k: v for k, v in exchange.headers.items() if k in KEPT_HEADERS or "ratelimit" in k}
        return Attempt(
            attempt_id=f"{self._run.run_id}-{self._sequence}", run_id=self._run.run_id, sequence=self._sequence,
            conversation_id=place.conversation_id, trial_id=trial.trial_id, turn=place.turn, try_no=place.try_no,
            is_final=place.is_final, source=self._run.source, study=trial.study, study_version=trial.study_version,
            variant=trial.variant, model=trial.model, provider=provider.name,
            requested_model=model.requested_model, game=trial.game, round=trial.round,
            repetition=trial.repetition, position=trial.position, test=trial.test, condition=trial.condition,
            item=trial.item, group=trial.group, wording=trial.wording, option_a=trial.option_a,
            option_b=trial.option_b, expected=trial.expected, factors=_json(trial.factors),
            outcome=reading.outcome, answer=self._maybe(reply.answer), choice=reading.choice,
            detail=self._maybe(reply.detail), tokens=tokens, token_source=token_source,
            reasoning_tokens=reply.reasoning_tokens, output_tokens=reply.output_tokens,
            input_tokens=reply.input_tokens, reasoning_text=self._maybe(reply.reasoning_text),
            finish_reason=self._maybe(reply.finish_reason), served_model=self._maybe(reply.served_model),
            fingerprint=self._maybe(reply.fingerprint), request_id=self._maybe(reply.request_id),
            headers=self._maybe(_json(headers)), http_status=exchange.status,
            error=self._maybe(exchange.error), queued_at=exchange.queued_at, sent_at=exchange.sent_at,
            first_byte_at=exchange.first_byte_at, done_at=exchange.done_at, batch_id=place.batch_id,
            cached_input_tokens=reply.cached_input_tokens, cost_usd=place.cost_usd,
            prompt_hash=place.prompt_hash, request=self.redacted(exchange.sent or as_json(dict(place.body))),
            response=self._maybe(exchange.body), option_a_logprob=graded.option_a_logprob,
            option_b_logprob=graded.option_b_logprob, logprob_kind=graded.logprob_kind,
        )  # fmt: skip

    def _maybe(self, text: str | None) -> str | None:
        return None if text is None else self.redacted(text)


def analysed_tokens(reply: Reply, model: StudyModel) -> tuple[int | None, TokenSource | None]:
    """The count that is analysed as `tokens`, and which one that is. Without a measure: reasoning where it is known."""
    source: TokenSource
    if model.measure == "output" or (model.measure is None and reply.reasoning_tokens is None):
        tokens, source = reply.output_tokens, "output"
    else:
        tokens, source = reply.reasoning_tokens, "usage"
    return tokens, source if tokens is not None else None


def _json(values: Mapping[str, Any]) -> str | None:
    return as_json(dict(values)) if values else None
