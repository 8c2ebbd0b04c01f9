"""Limit how many requests of one model are in flight: additive increase, multiplicative decrease. It reads no clock.

It starts moderately and doubles each round trip until the first 429. A 429 reduces it by a third, at most once per
round trip: other 429s of requests that were already sent say nothing new. Then it grows by the same amount each
second, slowly near the level of the last 429, faster after some time without one.
After the first 429, requests leave evenly spread over the usual service time instead of all at once. If even one at a
time is too many (a strict limit, quick answers), they leave further apart. Failures of the server (5xx) only pause
growth. Long answers never slow it: spread requests keep as many in flight as are allowed.
"""

from __future__ import annotations

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


class AdaptiveLimit:
    """Keep between 1 and `cap` requests in flight. Times are in seconds of one clock."""

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
