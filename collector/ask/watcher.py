"""Watch a call of `collect`, and be asked before it goes on: a person at a terminal, a notebook, a test."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slant.collector.ask.runner import Lane
    from slant.collector.designs.study import Study
    from slant.collector.plan.run_plan import RunPlan
    from slant.collector.request.record import Request
    from slant.collector.run_report import RunReport


class Watcher:
    """Receive what a call of `collect` reports, and what it asks. This watcher ignores reports except for warnings, and
    agrees to what the call agrees to. The command line shows a progress bar, and asks a person.
    """

    def loaded(self, study: Study) -> None:
        """Take the study that is about to be planned."""

    def note(self, text: str) -> None:
        """Take a sentence about what is planned."""

    def say(self, text: str) -> None:
        """Take a sentence about how it goes."""

    def warn(self, text: str) -> None:
        """Take a sentence to show before sending: here as a Python warning."""
        warnings.warn(text, UserWarning, stacklevel=_frames_of_slant() + 1)

    def agrees(self, run_plan: RunPlan, request: Request) -> bool:
        """Return whether requests that cost money may be sent."""
        return request.yes

    def after_pilot(
        self, pilot: RunPlan, report: RunReport, rest: Callable[[], RunPlan], request: Request
    ) -> RunPlan | None:
        """Return the plan of the rest if it is to be asked, too. Here only a pilot is asked."""
        return None

    def may_wait(self, model: str, wait_s: float, reason: str) -> bool:
        """Return whether a model may be waited for longer than `--longest-wait`. Nobody can be asked here."""
        return False

    def begin(self, lanes: Sequence[Lane], stop: Callable[[], None]) -> None: ...

    def change(self, lane: Lane, outcome: str) -> None: ...

    def end(self) -> None: ...


def _frames_of_slant() -> int:
    """Return the number of frames between `Watcher.warn` and the code that called slant."""
    frame, n = sys._getframe(1), 0
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).startswith("slant."):
        frame, n = frame.f_back, n + 1
    return n
