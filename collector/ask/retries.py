"""Decide what an exchange with a provider means: read it, ask again and when, give up this trial, or stop this
model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from slant.collector.ask.rate_limits import LONG_WAIT_S, asked_wait_s, retry_after_s
from slant.collector.providers.error_meanings import (
    NOBODY,
    ErrorMeaning,
    Means,
    ProviderError,
    error_meaning,
    provider_error,
)
from slant.collector.providers.exchange import Exchange, first_choice
from slant.collector.providers.stated_limits import answer_alone_is_too_long, stated_quota
from slant.collector.providers.streams import is_stream

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
