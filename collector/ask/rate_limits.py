"""Read what servers say about their limits into numbers: headers and bodies in, seconds and counts out.

OpenAI and those like it: x-ratelimit-{limit,remaining,reset}-{requests,tokens}, resets as durations (1m30s, 6ms).
Anthropic: anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,remaining,reset}, resets in RFC 3339.
Azure: the same names, resets as plain numbers that are milliseconds, and x-ratelimit-renewalperiod-{requests,tokens}.
OpenRouter, Together: x-ratelimit-{limit,remaining,reset}, resets as seconds or as a moment since 1970.
Mistral, Cerebras: x-ratelimit-{limit,remaining,reset}-{req,requests,tokens}-{minute,day}, with or without resets.
ratelimit-{limit,remaining,reset} (an IETF draft): seconds, the limit also as 100;w=60; newer: "name";r=50;t=30.
Waits: retry-after-ms, retry-after (seconds or a date), RetryInfo in the body (Gemini), its retry_after, "try again in
1.2s" (OpenAI), "Please retry after 26 seconds" (Azure), OpenRouter's X-RateLimit-Reset inside the body.
"""

from __future__ import annotations

import email.utils
import functools
import math
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from slant.collector.system.patterns import lazy_pattern

LONG_WAIT_S = 600.0  # a run asks before it waits longer (--longest-wait)

_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_UNIT = r"ms|us|µs|ns|millisecond|msec|d|day|h|hr|hour|m|min|minute|s|sec|second"
_PART = lazy_pattern(rf"([0-9]{{1,15}}(?:\.[0-9]{{1,15}})?)\s?(?:({_UNIT})s?)(?![a-zµ])")
_DURATION = lazy_pattern(rf"(?:p?t)?(?:{_PART.pattern}[\s,]{{0,2}})+")
_NUMBER = lazy_pattern(r"[0-9]+(?:\.[0-9]+)?")
_OPENAI = lazy_pattern(
    r"(?:x-)?ratelimit-(?P<what>limit|remaining|reset|renewalperiod)"
    r"(?:-(?P<kind>requests|req|tokens|input-tokens|output-tokens))?(?:-(?P<span>second|minute|hour|day))?"
)
_ANTHROPIC = lazy_pattern(
    r"anthropic-ratelimit-(?P<kind>requests|tokens|input-tokens|output-tokens)-(?P<what>limit|remaining|reset)"
)
_KINDS = {None: "requests", "req": "requests"}
_SPANS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86_400.0}
_OLDEST_MOMENT = 1e9  # no limit takes thirty years to reset: a larger number is a moment since 1970
_USUAL_PERIOD_S = 60.0  # for a limit that does not state its period
_WINDOW = lazy_pattern(r"\s*([0-9]{1,15})\s*(?:[,;]|$)(?:.*?;\s*w=([0-9]{1,9}))?.*", re.DOTALL)
_TRY_AGAIN = lazy_pattern(
    rf"\b(?:try again|try your request again|retry|retry your request|wait)(?: (?:in|after|for|at least))? "
    rf"((?:{_PART.pattern}[\s,]{{0,2}})+)",
    re.IGNORECASE,
)
_WAITS = {"retry_after": 1.0, "retry_after_seconds": 1.0, "retry_after_ms": 1e-3, "retryAfter": 1.0, "reset_in": 1.0}
_ITEM = lazy_pattern(r"\b(?P<what>r|remaining|t|reset|q|limit|w)=\s*\"?(?P<number>[0-9]{1,15})")
_ITEM_PARTS = {"r": "remaining", "t": "reset", "q": "limit", "w": "renewalperiod"}


@dataclass(frozen=True, slots=True)
class StatedBudget:
    """Hold one budget as a response reports it. `kind`: requests, tokens, input_tokens or output_tokens, followed by
    the time span if the header names one ("tokens_day"). `reset_s`: seconds from now until it is full again; None if
    not reported."""

    kind: str
    limit: float
    remaining: float
    reset_s: float | None


@functools.lru_cache(maxsize=256)  # thousands of answers have the same few
def duration_s(text: str) -> float | None:
    """Return the seconds of "1m30s", "6ms", "20 seconds", "PT1M30S" or a plain number; None if it is none."""
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return float(text)
    if not _DURATION.fullmatch(text := text.lower()):
        return None
    return sum(float(number) * _UNITS[_short(unit)] for number, unit in _PART.findall(text))


def _short(unit: str) -> str:
    return unit if unit in _UNITS else "ms" if unit in ("millisecond", "msec") else unit[0]


def reset_s(text: str, now: float) -> float | None:
    """Return seconds from `now` (since 1970) to a reset: a duration, an RFC 3339 time, or a moment since 1970 (or
    ms)."""
    seconds = duration_s(text)
    if seconds is not None:
        if seconds > _OLDEST_MOMENT:
            seconds = max(0.0, (seconds / 1000 if seconds > 1e11 else seconds) - now)
        return seconds
    try:
        when = datetime.fromisoformat(text.strip())
        return max(0.0, (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def server_time(headers: Mapping[str, str]) -> float:
    """Return the time by the server's own clock, if it reports it (the Date header): moments in its headers refer to
    it."""
    moment = _date(headers.get("date", ""))
    return time.time() if moment is None else moment


def told_budgets(headers: Mapping[str, str]) -> tuple[StatedBudget, ...]:
    """Return budgets that the headers report (names in lower case) with a limit and the remainder."""
    parts_by_kind: dict[str, dict[str, str]] = {}
    for name, kind, what in _budget_parts(tuple(headers)):
        parts_by_kind.setdefault(kind, {})[what] = headers[name]
    if not parts_by_kind:
        return ()
    moment = server_time(headers)
    budgets = (_told(kind, parts, moment) for kind, parts in parts_by_kind.items())
    return tuple(budget for budget in budgets if budget is not None)


@functools.lru_cache(maxsize=64)  # thousands of answers have headers of the same names
def _budget_parts(names: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
    """Return the headers that report a part of a budget, each with the budget and the part."""
    return tuple((name, *part) for name in names if (part := _budget_part(name)) is not None)


def _budget_part(name: str) -> tuple[str, str] | None:
    """Return the budget and the part of it that a header reports: ("input_tokens", "limit"); None if none."""
    if name in ("ratelimit", "ratelimit-policy"):
        return "requests", name
    match = _OPENAI.fullmatch(name) or _ANTHROPIC.fullmatch(name)
    if match is None:
        return None
    parts = match.groupdict()
    kind = _KINDS.get(parts["kind"], (parts["kind"] or "").replace("-", "_"))
    span = parts.get("span")
    return (f"{kind}_{span}" if span else kind, parts["what"])


def is_budget(name: str) -> bool:
    """Return whether a header of this name (in lower case) reports a part of a budget."""
    return _budget_part(name) is not None


def _told(kind: str, parts: Mapping[str, str], now: float) -> StatedBudget | None:
    if "ratelimit" in parts:
        parts = _of_item(parts.get("ratelimit-policy", ""), parts["ratelimit"]) | dict(parts)
    limit, period_s = _limit(parts.get("limit", ""))
    remaining = _number(parts.get("remaining", ""))
    if limit is None or remaining is None or limit <= 0:
        return None
    period_s = _number(parts.get("renewalperiod", "")) or period_s or _span_s(kind)
    missing = max(0.0, limit - remaining)
    return StatedBudget(
        kind, limit, min(remaining, limit), _full_in_s(parts.get("reset", ""), now, missing / limit, period_s)
    )


def _of_item(policy: str, item: str) -> dict[str, str]:
    """Return the parts of a budget in the newer IETF form: `"default";r=50;t=30`, its policy `"default";q=100;w=60`.
    If there are several, the first counts."""
    found = [match for text in (policy, item) for match in reversed(list(_ITEM.finditer(text)))]
    parts = {_ITEM_PARTS.get(match["what"], match["what"]): match["number"] for match in found}
    return {name: f"{number}s" if name == "reset" else number for name, number in parts.items()}


@functools.lru_cache(maxsize=64)
def _span_s(kind: str) -> float | None:
    """Return the seconds of "tokens_day"; None for "tokens"."""
    return _SPANS.get(kind.rpartition("_")[2])


def _full_in_s(reset: str, now: float, missing_share: float, period_s: float | None) -> float | None:
    """Return the seconds until a budget is full again. A number without a unit may be seconds or milliseconds: it is
    limited to what the limit's period allows, because a budget of 120 per minute that lacks one is full in half a
    second."""
    told_s = reset_s(reset, now)
    if told_s is not None and not _is_plain(reset):
        return told_s
    if told_s is None:
        return None if period_s is None else missing_share * period_s
    return min(told_s, missing_share * (period_s or _USUAL_PERIOD_S))


@functools.lru_cache(maxsize=256)
def _is_plain(reset: str) -> bool:
    """Return whether a reset is a number without a unit, and no moment."""
    return _NUMBER.fullmatch(reset.strip()) is not None and float(reset) <= _OLDEST_MOMENT


@functools.lru_cache(maxsize=256)
def _limit(text: str) -> tuple[float | None, float | None]:
    """Return the limit, and its period in seconds if the header has it ("100, 100;w=60")."""
    if (plain := _number(text)) is not None:
        return plain, None
    match = _WINDOW.fullmatch(text)
    return (float(match[1]), float(match[2]) if match[2] else None) if match else (None, None)


@functools.lru_cache(maxsize=256)
def _number(text: str) -> float | None:
    text = text.strip()
    value = float(text) if _NUMBER.fullmatch(text) else None
    return value if value is not None and math.isfinite(value) else None


def retry_after_s(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the wait in seconds that the headers ask for, infinite for absurd numbers; None if none is readable."""
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _NUMBER.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    value = (headers.get("retry-after") or headers.get("x-retry-after") or "").strip()
    if (seconds := duration_s(value)) is not None:
        return seconds
    moment = _date(value)
    if moment is None:
        return None
    return max(0.0, moment - (server_time(headers) if now is None else now))


@functools.lru_cache(maxsize=64)  # the Date header of many answers is the same second
def _date(text: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(text).timestamp() if text else None
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def body_wait_s(body: Mapping[str, Any] | None) -> float | None:
    """Return the wait in seconds from an error body: Gemini's RetryInfo, a field for it, OpenRouter's headers inside
    the body, or a sentence such as "Please try again in 1.2s"."""
    body = body or {}
    error = body.get("error")
    if isinstance(error, list) and error:
        error = error[0]
    if not isinstance(error, Mapping):
        error = {"message": error or body.get("detail") or body.get("message")}
    details = error.get("details")
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, Mapping) and str(detail.get("@type", "")).endswith("google.rpc.RetryInfo"):
            return duration_s(str(detail.get("retryDelay", "")))
    metadata = error.get("metadata")
    for table in (error, metadata if isinstance(metadata, Mapping) else {}, body):
        for name, unit_s in _WAITS.items():
            if name in table and (stated := duration_s(str(table[name]))) is not None:
                return stated * unit_s
    headers = metadata.get("headers") if isinstance(metadata, Mapping) else None
    if isinstance(headers, Mapping):
        inner = {str(name).lower(): str(value) for name, value in headers.items()}
        waits = (retry_after_s(inner), reset_s(inner.get("x-ratelimit-reset", ""), time.time()))
        if (wait_s := next((wait for wait in waits if wait is not None), None)) is not None:
            return wait_s
    sentence = _TRY_AGAIN.search(str(error.get("message") or "")[:2000])
    return duration_s(sentence[1]) if sentence else None


def asked_wait_s(headers: Mapping[str, str], body: Mapping[str, Any] | None) -> float | None:
    """Return the wait that a failed response requests; headers take precedence over the body."""
    wait_s = retry_after_s(headers)
    return body_wait_s(body) if wait_s is None else wait_s


def spoken(seconds: float) -> str:
    """Return a duration in words: 45 s, 12 min, 5.5 h, 3 days."""
    for unit, length, below in (("s", 1, 120), ("min", 60, 7200), ("h", 3600, 172_800), ("days", 86_400, 1e10)):
        if seconds < below:
            return f"{round(seconds / length, 1 if length == 3600 else 0):g} {unit}"
    return "years"


@functools.lru_cache(maxsize=64)  # it is called for each request
def _without_span(kind: str) -> str:
    """Return "tokens" for "tokens_day"."""
    name, _, span = kind.rpartition("_")
    return name if span in _SPANS else kind


_SMOOTHING = 0.1  # how much one answer moves the expected size of the next


@dataclass(slots=True)
class _Budget:
    limit: float
    left: float
    known_s: float
    refill_per_s: float
    told_by: int


class Budgets:
    """Hold one model's budgets. They refill steadily, like the token buckets of OpenAI and Anthropic: `reset` says when
    a budget is full again, so what is missing over that time is the refill. Times are in seconds of one clock.
    """

    def __init__(self) -> None:
        self._budgets: dict[str, _Budget] = {}
        self._sizes: dict[str, float] = {}
        self._sent = 0

    def spend(self, now_s: float) -> int:
        """Count a sent request, and return its number."""
        self._sent += 1
        for kind, budget in self._budgets.items():
            budget.left = self._left(budget, now_s) - self._cost(kind)
            budget.known_s = now_s
        return self._sent

    def learn(self, budgets: Iterable[StatedBudget], number: int, sent_s: float) -> None:
        """Read the headers of the answer to request `number`; they change nothing if a later request's were read
        before.

        They are taken to describe the moment when that request was admitted: what was sent since is subtracted, what
        was refilled since is added.
        """
        for budget in budgets:
            old = self._budgets.get(budget.kind)
            if old is not None and old.told_by > number:
                continue
            missing = budget.limit - budget.remaining
            known = budget.reset_s is not None and budget.reset_s > 0 and missing > 0
            refill = missing / budget.reset_s if known and budget.reset_s else (old.refill_per_s if old else 0.0)
            left = budget.remaining - self._cost(budget.kind) * (self._sent - number)
            self._budgets[budget.kind] = _Budget(budget.limit, left, sent_s, refill, number)

    def used(self, input_tokens: int | None, output_tokens: int | None) -> None:
        """Note what an answer cost; the next one is expected to cost as much."""
        sizes = {"input_tokens": input_tokens, "output_tokens": output_tokens}
        if input_tokens is not None and output_tokens is not None:
            sizes["tokens"] = input_tokens + output_tokens
        for kind, size in sizes.items():
            if size is not None:
                before = self._sizes.get(kind, float(size))
                self._sizes[kind] = before + _SMOOTHING * (size - before)

    def wait_s(self, now_s: float) -> tuple[float, str]:
        """Return seconds until the next request fits into every budget, and the budget that it waits for ("" for
        none)."""
        longest, waits_for = 0.0, ""
        for kind, budget in self._budgets.items():
            missing = min(self._cost(kind), budget.limit) - self._left(budget, now_s)
            # without a known refill only a 429 can say how long
            if missing > 0 and budget.refill_per_s > 0 and missing / budget.refill_per_s > longest:
                longest, waits_for = missing / budget.refill_per_s, kind
        return longest, waits_for

    def _cost(self, kind: str) -> float:
        """Return the expected use of the next request; 1 until an answer has reported its tokens."""
        return self._sizes.get(_without_span(kind), 1.0)

    @staticmethod
    def _left(budget: _Budget, now_s: float) -> float:
        return min(budget.limit, budget.left + budget.refill_per_s * (now_s - budget.known_s))
