"""A provider with limits, and the workers that ask it through a Pace, in virtual time (virtual_time.py)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from slant.collector.ask.pace import Pace
from slant.collector.ask.retries import judge
from slant.collector.providers.exchange import Exchange
from tests.support.virtual_time import run_virtually

REFUSING_TAKES_S = 0.005


@dataclass
class LimitedServer:
    """A token bucket of requests: `rate_per_s` on average, `burst` at once. Answers take `latency_s`, refusals do not.

    `storm` (from, to) refuses everything in that time; `retry_after` goes with each refusal where it is given.
    """

    rate_per_s: float = float("inf")
    burst: float = float("inf")
    latency_s: float = 1.0
    storm: tuple[float, float] = (0.0, 0.0)
    storm_status: int = 429
    retry_after: str | None = None
    tells_budget: bool = False
    allowed_at_once: float = float("inf")
    n_answered: int = 0
    n_refused: int = 0
    most_at_once: int = 0
    _now_at_once: int = 0
    _left: float = field(default=float("nan"))
    _known_s: float = 0.0

    async def answer(self) -> Exchange:
        self._now_at_once += 1
        self.most_at_once = max(self.most_at_once, self._now_at_once)
        try:
            return await self._answer(asyncio.get_running_loop().time())
        finally:
            self._now_at_once -= 1

    async def _answer(self, now: float) -> Exchange:
        if self.storm[0] <= now < self.storm[1]:
            return await self._refuse(self.storm_status)
        refilled = self.burst if self._left != self._left else self._left + (now - self._known_s) * self.rate_per_s
        self._left, self._known_s = min(self.burst, refilled), now
        if self._left < 1 or self._now_at_once > self.allowed_at_once:
            return await self._refuse(429)
        self._left -= 1
        headers = self._headers()
        await asyncio.sleep(self.latency_s)
        self.n_answered += 1
        return Exchange("", "", status=200, body="{}", headers=headers)

    async def _refuse(self, status: int) -> Exchange:
        self.n_refused += 1
        headers = self._headers() | ({"retry-after": self.retry_after} if self.retry_after else {})
        await asyncio.sleep(REFUSING_TAKES_S)
        return Exchange("", "", status=status, body="{}", headers=headers)

    def _headers(self) -> dict[str, str]:
        if not self.tells_budget:
            return {}
        reset_s = (self.burst - self._left) / self.rate_per_s
        return {
            "x-ratelimit-limit-requests": f"{self.burst:.0f}",
            "x-ratelimit-remaining-requests": f"{int(self._left)}",
            "x-ratelimit-reset-requests": f"{reset_s * 1000:.0f}ms",
        }


def ask_for(
    seconds: float,
    server: LimitedServer,
    cap: int = 16,
    start: int | None = None,
    each: Callable[[Pace, float], None] = lambda pace, now: None,
) -> Pace:
    """Let `cap` workers ask without end for so many virtual seconds, as ask/runner.py does; `each` sees it go on."""

    async def work() -> Pace:
        loop = asyncio.get_running_loop()
        pace = Pace(cap, start, clock=loop.time)
        workers = [asyncio.create_task(_work(pace, server, each)) for _ in range(cap)]
        await asyncio.sleep(seconds)
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        return pace

    return run_virtually(work())


async def _work(pace: Pace, server: LimitedServer, each: Callable[[Pace, float], None]) -> None:
    loop = asyncio.get_running_loop()
    try_no, wait_s = 1, 0.0
    while True:
        await pace.sleep(wait_s)
        ticket = await pace.enter()
        assert ticket is not None
        each(pace, loop.time())
        exchange = await server.answer()
        verdict = judge(exchange, try_no)
        pace.leave(ticket, exchange.status, exchange.headers, verdict.pause_s)
        each(pace, loop.time())
        try_no = 1 if verdict.action == "read" else try_no + 1
        wait_s = verdict.wait_s
