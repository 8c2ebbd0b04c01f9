"""Make an Attempt of one exchange and its trial, in the same way for live, batch and imported answers.

How likely each of the two options was, by its tokens, is a graded measure in addition to the forced choice.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, lru_cache
from typing import Any

from slant.collector.ask.rate_limits import is_budget
from slant.collector.ask.redaction import Redaction, without_home
from slant.collector.providers.exchange import Exchange
from slant.collector.providers.prices import price_source
from slant.collector.records import Attempt, LogprobKind, Reading, Reply, Run, TokenLogprob, TokenSource, Trial
from slant.collector.sources import facts_of
from slant.collector.study.records import StudyModel
from slant.collector.system.json_text import encoded

_NEGLIGIBLE = 0.01  # a share; among twenty tokens there is nearly always a stray one that begins an option
_OPENING = " \t\r\n\"'`*[({<“‘«_"


@dataclass(frozen=True, slots=True)
class OptionLogprobs:
    """Hold natural logarithms of probabilities, and how far they can be trusted; None if they can't be read."""

    option_a_logprob: float | None = None
    option_b_logprob: float | None = None
    logprob_kind: LogprobKind | None = None


@dataclass(frozen=True, slots=True)
class _SeenTokens:
    """Hold one option where the two diverge: its complete text, and its possible next tokens there."""

    whole: float | None
    first: float | None
    share_unknown: float

    @property
    def is_exact(self) -> bool:
        """Return True for an unseen option, too: an unknown value can't be wrong."""
        return self.first is None or (self.whole is not None and self.share_unknown < _NEGLIGIBLE)


def read_option_logprobs(
    tokens: Sequence[TokenLogprob], answer: str | None, option_a: str | None, option_b: str | None, place: int = 0
) -> OptionLogprobs:
    """Return the log-probabilities of both options in the answer that `tokens` end with; all None if it isn't found.

    `place`: at which character of the answer the option begins (the letter inside of {"answer": "A"}); what comes
    before it there is taken as given. If one option begins with the other, their beginnings can't distinguish them:
    both are None.
    """
    tokens, start = _from_place(tokens, answer or "", place) if tokens else (tokens, None)
    if start is None or not option_a or not option_b:
        return OptionLogprobs()
    if option_a.startswith(option_b) or option_b.startswith(option_a):
        return OptionLogprobs()
    at, shared, path = _parting(tokens, start, option_a, option_b)
    if at is None:
        return OptionLogprobs()
    seen = [_seen_tokens(tokens, at, option[shared:], is_opening=shared == 0) for option in (option_a, option_b)]
    if all(option.first is None for option in seen):
        return OptionLogprobs()
    is_exact = all(option.is_exact for option in seen)
    after = [option.whole if is_exact else option.first for option in seen]
    a, b = (None if logprob is None else min(0.0, path + logprob) for logprob in after)
    return OptionLogprobs(a, b, "exact" if is_exact else "first_token")


def _from_place(tokens: Sequence[TokenLogprob], answer: str, place: int) -> tuple[Sequence[TokenLogprob], int | None]:
    """Return the tokens, and the index of the one in which the option begins; None if the answer isn't found.

    Some servers list the tokens of the reasoning before the answer, and a stop token after it. If the option's token
    has more than an opening quote before the option (`":"A`), that is cut off, from the likeliest tokens, too.
    """
    text = "".join(token.token for token in tokens)
    start = text.rfind(answer.strip()) if answer.strip() else -1
    if start < 0:
        return tokens, None
    start += max(0, place - (len(answer) - len(answer.lstrip())))
    passed = 0
    for index, token in enumerate(tokens):
        if passed <= start < passed + len(token.token):
            before = token.token[: start - passed]
            if not before.strip(_OPENING):
                return tokens, index
            likeliest = [(text.removeprefix(before), p) for text, p in token.likeliest if text.startswith(before)]
            cut = TokenLogprob(token.token.removeprefix(before), token.logprob, tuple(likeliest))
            return (*tokens[:index], cut, *tokens[index + 1 :]), index if place else None
        passed += len(token.token)
    return tokens, None


def _parting(tokens: Sequence[TokenLogprob], start: int, option_a: str, option_b: str) -> tuple[int | None, int, float]:
    """Return (position of the token at which the options diverge, characters they share before it, logprob up to
    it)."""
    shared, path = 0, 0.0
    for index in range(start, len(tokens)):
        text = tokens[index].token if shared else tokens[index].token.lstrip(_OPENING)
        if not text and not shared:
            continue  # only an opening quote or bracket: what follows is measured given that
        rest_a, rest_b = option_a[shared:], option_b[shared:]
        if not (rest_a.startswith(text) and rest_b.startswith(text)):
            return index, shared, path
        shared += len(text)
        path += tokens[index].logprob
    return None, 0, 0.0


def _seen_tokens(tokens: Sequence[TokenLogprob], at: int, ending: str, *, is_opening: bool) -> _SeenTokens:
    """Return the known tokens at position `at` for an option whose text continues with `rest`."""
    likeliest = dict(tokens[at].likeliest) | {tokens[at].token: tokens[at].logprob}
    complete: list[float] = []
    first: list[float] = []
    unknown: list[float] = []
    for token, logprob in likeliest.items():
        text = token.lstrip(_OPENING) if is_opening else token
        if _completes(text, ending):
            complete.append(logprob)
        elif text and ending.startswith(text):
            later = _path_to_end(tokens[at:], text, ending) if token == tokens[at].token else None
            (unknown if later is None else complete).append(logprob if later is None else later)
        else:
            continue
        first.append(logprob)
    total, lost = _sum(first), _sum(unknown)
    share = 0.0 if total is None or lost is None else math.exp(lost - total)
    return _SeenTokens(_sum(complete), total, share)


def _completes(text: str, ending: str) -> bool:
    return text.startswith(ending) and not text[len(ending) : len(ending) + 1].isalnum()


def _path_to_end(generated: Sequence[TokenLogprob], first: str, ending: str) -> float | None:
    """Return the sum along the generated tokens, whose first token reads `first`, until they complete `rest`."""
    total, remaining = generated[0].logprob, ending[len(first) :]
    for step in generated[1:]:
        total += step.logprob
        if _completes(step.token, remaining):
            return total
        if not step.token or not remaining.startswith(step.token):
            return None
        remaining = remaining[len(step.token) :]
    return None


def _sum(logprobs: Iterable[float]) -> float | None:
    """Return the logarithm of the summed probabilities; None if there are none."""
    known = [value for value in logprobs if value > -math.inf]
    if not known:
        return None
    top = max(known)
    return top + math.log(math.fsum(math.exp(value - top) for value in known))


@dataclass(slots=True)  # see Exchange
class AttemptPlace:
    """Say where in its conversation an attempt is, whether it ended its trial, and what was sent in it.

    `body` is what is stored of the request; `is_shortened` if that is not all of it (see Request.kept). In an import
    both it and `prompt_hash` are unknown. `batch_id` is the provider's name of the batch job that it came in; None for
    a live request. `cost_usd` is what the provider charges for it; None if that is unknown.
    """

    conversation_id: str
    turn: int
    try_no: int
    is_final: bool
    prompt_hash: str | None
    body: Mapping[str, Any] | None
    batch_id: str | None = None
    cost_usd: float | None = None
    is_shortened: bool = False


@dataclass(frozen=True, slots=True)
class Measures:
    """Hold what is analysed of an answer: `tokens` and which count that is, and how likely the two options were."""

    tokens: int | None
    token_source: TokenSource | None
    reasoning_tokens_recounted: int | None = None
    logprobs: OptionLogprobs = field(default_factory=OptionLogprobs)


_KEPT_HEADERS = {
    "date", "retry-after", "retry-after-ms", "openai-processing-ms", "openai-version", "server", "request-id",
    "x-request-id",
}  # fmt: skip
_ACCOUNT = re.compile(r"\b(?:org|proj|user|acct)[-_][A-Za-z0-9]{8,}\b|\bprojects/[\w-]+")
_FIELDS = tuple(f.name for f in fields(Attempt))


class AttemptMaker:
    """Number the attempts of one run, and remove the keys from whatever a provider echoes."""

    def __init__(self, run: Run, secrets: Sequence[str]) -> None:
        self._run = run
        self._is_asked = facts_of(run.source).is_asked
        self.redacted = Redaction(secrets)
        self._sequence = 0

    def next_sequence(self) -> int:
        """Return the number of this attempt."""
        self._sequence += 1
        return self._sequence

    def make(
        self,
        model: StudyModel,
        trial: Trial,
        place: AttemptPlace,
        exchange: Exchange,
        reply: Reply,
        reading: Reading,
        measures: Measures | None = None,
    ) -> Attempt:
        """Return the attempt. `measures` are those that an import states; None takes them from the reply."""
        self.next_sequence()
        measures = measures or measured(model, trial, reply, reading)
        columns = {
            **columns_of(exchange),
            **columns_of(trial),
            **columns_of(place),
            **columns_of(measures.logprobs),
            **read_columns(trial, reply, reading, measures),
            "attempt_id": f"{self._run.run_id}-{self._sequence}",
            "run_id": self._run.run_id,
            "sequence": self._sequence,
            "is_final": place.is_final,
            "source": self._run.source,
            "provider": model.provider,
            "requested_model": model.requested_model,
            "headers": _json(kept_headers(exchange.headers)) if exchange.headers else None,
            "http_status": exchange.status,
            "price_source": None if not self._is_asked else price_source(place.cost_usd, reply),
            "request": _sent(exchange, place),
            "response": exchange.body,
        }
        attempt = Attempt(**columns)
        if self.redacted:  # providers echo keys
            texts = {name: value for name in _FIELDS if isinstance(value := getattr(attempt, name), str)}
            changed = self.redacted.changed(texts, f"{attempt.response} {attempt.error}")
            attempt = replace(attempt, **changed) if changed else attempt  # type: ignore[arg-type]
        attempt = _without_folders(attempt)
        return _without_accounts(attempt) if (exchange.status or 0) >= 400 else attempt


def _without_folders(attempt: Attempt) -> Attempt:
    """Cut folders out of an attempt: a custom server may name its model by a path in a home folder, in errors,
    too.
    """
    names = ("served_model", "error", "detail")
    shortened = {name: text for name in names if (text := getattr(attempt, name)) and _names_home(text)}
    if not shortened:
        return attempt
    response = attempt.response
    if (served := shortened.get("served_model")) and response:
        response = response.replace(served, without_home(served)).replace(_in_json(served), without_home(served))
    short = {name: without_home(text) for name, text in shortened.items()}
    return replace(attempt, **short, response=response)  # type: ignore[arg-type]


@lru_cache(maxsize=64)  # thousands of answers have one model
def _names_home(text: str) -> bool:
    return without_home(text) != text


def _in_json(text: str) -> str:
    """Return a text as it is in JSON in which slashes are escaped."""
    return json.dumps(text)[1:-1].replace("/", "\\/")


def _without_accounts(attempt: Attempt) -> Attempt:
    """Remove accounts from errors ("Rate limit reached in organization org-…"), in the body and in the detail."""
    names = ("response", "error", "detail")
    texts = {name: _ACCOUNT.sub("[account]", text) for name in names if (text := getattr(attempt, name))}
    return replace(attempt, **texts)  # type: ignore[arg-type]


def analysed_tokens(reply: Reply, model: StudyModel) -> tuple[int | None, TokenSource | None]:
    """Return the count that is analysed as `tokens`, and which one that is. Without a measure it is the reasoning, if
    known; none if the provider's counts contradict each other in it.
    """
    source: TokenSource
    is_doubtful = reply.count_conflict is not None and reply.reasoning_tokens is None
    if model.measure is None and is_doubtful:
        tokens, source = None, "usage"
    elif model.measure == "output" or (model.measure is None and reply.reasoning_tokens is None):
        tokens, source = reply.output_tokens, "output"
    else:
        tokens, source = reply.reasoning_tokens, "usage"
    return tokens, source if tokens is not None else None


def columns_of(record: Any) -> dict[str, Any]:
    """Return the values of a trial, reply, exchange … that an attempt has columns of the same name for."""
    kind: Any = type(record)
    return {name: getattr(record, name) for name in _shared_names(kind)}


@cache
def _shared_names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind) if each.name in Attempt.__dataclass_fields__)


def read_columns(trial: Trial, reply: Reply, reading: Reading, measures: Measures) -> dict[str, Any]:
    """Return the columns of an attempt that its reply and the reading of it decide."""
    return {
        **columns_of(reply),
        **columns_of(measures),
        "outcome": reading.outcome,
        "answer": reply.spoken,
        "choice": reading.choice,
        "detail": reply.detail or reading.detail,
        "filter_category": reply.filter_category if reading.outcome in ("refused", "filtered") else None,
        "is_final": reading.is_final,
        "factors": _json({**reading.factors, **trial.factors}),
    }


def measured(model: StudyModel, trial: Trial, reply: Reply, reading: Reading) -> Measures:
    """Return the measures of an answer as its provider gave it."""
    options = reading.spelled or (trial.option_a, trial.option_b)
    logprobs = read_option_logprobs(reply.logprobs, reply.answer, *options, reading.place)
    return Measures(*analysed_tokens(reply, model), logprobs=logprobs)


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the response headers that are stored (names in lower case): times, versions and the provider's limits. No
    other header is stored: some name the account that pays."""
    return {name: headers[name] for name in _kept_names(tuple(headers))}


@lru_cache(maxsize=64)  # thousands of answers have headers of the same names
def _kept_names(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name in _KEPT_HEADERS or is_budget(name))


def _sent(exchange: Exchange, place: AttemptPlace) -> str | None:
    if exchange.sent and not place.is_shortened:
        return exchange.sent
    return None if place.body is None else encoded(dict(place.body)).decode()


def _json(values: Mapping[str, Any]) -> str | None:
    return encoded(dict(values)).decode() if values else None
