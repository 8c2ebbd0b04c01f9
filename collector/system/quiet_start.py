"""Ctrl-C while a command is still being imported ends it in a word, as it does later."""

from __future__ import annotations

import sys
from types import TracebackType


def be_quiet_when_interrupted() -> None:
    """To be called before anything large is imported. The process still dies of SIGINT, as a shell expects."""
    sys.excepthook = _say_aborted


def _say_aborted(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("Aborted!\n")
    else:
        sys.__excepthook__(kind, error, traceback)
