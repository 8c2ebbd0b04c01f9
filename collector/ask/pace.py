"""Decide when the next request of one model may go out.

Three things hold it back: the limit of requests in flight, which adapts (AdaptiveLimit); the budgets in the
provider's headers (rate_limits.py); and pauses. A Retry-After pauses every model that is asked with the same key; a 429
without one pauses only its own model, and not for long. What happens is recorded for the table pace_history.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from slant.collector.ask.rate_limits import LONG_WAIT_S, Budgets, spoken, told_budgets
from slant.collector.keep.journal import utc_now
from slant.collector.providers import is_on_this_machine

DECREASE = 0.7
NEAR_S = 20.0  # for this long after a 429 it grows carefully
CAREFUL = 0.05  # share per second of what was allowed after the 429
FULL_AFTER_S = 60.0  # time to grow later from 1 back to the cap
BELOW_ONE = 0.25  # share per second of the current value, if the cap's share would be a leap
MIN_ALLOWED = 0.02
SPREAD = 1.25  # requests leave this much faster than they come back, so that the limit stays filled
SHORTEST_BREATH_S, LONGEST_FIRST_BREATH_S, LONGEST_BREATH_S = 0.05, 0.5, 30.0
GROWTH_PAUSE_S = 10.0
_SMOOTHING = 0.1
log = logging.getLogger(__name__)
START_LIMIT = 4
PATIENCE_S = 900.0  # how long a model may answer only 429 before its trials count as failed
SAID_AFTER_S = 5.0  # of only 429, after which that is reported
SAID_AFTER_OPEN_S = 30.0  # of waiting for one answer, as for a slow local model
NOTE_EVERY_S = 1.0

Note = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Ticket:
    """Permit one request to be sent. `sent_s` is monotonic."""

    number: int
    sent_s: float
    was_full: bool


@dataclass(slots=True)
class KeyPause:
    """Hold until when (monotonic) a provider wants a key to be quiet; all models that are asked with the key share
    it."""

    until_s: float = 0.0


class Pace:
    """Pace one provider, key and model. Call `enter` before each request, `leave` after it, `close` to send no more."""

    def __init__(
        self,
        cap: int = 16,
        start: int | None = None,
        pause: KeyPause | None = None,
        model: str = "",
        note: Note = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limit = AdaptiveLimit(cap, cap if start is None else start)
        self.in_flight = 0
        self._open: dict[int, float] = {}  # when each request in flight was sent, by its number, the oldest first
        self.closed = asyncio.Event()
        self._pause, self._own_pause = pause or KeyPause(), KeyPause()
        self._next_s = 0.0  # the limit's own spacing
        self._is_spaced = False
        self._n_quiet = 0  # declined requests under examination: nothing new is sent meanwhile
        self._budgets = Budgets()
        self._refused_since: float | None = None
        self._line: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._model, self._note, self._clock = model, note, clock
        self._budget_wait_s = 0.0
        self._noted_s = {"grew": 0.0, "budget": 0.0}
        self._tell("started")

    async def enter(self) -> Ticket | None:
        """Wait until a request may be sent; None if the pace was closed."""
        while not self.closed.is_set():
            now = self._clock()
            wait_s, waits_for = self._wait(now)
            self._is_spaced = self._is_spaced or waits_for == "spacing"
            if wait_s <= 0 and self.in_flight < self.limit.allowed and not self._n_quiet:
                return self._take(now)
            if wait_s > 0:
                self._ring_in(wait_s)
                if waits_for not in ("pause", "spacing"):
                    self._budget_wait_s += wait_s
                    if self._clock() - self._noted_s["budget"] >= NOTE_EVERY_S:
                        self._tell_budget_waits(waits_for)
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._line.append(turn)
            await turn
        return None

    def leave(self, ticket: Ticket, status: int | None, headers: Mapping[str, str], asked_wait_s: float) -> None:
        """Note that a request came back with this status (None: not at all), and asks for a wait (0: for none)."""
        self.in_flight -= 1
        self._open.pop(ticket.number, None)
        now = self._clock()
        if budgets := told_budgets(headers):
            self._budgets.learn(budgets, ticket.number, ticket.sent_s)
        if status == 429:
            self._rate_limited(ticket, now, asked_wait_s)
        elif status is None or status >= 500:
            if self.limit.troubled(now):
                self._tell("growth_paused", None, f"HTTP {status}" if status else "no answer")
        elif status == 200:
            self._answered(ticket, now)
        if asked_wait_s > 0:  # the limit of a day is the model's, not the key's
            self._quiet(self._pause if asked_wait_s <= LONG_WAIT_S else self._own_pause, now + asked_wait_s)
        if asked_wait_s > LONG_WAIT_S:
            self._refused_since = now + asked_wait_s  # patience begins where the wait ends
        self._next_in_line()

    async def quiet_until(self, is_clear: Callable[[], bool]) -> None:
        """Send nothing new until `is_clear`, or until nothing is in flight that could make it so."""
        self._n_quiet += 1
        try:
            while self.in_flight and not is_clear() and not self.closed.is_set():
                await sleep_unless(self.closed, 0.02)
        finally:
            self._n_quiet -= 1
        self._next_in_line()

    def give_back(self, ticket: Ticket) -> None:
        """Take back the ticket of a request that was not sent."""
        self.in_flight -= 1
        self._open.pop(ticket.number, None)
        self._next_in_line()

    def used(self, input_tokens: int | None, output_tokens: int | None) -> None:
        """Note what an answer used; the next one is expected to use as much of the token budgets."""
        self._budgets.used(input_tokens, output_tokens)

    def close(self) -> None:
        """Send nothing more, and release everything that waits."""
        if not self.closed.is_set():
            self._tell_budget_waits()
            self._tell("ended")
        self.closed.set()
        while self._line:
            self._next_in_line()

    async def sleep(self, seconds: float) -> None:
        """Wait before the next try of a request; end early if the pace is closed."""
        if seconds > 0:
            await sleep_unless(self.closed, seconds)

    @property
    def is_hopeless(self) -> bool:
        """Return True if the provider has answered only 429 for very long."""
        return self._refused_since is not None and self._clock() - self._refused_since > PATIENCE_S

    @property
    def paused_s(self) -> float:
        """Return the seconds for which nothing may be sent, as the provider asked."""
        return max(0.0, max(self._pause.until_s, self._own_pause.until_s) - self._clock())

    def __str__(self) -> str:
        """Describe what holds this model back now."""
        now, wait_s = self._clock(), self.paused_s
        held = f"waits {spoken(wait_s)}" if wait_s >= 1 else f"{self.limit.allowed} at once"
        oldest_s = now - next(iter(self._open.values()), now)
        held += f", the oldest open request is {spoken(oldest_s)} old" if oldest_s >= SAID_AFTER_OPEN_S else ""
        if self._refused_since is None or now - self._refused_since < SAID_AFTER_S:
            return held
        return f"only HTTP 429 for {spoken(now - self._refused_since)}, {held}"

    def _wait(self, now: float) -> tuple[float, str]:
        """Return the seconds until the next request may go out, and what that waits for."""
        wait_s, waits_for = self._budgets.wait_s(now)
        paused_s = max(self._pause.until_s, self._own_pause.until_s) - now
        if paused_s >= wait_s:
            wait_s, waits_for = paused_s, "pause"
        spaced_s = self._next_s - now
        return (spaced_s, "spacing") if spaced_s >= wait_s else (wait_s, waits_for)

    def _take(self, now: float) -> Ticket:
        self.in_flight += 1
        ticket = Ticket(self._budgets.spend(now), now, self._is_spaced or self.in_flight >= self.limit.allowed)
        self._open[ticket.number] = now
        self._next_s, self._is_spaced = now + self.limit.spacing_s, False
        if self.in_flight < self.limit.allowed:
            self._next_in_line()  # each wakes the next, so that a pause does not end in a stampede
        return ticket

    def _answered(self, ticket: Ticket, now: float) -> None:
        self._refused_since = None
        grew = self.limit.answered(ticket.sent_s, now, ticket.was_full)
        if grew and now - self._noted_s["grew"] >= NOTE_EVERY_S:
            self._noted_s["grew"] = now
            self._tell("grew")

    def _rate_limited(self, ticket: Ticket, now: float, asked_wait_s: float) -> None:
        if self._refused_since is None:
            self._refused_since = now
        breath_s = self.limit.rate_limited(ticket.sent_s, now)
        if breath_s > 0 and asked_wait_s <= 0:
            self._quiet(self._own_pause, now + breath_s)
        if breath_s > 0:
            self._tell("rate_limited", asked_wait_s or breath_s, "asked for" if asked_wait_s > 0 else "not asked for")

    @staticmethod
    def _quiet(pause: KeyPause, until_s: float) -> None:
        pause.until_s = max(pause.until_s, until_s)

    def _ring_in(self, wait_s: float) -> None:
        loop = asyncio.get_running_loop()
        when = loop.time() + max(wait_s, 0.001)  # a wait too short for the clock would have no effect
        if self._timer is not None and self._timer.when() <= when:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_at(when, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._next_in_line()

    def _next_in_line(self) -> None:
        while self._line:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    def _tell_budget_waits(self, waits_for: str = "") -> None:
        if self._budget_wait_s > 0:
            self._noted_s["budget"] = self._clock()
            self._tell("budget", self._budget_wait_s, waits_for or None)
            self._budget_wait_s = 0.0

    def _tell(self, event: str, wait_s: float | None = None, detail: str | None = None) -> None:
        waits = "" if wait_s is None else f", waits {spoken(wait_s)} ({detail})"
        log.info("%s: pace %s, %d requests at once%s", self._model, event, self.limit.allowed, waits)
        told = {"kind": "pace", "noted_at": utc_now(), "model": self._model, "event": event}
        state = {"request_limit": self.limit.allowed, "in_flight": self.in_flight}
        self._note({**told, **state, "wait_s": wait_s, "detail": detail})


class Paces:
    """Make the pace of each model of a run; models that are asked with one key share its pauses."""

    def __init__(self, cap: int, note: Note) -> None:
        self._cap, self._note = cap, note
        self._pauses: dict[tuple[str, str, str | None], KeyPause] = {}

    def pace(self, model: str, provider: str, base_url: str, key: str | None) -> Pace:
        """Return the pace of a model. A server on this machine is asked at full concurrency from the start, any other
        one moderately at first.
        """
        pause = self._pauses.setdefault((provider, base_url, key), KeyPause())
        start = self._cap if is_on_this_machine(base_url) else START_LIMIT
        return Pace(self._cap, start, pause, model, self._note)


async def sleep_unless(stopping: asyncio.Event, seconds: float) -> None:
    """Sleep, but wake when the run is stopped."""
    try:
        async with asyncio.timeout(seconds):
            await stopping.wait()
    except TimeoutError:
        return


class AdaptiveLimit:
    """Keep between 1 and `cap` requests of one model in flight: additive increase, multiplicative decrease. It reads no
    clock; times are in seconds of one.

    It starts moderately and doubles each round trip until the first 429. A 429 reduces it by a third, at most once per
    round trip: other 429s of requests that were already sent say nothing new. Then it grows by the same amount each
    second, slowly near the level of the last 429, faster after some time without one.
    After the first 429, requests leave evenly spread over the usual service time instead of all at once. If even one at
    a time is too many (a strict limit, quick answers), they leave further apart. Failures of the server (5xx) only
    pause growth. Long answers never slow it: spread requests keep as many in flight as are allowed.
    """

    def __init__(self, cap: int, start: int) -> None:
        self._cap = cap
        self._limit = float(max(1, min(start, cap)))
        self._was_limited = False
        self._low = self._limit
        self._service_s: float | None = None
        self._breath_s = 0.0
        self._decreased_s = self._grows_from_s = self._grew_s = float("-inf")

    @property
    def allowed(self) -> int:
        return max(1, int(self._limit))

    @property
    def spacing_s(self) -> float:
        """Return the minimum time between two requests; 0 as long as none was refused."""
        if not self._was_limited or self._service_s is None:
            return 0.0
        return min(LONGEST_BREATH_S, self._service_s / (SPREAD * self._limit))

    def answered(self, sent_s: float, now_s: float, was_full: bool) -> bool:
        """Note that an answer came, and return True if more may be sent now. Only a request that filled the limit shows
        that it holds.
        """
        service_s = now_s - sent_s
        before_s = service_s if self._service_s is None else self._service_s
        self._service_s = before_s + _SMOOTHING * (service_s - before_s)
        if sent_s <= self._decreased_s:
            return False
        self._breath_s = 0.0
        since_s, self._grew_s = now_s - max(self._grew_s, self._decreased_s, sent_s), now_s
        if not was_full or sent_s < self._grows_from_s or self._limit >= self._cap:
            return False
        before = self.allowed
        self._limit = min(float(self._cap), self._limit + self._growth(now_s, since_s))
        return self.allowed > before

    def rate_limited(self, sent_s: float, now_s: float) -> float:
        """Note a 429 and return how long to send nothing (s): 0 if its request was sent before the last decrease."""
        if sent_s <= self._decreased_s:
            return 0.0
        self._was_limited = True
        self._decreased_s = now_s
        self._limit = self._low = max(MIN_ALLOWED, self._limit * DECREASE)
        first = min(LONGEST_FIRST_BREATH_S, max(SHORTEST_BREATH_S, self._service_s or LONGEST_FIRST_BREATH_S))
        self._breath_s = min(LONGEST_BREATH_S, max(first, 2 * self._breath_s))
        return self._breath_s

    def troubled(self, now_s: float) -> bool:
        """Note that the server failed, and return True if growth was not paused already. Answers to what is sent later
        let it grow.
        """
        is_new = now_s >= self._grows_from_s
        self._grows_from_s = now_s + GROWTH_PAUSE_S
        return is_new

    def _growth(self, now_s: float, since_s: float) -> float:
        if not self._was_limited:
            return 1.0
        if now_s - self._decreased_s < NEAR_S:
            return self._low * CAREFUL * since_s
        return (self._limit * BELOW_ONE if self._limit < 1 else self._cap / FULL_AFTER_S) * since_s
