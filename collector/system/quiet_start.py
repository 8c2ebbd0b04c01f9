"""End a command quietly if Ctrl-C comes while it is still being imported. Once all is done, Ctrl-C does nothing."""

from __future__ import annotations

import atexit
import signal
import sys
from types import TracebackType


def end_quietly_when_interrupted() -> None:
    """Let Ctrl-C end the process without a traceback until be_quiet_when_interrupted() can be called: even the imports
    for that take some milliseconds. A process that ignores SIGINT goes on to."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def be_quiet_when_interrupted() -> None:
    """Prepare for Ctrl-C; call this before any large import. The process still dies of SIGINT, as a shell expects."""
    sys.excepthook = _say_aborted
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Python takes a tenth of a second to end, mostly without a handler: a finished command would die
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def _say_aborted(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("Aborted!\n")
    else:
        sys.__excepthook__(kind, error, traceback)
