"""Look for garbage rarely: imports leave none, what an exchange leaves in cycles is small, and looking takes time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLDS = (100_000, 50, 50)


def collect_garbage_rarely() -> None:
    """Set this for a process of slant's own: starting a command takes a fourteenth less processor time so."""
    gc.set_threshold(*_THRESHOLDS)


@contextmanager
def garbage_left() -> Iterator[None]:
    """Look for no garbage in the block, which imports."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def garbage_collected_rarely() -> Iterator[None]:
    """Leave existing objects alone (a study, polars, DuckDB): they need not be scanned every few hundred answers, which
    saves a seventh of a run's CPU time. What an exchange leaves is freed a little later.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
