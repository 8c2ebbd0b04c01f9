"""Decide what an exchange with a provider means: read it, ask again and when, give up this trial, or stop this
model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from slant.collector.ask.rate_limits import LONGEST_WAIT_S, asked_wait_s, spoken
from slant.collector.providers.error_meanings import ProviderError, error_meaning, provider_error
from slant.collector.providers.exchange import Exchange, first_choice
from slant.collector.providers.streams import is_stream

LONGEST_BACKOFF_S = 60.0
# 424: another service that it needs, 498: no room in a flexible tier, 499: the request was cancelled (Groq)
_AGAIN = {408, 409, 424, 425, 429, 498, 499}
_DECLINED = {400, 403, 413, 422}
_OF_WEB_SERVERS = ("", "Not Found", "File Not Found", "404 page not found")  # a web server's words, not an API's


@dataclass(slots=True)  # made for each exchange: see Exchange
class NextStep:
    """Say what to do about an exchange: `read` it, ask `again` after `wait_s`, take it as `filtered`, `malformed` or
    `rejected`, let its trial `fail`, or `stop` the model. `decline`: the provider refuses the request in unknown words;
    what happens then depends on the other trials (collector/ask/declined.py).

    `pause_s` is how long the provider wants this key to be quiet; `body` is what there is to read. `status` is the
    effective status of a response to ask again for: a gateway's 200 around an error of 429 is a 429. `category` is what
    a filter held back, `answer` what the model had said anyway.
    """

    action: Literal["read", "again", "filtered", "malformed", "rejected", "decline", "fail", "stop"]
    reason: str = ""
    wait_s: float = 0.0
    pause_s: float = 0.0
    body: Mapping[str, Any] = field(default_factory=dict)
    status: int | None = None
    category: str | None = None
    answer: str | None = None


def backoff_s(try_no: int) -> float:
    """Return 0.5, 1, 2 … 60 s, before jitter."""
    return float(min(LONGEST_BACKOFF_S, 0.5 * 2 ** min(try_no - 1, 10)))


def judge(exchange: Exchange, try_no: int) -> NextStep:
    """Return what an exchange means. `try_no` counts from 1; waits double from 0.5 s up to a minute, before jitter."""
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
    if known := _known(error, reason):
        return known
    if status in _AGAIN or status >= 500:
        requested_wait_s = asked_wait_s(exchange.headers, body)
        if requested_wait_s is not None and requested_wait_s > LONGEST_WAIT_S:
            longest = f"a run waits {spoken(LONGEST_WAIT_S)} at most: try again later"
            return NextStep("stop", f"{reason}. It asks to wait {spoken(requested_wait_s)}, and {longest}")
        wait_s, pause_s = max(backoff, requested_wait_s or 0.0), requested_wait_s or 0.0
        return NextStep("again", reason, wait_s=wait_s, pause_s=pause_s, status=status)
    if status in _DECLINED:
        return NextStep("decline", reason, status=status)
    if 300 <= status < 400:
        return NextStep("stop", f"{reason} (a redirect, not followed: the key stays with its host)")
    if status == 404 and sentence in _OF_WEB_SERVERS:
        reason += " (nothing answers at this address; most servers of your own want /v1 at the end of --base-url)"
    return NextStep("stop", reason)


def _known(error: ProviderError, reason: str) -> NextStep | None:
    """Return what the table of errors says; None if it has no row for this error, or it is to be asked again."""
    meaning = error_meaning(error)
    if meaning is None or meaning.means == "again":
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
    if (choice := first_choice(body)) is not None:
        return choice.get("error") or (body.get("error") if body.get("status") == "failed" else None)
    error = body.get("error")
    if error and body.get("status") == "failed":
        return error
    if any(body.get(part) for part in _ANSWERS) or isinstance(body.get("message"), dict):
        return None
    base = body.get("base_resp")  # MiniMax: 0 if all is well
    if isinstance(base, dict) and base.get("status_code"):
        return base
    return error or (body if any(body.get(name) for name in _ERRORS) else None)
