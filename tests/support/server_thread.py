"""A server in a thread of its own with an event loop: what the servers on loopback of tests have in common."""

from __future__ import annotations

import asyncio
import threading
from typing import Self


class ServerThread:
    """Runs `_main()`, which sets `_ready` when it serves, and ends when `_stop` is set. A context manager."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve_until_stopped, daemon=True)
        self._stop: asyncio.Event

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _serve_until_stopped(self) -> None:
        self._loop.run_until_complete(self._main())

    async def _main(self) -> None:
        raise NotImplementedError
