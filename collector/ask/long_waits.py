"""Decide whether a run waits as long as a provider wants: hours, for the limit of a day.

Up to `--longest-wait` it does. Above that a person at a terminal is asked, once for each model; without one the model
stops, and says what to type.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from slant.collector.ask.rate_limits import LONG_WAIT_S, spoken
from slant.collector.ask.retries import NextStep

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
