"""Decide what an exchange with a provider means: read it, ask again and when, give up this trial, or stop this model;
and whether a run waits as long as a provider wants (hours, for the limit of a day).
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from slant.collector.ask.rate_limits import LONG_WAIT_S, asked_wait_s, retry_after_s, spoken
from slant.collector.providers.error_meanings import (
    NOBODY,
    ErrorMeaning,
    Means,
    ProviderError,
    error_meaning,
    provider_error,
)
from slant.collector.providers.exchange import Exchange, first_choice
from slant.collector.providers.streams import is_stream
from slant.collector.system.patterns import lazy_pattern

_QUOTE = r"\\{0,6}['\"]"
_IDS = lazy_pattern(rf"(?:quotaId|quota_limit|quotaMetric|quota_metric){_QUOTE} ?: ?{_QUOTE}([\w./-]+)")
_METRICS = lazy_pattern(r"quota exceeded for (?:quota )?(?:metric:?|\S*googleapis\.com/)[^\n]{0,200}", re.IGNORECASE)
_ZERO = lazy_pattern(
    rf"(?:quotaValue|quota_limit_value){_QUOTE} ?: ?(?:{_QUOTE})?0(?![0-9.])|googleapis\.com/[\w/]+, limit: 0(?![0-9.])"
)
_DAY = lazy_pattern(r"per_?day|per day", re.IGNORECASE)
_MINUTE = lazy_pattern(r"per_?(?:minute|second)|per (?:minute|second)", re.IGNORECASE)
_EXHAUSTED = lazy_pattern(
    r"RESOURCE_EXHAUSTED|google\.rpc\.(?:RetryInfo|QuotaFailure)|ai\.google\.dev/gemini-api/docs/rate"
)
_SPENT = lazy_pattern(r"prepa(?:id|yment)|credits|spend", re.IGNORECASE)
_ANY = re.IGNORECASE | re.DOTALL
_NUMBER = r"[0-9][0-9,]{0,14}"
_MODEL = rf"(?:context (?:length|window|size|limit)|sequence length)(?: (?:is|of))?:?(?: only)? (?P<model>{_NUMBER})"
_OF_ANSWER = rf"max[_ ](?:(?:new|completion|output)[_ ])?tokens\W{{0,6}}(?:is |of )?(?P<answer>{_NUMBER})"
_SUMS = (
    # OpenAI, vLLM, DeepSeek, OpenRouter, SGLang: … (9 in the messages, 10000 in the completion)
    lazy_pattern(
        rf"{_MODEL}\b.*?\b(?P<answer>{_NUMBER}) (?:tokens )?(?:in|for|from|of) (?:the |your )?"
        r"(?:completion|output|generation|response)",
        _ANY,
    ),
    # vLLM: you requested 9000 output tokens and your prompt contains …
    lazy_pattern(rf"{_MODEL}\b.*?\brequested (?P<answer>{_NUMBER}) (?:output|completion|new) tokens", _ANY),
    # vLLM: 'max_tokens' is too large: 5000. This model's maximum context length is 4096
    lazy_pattern(rf"too large: (?P<answer>{_NUMBER})\b.*?{_MODEL}", _ANY),
    # text-generation-inference, Together: must be <= 8193. Given: 22 `inputs` tokens and 9000 `max_new_tokens`
    lazy_pattern(rf"must be <= ?(?P<model>{_NUMBER})\b.*?\b(?P<answer>{_NUMBER}) `?max_(?:new_)?tokens", _ANY),
    # Anthropic: 190000 + 21000 > 200000
    lazy_pattern(rf"{_NUMBER} \+ (?P<answer>{_NUMBER}) > (?P<model>{_NUMBER})"),
    # Together, Fireworks: max_tokens (9000) … context length (8193)
    lazy_pattern(
        rf"{_OF_ANSWER}\b.*?context (?:length|window|size|limit)\W{{0,6}}(?:is |of )?\(?(?P<model>{_NUMBER})", _ANY
    ),
    # Mistral: max_tokens is 9000, too large for model with 8192 maximum context length
    lazy_pattern(rf"{_OF_ANSWER}\b.*?\b(?P<model>{_NUMBER}) (?:tokens )?(?:maximum |max )?context\b", _ANY),
    # TensorRT-LLM: less than max_num_tokens (8192). max_tokens: 9000
    lazy_pattern(rf"max_num_tokens \((?P<model>{_NUMBER})\)\W.*?{_OF_ANSWER}", _ANY),
)


def answer_alone_is_too_long(sentence: str) -> bool:
    """Return whether a sentence says that the answer alone may get as long as the model's whole context.

    Then every request to this model is refused, whatever its prompt. A prompt that is too long together with that limit
    is a matter of its own trial.
    """
    for pattern in _SUMS:
        if found := pattern.search(sentence):
            return _whole(found["answer"]) >= _whole(found["model"])
    return False


def _whole(number: str) -> int:
    return int(number.replace(",", ""))


def stated_quota(body: str) -> Literal["stop", "day", "again"] | None:
    """Return the kind of quota of Google's that a body names; None if it names none. A limit of 0 is like a spent one:
    no wait makes room.

    Its sentence ("You exceeded your current quota, please check your plan and billing details") is the same for all of
    them, so the details decide: quotaId, a limit of 0, RetryInfo. Gateways hand them on as text within text, with
    quotation marks of any kind: the names are looked up in the whole body.
    """
    if not _EXHAUSTED.search(body) and not _METRICS.search(body):
        return None
    if _ZERO.search(body):
        return "stop"
    named = " ".join([*_IDS.findall(body), *(found[0] for found in _METRICS.finditer(body))])
    if _DAY.search(named):
        return "day"
    return None if _SPENT.search(body) and not _MINUTE.search(named) else "again"


LONGEST_BACKOFF_S = 60.0
# 424: another service that it needs, 498: no room in a flexible tier, 499: the request was cancelled (Groq)
_AGAIN = {408, 409, 424, 425, 429, 498, 499}
HOPELESS_WAIT_S = 3600.0
_DECLINED = {400, 403, 413, 422}
_LOADING = re.compile(
    r"^(?!.*\b(?:fail|error|unable|cannot|could not))"
    r"(?:.*\b(?:model|weights|pipeline|server|endpoint|service|replica)s?\b.{0,80}"
    r"\b(?:loading|being (?:loaded|downloaded)|starting up|initiali[sz]ing|scaling up)"
    r"|.*\bloading (?:the )?model|.*\b(?:model|endpoint)\b.{0,20}\bnot ready|.*\bwarming up|.*\bcold start)",
    re.IGNORECASE | re.DOTALL,
)
_OF_WEB_SERVERS = ("", "Not Found", "File Not Found", "404 page not found")  # a web server's words, not an API's


@dataclass(slots=True)  # made for each exchange: see Exchange
class NextStep:
    """Say what to do about an exchange: `read` it, ask `again` after `wait_s`, take it as `filtered`, `malformed` or
    `rejected`, let its trial `fail`, or `stop` the model. `decline`: the provider refuses the request in unknown words;
    what happens then depends on the other trials (collector/ask/declined.py).

    `pause_s` is how long the provider wants this key to be quiet; `body` is what there is to read. `status` is the
    effective status of a response to ask again for: a gateway's 200 around an error of 429 is a 429. `category` is what
    a filter held back, `answer` what the model had said anyway. `is_loading`: a server loads its model, which is no
    failure of the trial.
    """

    action: Literal["read", "again", "filtered", "malformed", "rejected", "decline", "fail", "stop"]
    reason: str = ""
    wait_s: float = 0.0
    pause_s: float = 0.0
    body: Mapping[str, Any] = field(default_factory=dict)
    status: int | None = None
    category: str | None = None
    answer: str | None = None
    is_loading: bool = False


def backoff_s(try_no: int) -> float:
    """Return 0.5, 1, 2 … 60 s, before jitter."""
    return float(min(LONGEST_BACKOFF_S, 0.5 * 2 ** min(try_no - 1, 10)))


def judge(exchange: Exchange, try_no: int, speakers: frozenset[str] = NOBODY) -> NextStep:
    """Return the next step after an exchange. `try_no` counts from 1; waits double from 0.5 s up to a minute, before
    jitter. `speakers` are the providers whose documented codes count in it (collector/providers/error_meanings.py)."""
    backoff = backoff_s(try_no)
    if exchange.is_packed:
        return NextStep("stop", exchange.error or "")
    if exchange.error is not None:
        wait = 0.0 if exchange.was_dropped and try_no == 1 else backoff
        return NextStep("again", exchange.error, wait_s=wait)
    body = exchange.json()
    status = true_status(exchange.status or 0, body)
    if status == 200:
        return NextStep("again", _unreadable(exchange), wait_s=backoff) if body is None else NextStep("read", body=body)
    is_hidden = exchange.status == 200 and status == UNTOLD  # the error in a 200 names no status
    error = provider_error(None if is_hidden else status, exchange.plain_text() if body is None else body)
    sentence = error.sentence[:500]
    said = "HTTP 200 with an error in it" if is_hidden else f"HTTP {status}"
    reason = f"{said}{f': {sentence}' if sentence else ''}"
    meaning = _meaning(error, exchange, status, speakers)
    if known := _known(error, meaning, reason):
        return known
    if status in _AGAIN or status >= 500 or (meaning and meaning.means in ("again", "day")):
        return _later(error, meaning, exchange, body, status, reason, backoff)
    if status in _DECLINED:
        return NextStep("decline", reason, status=status)
    if 300 <= status < 400:
        return NextStep("stop", f"{reason} (a redirect, not followed: the key stays with its host)")
    if status == 404 and sentence in _OF_WEB_SERVERS:
        reason += " (nothing answers at this address; most servers of your own want /v1 at the end of --base-url)"
    return NextStep("stop", reason)


def _later(
    error: ProviderError,
    meaning: ErrorMeaning | None,
    exchange: Exchange,
    body: Mapping[str, Any] | None,
    status: int,
    reason: str,
    backoff: float,
) -> NextStep:
    """Return the time of the next try. A limit of a day, and a header that requests hours, stop the model; `pause_s` is
    the necessary wait, if known: the run may wait (--longest-wait)."""
    wanted_s = asked_wait_s(exchange.headers, body)
    if meaning and meaning.means == "day" and (wanted_s is None or wanted_s >= LONG_WAIT_S or meaning.is_quota):
        pause_s = (
            wanted_s if wanted_s and wanted_s >= LONG_WAIT_S else 0.0
        )  # Google asks for seconds, whatever the span
        return NextStep("stop", f"{reason} (a limit of a day)", pause_s=pause_s, status=429)
    if (of_header_s := retry_after_s(exchange.headers)) is not None and of_header_s > HOPELESS_WAIT_S:
        return NextStep("stop", reason, pause_s=of_header_s, status=status)
    is_loading = status >= 500 and _LOADING.search(error.sentence) is not None
    status = 429 if status < 500 and meaning else status  # a limit, whatever status it came with
    wait_s, pause_s = max(min(backoff, 5.0) if is_loading else backoff, wanted_s or 0.0), wanted_s or 0.0
    return NextStep("again", reason, wait_s=wait_s, pause_s=pause_s, status=status, is_loading=is_loading)


def _meaning(error: ProviderError, exchange: Exchange, status: int, speakers: frozenset[str]) -> ErrorMeaning | None:
    """Return the meaning of an error in the table, unless its numbers say more: a quota whose span they name, or an
    answer that alone is longer than the model allows."""
    means: Means | None = stated_quota(exchange.body or "") if status in (403, 429, UNTOLD) else None
    if means is not None:
        return ErrorMeaning(means, is_quota=True)
    meaning = error_meaning(error, speakers)
    if meaning and meaning.means == "too_long" and answer_alone_is_too_long(error.sentence):
        return ErrorMeaning("stop")
    return meaning


def _known(error: ProviderError, meaning: ErrorMeaning | None, reason: str) -> NextStep | None:
    """Return the step that an error's meaning implies; None if it is unknown, or the request may be repeated."""
    if meaning is None or meaning.means in ("again", "day"):
        return None
    if meaning.means == "malformed":
        generated = error.error.get("failed_generation")
        return NextStep("malformed", reason, answer=generated if isinstance(generated, str) else None)
    if meaning.means == "filtered":
        return NextStep("filtered", reason, category=meaning.category)
    return NextStep("fail" if meaning.means == "too_long" else "stop", reason)


def _unreadable(exchange: Exchange) -> str:
    body = (exchange.body or "").lstrip()
    if exchange.headers.get("content-type", "").startswith("text/event-stream") or is_stream(body):
        return "a stream of events, which was not asked for, and which broke off or is of an unknown kind"
    if body.startswith("<"):
        return "a web page in place of JSON: is the address right, and is this network logged in?"
    return "not a JSON object"


UNTOLD = 502
"""Judge an error inside a 200 that names no status by this one; it is never shown, as nobody sent it."""


_ANSWERS = ("choices", "content", "output", "candidates")
_NO_ERROR = ("none", "null", "ok", "success", "0", "200")
_ERRORS = ("message", "detail", "errors", "msg", "error_msg", "status_msg")


def true_status(status: int, body: dict[str, Any] | None) -> int:
    """Return the status, or what a gateway hides behind a 200: an error object and no answer, or one in the choice
    itself; a Response that failed, whatever it had said until then.
    """
    if status != 200 or not body:
        return status
    error = _hidden_error(body)
    if not error:
        return status
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else UNTOLD


def _hidden_error(body: Mapping[str, Any]) -> Any:
    choice = first_choice(body)
    if choice is not None and choice.get("error"):
        return choice["error"]
    error = body.get("error")
    if error and _says_something(error):  # an error next to a choice: the answer is incomplete
        return error
    if choice is not None or any(body.get(part) for part in _ANSWERS) or isinstance(body.get("message"), dict):
        return None
    base = body.get("base_resp")  # MiniMax: 0 if all is well
    if isinstance(base, dict) and base.get("status_code"):
        return base
    return error or (body if any(body.get(name) for name in _ERRORS) else None)


def _says_something(error: Any) -> bool:
    """Return whether the field `error` holds an error, and not a mark that there is none."""
    if not isinstance(error, dict):
        return isinstance(error, str | list) and str(error).lower() not in _NO_ERROR
    return any(value and str(value).lower() not in _NO_ERROR for value in error.values())


MayWait = Callable[[str, float, str], bool]
_AGREED_TOO = 60.0  # seconds: requests in flight ask for a little more or less
_OF_A_RUN = 7 * 86_400.0  # seconds: a longer wait is not suggested for one run


@dataclass
class LongWaits:
    """Hold what was agreed to, in seconds by model. `may_wait` asks a person, who sees the model, the seconds and the
    provider's reason."""

    longest_s: float = LONG_WAIT_S
    may_wait: MayWait = lambda model, wait_s, reason: False
    agreed_s: dict[str, float] = field(default_factory=dict)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def judged(self, model: str, verdict: NextStep) -> NextStep:
        """Return the next step after an exchange that requests a wait: wait, or stop the model."""
        wait_s = verdict.pause_s
        if wait_s > self.longest_s:
            async with self._lock:  # one question for all requests in flight
                agreed_s = self.agreed_s.get(model)
                if agreed_s is None:
                    is_agreed = await asyncio.to_thread(self.may_wait, model, wait_s, verdict.reason)
                    agreed_s = self.agreed_s[model] = wait_s + _AGREED_TOO if is_agreed else 0.0
            if wait_s > agreed_s:
                longest = f"this run waits {spoken(self.longest_s)} at most"
                typed = (
                    f"to wait: --longest-wait {math.ceil(wait_s)}" if wait_s <= _OF_A_RUN else "ask again after that"
                )
                reason = (
                    f"{verdict.reason.rstrip(' .')}. It requests a wait of {spoken(wait_s)}, and {longest} ({typed})"
                )
                return replace(verdict, action="stop", reason=reason, pause_s=0.0)
        return replace(verdict, action="again", wait_s=max(verdict.wait_s, wait_s))
