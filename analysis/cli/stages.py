"""The stages of a long command on the terminal: one line on stderr, which counts what can be counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from slant.analysis.archive.stages import Stages
from slant.analysis.cli.progress import FitProgress

_MB = 1_000_000


class TerminalStages(Stages):
    @contextmanager
    def stage(self, name: str, unit: str = "") -> Iterator[Callable[[int, int], None]]:
        with FitProgress(f"{name} ({unit})" if unit else name) as progress:
            if unit == "MB":
                yield lambda done, of_all: progress(done // _MB, of_all // _MB)
            else:
                yield progress
