"""When the next request of one model may go out. Now: a pause that the provider asked for; rate control goes here."""

from __future__ import annotations

import asyncio
import time


class Pace:
    """One for each provider, key and model, so that one model's pause never slows another."""

    def __init__(self) -> None:
        self._quiet_until = 0.0

    def pause(self, seconds: float) -> None:
        self._quiet_until = max(self._quiet_until, time.monotonic() + seconds)

    @property
    def wait_s(self) -> float:
        return max(0.0, self._quiet_until - time.monotonic())

    async def ready(self, stopping: asyncio.Event) -> None:
        """Returns when a request may be sent, or at once when the run is stopping."""
        while self.wait_s > 0 and not stopping.is_set():
            await sleep_unless(stopping, self.wait_s)


async def sleep_unless(stopping: asyncio.Event, seconds: float) -> None:
    """Sleep, but wake when the run is stopped."""
    try:
        async with asyncio.timeout(seconds):
            await stopping.wait()
    except TimeoutError:
        return
