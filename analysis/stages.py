"""What a long command is told to say of its stages: the terminal shows them, Python's callers may listen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stages:
    """Hears of each stage, and of how much of it is done. This one says nothing."""

    @contextmanager
    def stage(self, name: str, unit: str = "") -> Iterator[Callable[[int, int], None]]:
        """While a stage lasts; what it gives is called with how much is done, and how much there is: bytes where the
        `unit` is MB, else calls of R."""
        yield lambda done, of_all: None
