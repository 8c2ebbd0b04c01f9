"""Who watches a run: a progress bar, a notebook, a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slant.collector.ask.runner import Lane


class Watcher:
    """What a run tells anyone who watches; all of it may be ignored. The command line shows a progress bar."""

    def begin(self, lanes: Sequence[Lane], stop: Callable[[], None]) -> None: ...

    def change(self, lane: Lane, outcome: str) -> None: ...

    def say(self, text: str) -> None: ...

    def end(self) -> None: ...
