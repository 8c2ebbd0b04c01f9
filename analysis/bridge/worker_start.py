"""Set how R worker processes begin: with which environment, and from what.

If the system lets them, they are forked from one process in which R has started and loaded its packages
(worker_seed.py), for loading lmerTest takes longer than all fits of a paper. It can be begun before anything else is
imported: this module is light. Elsewhere each worker starts R itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.context import BaseContext
from typing import Any

from slant.analysis.bridge.r_home import startup_environment
from slant.collector.system.child_processes import child_environment, with_safe_path
from slant.collector.system.operating_system import can_fork_r, r_locale

ENVIRONMENT = {
    **r_locale(),
    "PYTHONHASHSEED": "0",  # what Python allocates decides where R's memory lies
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "BLIS_NUM_THREADS": "1",
    "R_DEFAULT_PACKAGES": "methods,datasets,utils,grDevices,graphics,stats",
    # R begins with the memory that loading lmerTest needs; else it collects garbage again and again while it grows.
    "R_NSIZE": "4000000",
    "R_VSIZE": "134217728",
}
# Many short fits end before compiling their code would pay off. It changes no number.
_SHORT_FITS = {"R_ENABLE_JIT": "0"}
# Workers that are killed while they begin leave their locks to multiprocessing's tracker: it removes them and warns.
_NO_WORD_OF_LOCKS = "ignore:resource_tracker"
# Of sys/personality.h: the first asks and changes nothing.
_ASK_PERSONALITY, _ADDR_NO_RANDOMIZE = 0xFFFFFFFF, 0x0040000
SEED = "slant.analysis.bridge.worker_seed"
ALOUD = "SLANT_R_ALOUD"  # set in a process whose output is read while R starts
PACKAGES = "SLANT_R_PACKAGES"  # what the seed loads, separated by blanks


def worker_context() -> BaseContext:
    """Return the way in which this system starts workers."""
    if not can_fork_r():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([SEED])
    return context


def begin_early(packages: Sequence[str]) -> None:
    """Begin to load R and these packages, for many short fits, while this process goes on with other work."""
    if can_fork_r():
        from multiprocessing import forkserver, resource_tracker

        worker_context()
        with environment(packages, _SHORT_FITS), with_safe_path():
            resource_tracker.ensure_running()  # lets Ctrl-C through again, for its children, too
            with deaf_to_ctrl_c():
                forkserver.ensure_running()


def forget_fork_server() -> None:
    """Forget the fork server in a forked child: it is the parent's, and multiprocessing would wait for it in vain."""
    if "multiprocessing.forkserver" not in sys.modules:
        return
    from multiprocessing import forkserver

    known: Any = forkserver._forkserver
    if known._forkserver_alive_fd is not None:
        os.close(known._forkserver_alive_fd)  # else it would outlive the parent
    known._forkserver_pid = known._forkserver_address = known._forkserver_alive_fd = None


@contextlib.contextmanager
def environment(packages: Sequence[str] = (), more: Mapping[str, str] | None = None) -> Iterator[None]:
    """Set the environment that R and its BLAS read at their start, so a worker (or its seed) must begin with it."""
    warnings = ",".join(filter(None, (os.environ.get("PYTHONWARNINGS"), _NO_WORD_OF_LOCKS)))
    own = {"PYTHONWARNINGS": warnings, PACKAGES: " ".join(packages)}
    new = {**ENVIRONMENT, **startup_environment(), **own, **child_environment(), **(more or {})}
    before = {name: os.environ.get(name) for name in new}
    os.environ.update(new)
    try:
        with without_address_randomisation():
            yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def without_address_randomisation() -> Iterator[None]:
    """Let processes started inside the block lay out their memory alike, where the system allows it (Linux; containers
    may forbid it): the last digits of lme4's sums depend on where the rows lie.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "personality"):
        yield
        return
    personality = libc.personality
    before = personality(_ASK_PERSONALITY)
    if before >= 0:
        personality(before | _ADDR_NO_RANDOMIZE)
    try:
        yield
    finally:
        if before >= 0:
            personality(before)


@contextlib.contextmanager
def deaf_to_ctrl_c() -> Iterator[None]:
    """Hide Ctrl-C from processes started inside the block, and from all that they start: it is for the requesting
    process, whose end ends them. They could ignore it themselves only after a second of imports, with a traceback each.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
