"""Report the stages of a long command: the terminal shows them, and Python's callers may receive them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stages:
    """Receive each stage and its progress. This class ignores them."""

    @contextmanager
    def stage(self, name: str, unit: str = "") -> Iterator[Callable[[int, int], None]]:
        """Mark a stage while it lasts; the yielded function takes how much is done, and how much there is: bytes if the
        `unit` is MB, else calls of R."""
        yield lambda done, of_all: None
