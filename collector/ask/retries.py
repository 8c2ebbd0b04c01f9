"""What an exchange with a provider means: read it, ask again and when, give this trial up, stop this model. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from slant.collector.ask.rate_limits import LONGEST_WAIT_S, asked_wait_s, spoken
from slant.collector.providers.exchange import Exchange

LONGEST_BACKOFF_S = 60.0
_FILTER_CODES = {"content_filter", "content_policy_violation", "invalid_prompt"}
_MONEY_CODES = {"insufficient_quota", "billing_hard_limit_reached", "credit_balance_too_low"}
_AGAIN = {408, 409, 425, 429}


@dataclass(frozen=True, slots=True)
class NextStep:
    """What to do about an exchange: `read` it, ask `again` after `wait_s`, take it as `filtered`, let its trial `fail`,
    or `stop` the model.

    `pause_s` is how long the provider wants this key to be quiet; `body` is what there is to read. `status` is what a
    response to ask again for amounts to: a gateway's 200 around an error of 429 is one of 429.
    """

    action: Literal["read", "again", "filtered", "fail", "stop"]
    reason: str = ""
    wait_s: float = 0.0
    pause_s: float = 0.0
    body: Mapping[str, Any] = field(default_factory=dict)
    status: int | None = None


def backoff_s(try_no: int) -> float:
    """0.5, 1, 2 … 60 s, before jitter."""
    return float(min(LONGEST_BACKOFF_S, 0.5 * 2 ** min(try_no - 1, 10)))


def judge(exchange: Exchange, try_no: int) -> NextStep:
    """What an exchange means. `try_no` counts from 1; waits double from 0.5 s up to a minute, before jitter."""
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
    code, sentence = _provider_error(body)
    reason = f"HTTP {status}{f': {sentence}' if sentence else ''}"
    if code in _FILTER_CODES:
        return NextStep("filtered", reason)
    if code in _MONEY_CODES:
        return NextStep("stop", reason)
    if is_too_long(status, code, sentence):
        return NextStep("fail", reason)
    if status in _AGAIN or status >= 500:
        requested_wait_s = asked_wait_s(exchange.headers, body)
        if requested_wait_s is not None and requested_wait_s > LONGEST_WAIT_S:
            longest = f"a run waits {spoken(LONGEST_WAIT_S)} at most: try again later"
            return NextStep("stop", f"{reason}. It asks to wait {spoken(requested_wait_s)}, and {longest}")
        wait_s, pause_s = max(backoff, requested_wait_s or 0.0), requested_wait_s or 0.0
        return NextStep("again", reason, wait_s=wait_s, pause_s=pause_s, status=status)
    if 300 <= status < 400:
        return NextStep("stop", f"{reason} (a redirect, not followed: the key stays with its host)")
    if status == 404 and sentence in ("", "Not Found", "File Not Found"):  # a web server's words, not an API's
        reason += " (nothing answers at this address; most servers of your own want /v1 at the end of --base-url)"
    return NextStep("stop", reason)


def _unreadable(exchange: Exchange) -> str:
    if exchange.headers.get("content-type", "").startswith("text/event-stream"):
        return "a stream of events, which was not asked for"
    return "not a JSON object"


def true_status(status: int, body: dict[str, Any] | None) -> int:
    """The status, or what a gateway hides behind a 200: an error object and nothing else."""
    if status != 200 or not body or not body.get("error"):
        return status
    if any(body.get(part) for part in ("choices", "content", "output", "candidates", "message")):
        return status
    code = body["error"].get("code") if isinstance(body["error"], dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 502


def _provider_error(body: dict[str, Any] | None) -> tuple[str, str]:
    """The provider's own error code and sentence, in whichever of the usual shapes they come."""
    body = body or {}
    # `detail`: what FastAPI says by itself, so many local servers do; older vLLM has its message at the top
    error = body.get("error") or body.get("detail") or body
    if isinstance(error, list):
        error = error[0] if error else None
    if isinstance(error, str):
        return "", _one_line(error)
    if not isinstance(error, dict):
        return "", ""
    code = next((c for c in (error.get("code"), error.get("type")) if isinstance(c, str)), "")
    return code, _one_line(error.get("message") or error.get("msg") or "")


def _one_line(said: object) -> str:
    """A sentence of a server's, without the line ends by which it could pass for several of slant's own."""
    return " ".join(str(said)[:2000].split())[:500]


# A prompt that does not fit its model ends one trial, and says nothing about the others. Servers say so in many ways:
#   OpenAI      400, code context_length_exceeded
#   Anthropic   400, "prompt is too long: 208310 tokens > 200000 maximum"
#   DeepSeek, vLLM, OpenRouter  400, "This model's maximum context length is 65536 tokens. However, you requested …"
#   Gemini      400, "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."
#   llama.cpp   400 (older: 500), type exceed_context_size_error, "… exceeds the available context size"
_STATUSES = {400, 413, 422, 500}
_CODES = {"context_length_exceeded", "string_above_max_length", "exceed_context_size_error", "context_exceeded",
          "request_too_large"}  # fmt: skip
_SAID = re.compile(
    r"maximum (?:context|model|sequence) length|prompt is too long|longer than the maximum model length"
    r"|exceeds? (?:the )?(?:available )?context (?:limit|size|length|window)"
    r"|input token count\b.{0,40}exceeds the maximum|max_new_tokens.{0,20}must be <=",
    re.IGNORECASE | re.DOTALL,
)


def is_too_long(status: int, code: str, sentence: str) -> bool:
    """`code` and `sentence` as the provider's error has them."""
    return status == 413 or (status in _STATUSES and (code in _CODES or bool(_SAID.search(sentence))))
