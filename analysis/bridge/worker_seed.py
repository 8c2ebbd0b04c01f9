"""Start R and load the packages of the coming fits in the one process that R workers are forked from.

The fork server of multiprocessing imports it (see worker_start.py), and so does each worker if there is none. What R
lacks is reported at the first call. No data go through Polars here: its threads would not survive in the workers.
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
    """Let a worker that begins while its requesting process ends find nothing to take over from it. No process is left
    to report to."""
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
    """Show what is written to stderr inside the block only afterwards: never, if R ends this process. The requesting
    process then reports it, from another process that begins like this, with ALOUD set.

    Stdout is for the rows of the command: the output of R, its compiled code and the processes that it starts goes to
    stderr from here on."""
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
