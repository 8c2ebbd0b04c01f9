"""What R workers are forked from: one process in which R has started and has loaded the packages of the coming fits.

Imported by the fork server of multiprocessing (see worker_start.py) and by nothing else. What fails here fails again in
a worker, which says so. No data go through Polars here: its threads would not live on in the workers.
"""

from __future__ import annotations

import contextlib
import os
import signal

from analysis.worker_start import PACKAGES
from collector.errors import RError

signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asked, whose end ends this one


def _load() -> None:
    from analysis import r

    with contextlib.suppress(RError):
        r.start()
        r.load(os.environ.get(PACKAGES, "").split())


_load()
