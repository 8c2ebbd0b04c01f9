"""What R workers are forked from: one process in which R has started and has loaded the packages of the coming fits.

Imported by the fork server of multiprocessing (see worker_start.py), and by each worker where there is none. What R
lacks it says again at the first call. No data go through Polars here: its threads would not live on in the workers.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from types import TracebackType

from slant.analysis.bridge.worker_start import ALOUD, PACKAGES
from slant.collector.errors import RError


def _hook(kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
    """Let a worker that begins while the process that asked is ending find nothing of what it was to take over from it.
    Nobody is left to be told."""
    if not isinstance(error, (EOFError, FileNotFoundError, ConnectionError)):
        sys.__excepthook__(kind, error, at)


sys.excepthook = _hook


def _load() -> None:
    from slant.analysis.bridge import r

    with contextlib.suppress(RError), _held_back():
        r.start()
        r.load(os.environ.get(PACKAGES, "").split())


@contextlib.contextmanager
def _held_back() -> Iterator[None]:
    """Show what is written to stderr meanwhile afterwards: never, where R ends this process. The one that asked
    then says so, in the words of another process that begins like this, with ALOUD set.

    Stdout is for the rows of the command: what R, its compiled code and the processes that it starts say there goes to
    stderr, from here on."""
    os.dup2(2, 1)
    if os.environ.get(ALOUD):
        yield
        return
    shown = os.dup(2)
    with tempfile.TemporaryFile() as kept:
        for file in (1, 2):
            os.dup2(kept.fileno(), file)
        try:
            yield
        finally:
            for file in (1, 2):
                os.dup2(shown, file)
            os.close(shown)
            kept.seek(0)
            os.write(2, kept.read())


_load()
