"""Ctrl-C while a command is still being imported ends it in a word, as later. Once all is done, it does nothing."""

from __future__ import annotations

import atexit
import signal
import sys
from types import TracebackType


def be_quiet_when_interrupted() -> None:
    """To be called before anything large is imported. The process still dies of SIGINT, as a shell expects."""
    sys.excepthook = _say_aborted
    # Python takes a tenth of a second to end, and for most of that with no handler: a command that is done would die
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def _say_aborted(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("Aborted!\n")
    else:
        sys.__excepthook__(kind, error, traceback)
