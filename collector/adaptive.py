"""How many requests of one model may be in flight: additive increase, multiplicative decrease. Pure: time is given.

It starts moderately and doubles each round trip until the first 429, then grows by a step a round trip. A 429 takes
it down by a third, once a round trip: the other 429s of requests that were on their way already say nothing new.
Failures of the server (5xx) only pause growth, and latency is not looked at: reasoning models are slow by design.
"""

from __future__ import annotations

DECREASE = 0.7
GROWTH_PAUSE_S = 10.0
STEPS_TO_FULL = 32  # round trips from 1 back to the cap, whatever the cap is


class AdaptiveLimit:
    """Between 1 and `cap`. Times in seconds of one clock."""

    def __init__(self, cap: int, start: int) -> None:
        self._cap = cap
        self._limit = float(max(1, min(start, cap)))
        self._step = max(1.0, cap / STEPS_TO_FULL)
        self._was_limited = False
        self._decreased_s = self._grows_from_s = float("-inf")

    @property
    def allowed(self) -> int:
        return int(self._limit)

    def answered(self, sent_s: float, was_full: bool) -> bool:
        """An answer came; True where more may be sent now. Only a request that filled the limit shows that it holds."""
        if not was_full or sent_s <= self._decreased_s or sent_s < self._grows_from_s or self._limit >= self._cap:
            return False
        before = self.allowed
        growth = self._step / self._limit if self._was_limited else 1.0
        self._limit = min(float(self._cap), self._limit + growth)
        return self.allowed > before

    def rate_limited(self, sent_s: float, now_s: float) -> bool:
        """A 429 came; True where it counted, False where its request was sent before the last decrease."""
        if sent_s <= self._decreased_s:
            return False
        self._was_limited = True
        self._decreased_s = now_s
        self._limit = max(1.0, self._limit * DECREASE)
        return True

    def troubled(self, now_s: float) -> bool:
        """The server failed; True where growth was not paused already. Answers to what is sent later let it grow."""
        is_new = now_s >= self._grows_from_s
        self._grows_from_s = now_s + GROWTH_PAUSE_S
        return is_new
