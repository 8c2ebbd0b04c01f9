"""An event loop whose clock jumps to the next timer, so that hours of pacing are simulated in a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    """Nothing real may be waited for in it: no sockets, no threads."""

    def __init__(self) -> None:
        super().__init__()
        self._now_s = 0.0
        self._really_select = self._selector.select  # type: ignore[attr-defined]
        self._selector.select = self._select  # type: ignore[attr-defined]

    def time(self) -> float:
        return self._now_s

    def _select(self, timeout: float | None) -> Any:
        assert timeout is not None, "everybody waits and nothing will ever happen"
        self._now_s += max(0.0, timeout)
        return self._really_select(0)


def run_virtually(work: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
