"""Answer calls in a worker of a foreign executor (a Dask worker, a process of a ProcessPoolExecutor, a thread): start R
in a child process, look after it, and end it as soon as its answer is no longer wanted.

Nothing here imports Polars: bytes come and go, which only the caller's machine and R's own process read.
"""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from slant.analysis.bridge.r_home import version_numbers
from slant.analysis.bridge.r_packages import r_code_hash
from slant.analysis.bridge.worker import Died, run_jobs, versions_here
from slant.collector.errors import RError
from slant.collector.system.operating_system import core_count, is_locked, machine_name
from slant.collector.system.shipped_files import current_code_version

R_CODE = "slant's R code"
_TAKE_TURNS = threading.Lock()
_threads: dict[str, threading.Semaphore] = {}  # by Dask worker: its free threads


@dataclass(frozen=True)
class Parcel:
    """Carry calls to R in another process.

    content: the tasks, pickled. versions: those that R, its packages and our R code must have there; None: any.
    lock: a file that the caller keeps locked as long as it waits (on this machine; elsewhere there is no such file).
    """

    content: bytes
    packages: tuple[str, ...]
    versions: Mapping[str, str] | None = None
    takes_all_cores: bool = False
    lock: str | None = None
    cores: int = 1


@dataclass(frozen=True)
class WorkerReport:
    """Say what a Dask worker has for its calls of R. versions: of R and its packages, None for a missing one; empty if
    R can't start, and then `problem` says why.
    """

    worker: str
    host: str
    python: str
    slant: str
    r_code: str
    versions: Mapping[str, str | None]
    threads: int
    cores: int
    memory_gb: float
    problem: str = ""


@dataclass(frozen=True)
class Refused:
    """Mark calls that `worker` may not answer, with the reason, the sentence first."""

    worker: str
    reason: tuple[str, ...]


class _NobodyWaits(Exception):
    pass


class _TooMuchMemory(Exception):
    pass


def answer_parcel_here(parcel: Parcel) -> bytes | Died | Refused:
    """Return the answers, pickled; `Refused` if this worker has other versions, or R or a package is missing."""
    worker = _dask_worker()
    with _cores(worker, parcel.takes_all_cores) as cores:
        watch = _Watch(worker, parcel.lock, cores)
        try:
            watch.check_wanted()
            if (reason := _refusal(parcel)) is not None:
                return Refused(_address(worker), reason)
            forked_with = () if parcel.takes_all_cores else parcel.packages  # see CallGroup
            job = replace(parcel, cores=cores, packages=forked_with)
            with contextlib.closing(run_jobs(_answer, [job], 1, watch)) as results:
                ((_, answers),) = results
        except _NobodyWaits:
            return Died("Nobody waits for it any more.")
        except _TooMuchMemory as error:
            return Died(str(error))
    answered: bytes | Died = answers
    return answered


def _answer(parcel: Parcel) -> bytes:
    from slant.analysis.calls.task import answer_parcel

    return answer_parcel(parcel)


def versions_there(packages: tuple[str, ...], *, loads: bool = False) -> dict[str, str | None]:
    """Return the versions that numbers depend on besides data and arguments; None if a package is missing.
    RError without R."""
    return {**versions_here(packages, loads=loads), R_CODE: r_code_hash()}


def about_worker(packages: tuple[str, ...], dask_worker: Any = None) -> WorkerReport:
    """Run in a Dask worker, which passes itself, alongside its tasks."""
    import psutil

    versions: Mapping[str, str | None] = {}
    problem = ""
    try:
        versions = versions_here(packages)
    except RError as error:
        problem = error.what
    limit = dask_worker.memory_manager.memory_limit or psutil.virtual_memory().total
    return WorkerReport(
        worker=str(dask_worker.address),
        host=machine_name(),
        python=platform.python_version(),
        slant=current_code_version(),
        r_code=r_code_hash(),
        versions=versions,
        threads=int(dask_worker.state.nthreads),
        cores=core_count(),
        memory_gb=round(limit / 1e9, 1),
        problem=problem,
    )


def _address(worker: Any) -> str:
    return f"process {os.getpid()}" if worker is None else str(worker.address)


def difference(there: Mapping[str, str | None], here: Mapping[str, str]) -> str:
    """Return the differences in words; "" if there are none."""
    words = []
    for name, own in here.items():
        other = there.get(name)
        if name == R_CODE:
            words += ["other R code of slant than here"] if other != own else []
        elif other is None:
            words.append(f"no {name} (here {own})")
        elif version_numbers(other) != version_numbers(own):
            words.append(f"{name} {other} (here {own})")
    return ", ".join(words)


def _refusal(parcel: Parcel) -> tuple[str, ...] | None:
    """Return the reason not to call R here. Even if versions may be mixed, R and the packages must be available."""
    name = f"The worker {_address(_dask_worker())} on {machine_name()}"
    try:
        there = versions_there(parcel.packages, loads=not parcel.takes_all_cores)
    except RError as error:
        return f"{name} can't call R.", error.what, *error.details
    if parcel.versions is None:
        missing = [package for package, version in there.items() if version is None]
        return (f"{name} has no {', '.join(missing)}.",) if missing else None
    if words := difference(there, parcel.versions):
        return (
            f"{name} has {words}.",
            "Results of different versions must not mix: install the same versions there. To see each worker's: "
            "analyze doctor --cluster ADDRESS",
            "To mix them anyway: --mixed-versions, in Python executor=mixed_versions(executor). "
            "Each row then names its versions and machine.",
        )
    return None


@contextlib.contextmanager
def _cores(worker: Any, takes_all: bool) -> Iterator[int]:
    """Yield the number of cores that R may use: one, or all threads of this worker, once their work has ended."""
    if worker is None:  # it is unknown how many an executor has
        yield 1
        return
    n_threads = int(worker.state.nthreads)
    n = n_threads if takes_all else 1
    free = _threads.setdefault(worker.address, threading.Semaphore(n_threads))
    with _TAKE_TURNS:  # or two calls that want all would wait for each other
        for _ in range(n):
            free.acquire()
    try:
        yield n
    finally:
        for _ in range(n):
            free.release()


class _Watch:
    """End R if its answer is no longer wanted, or if it takes more memory than its share of the worker's limit."""

    def __init__(self, worker: Any, lock: str | None, cores: int) -> None:
        self._worker = worker
        self._key = None if worker is None else worker.get_current_task()
        self._lock = lock if lock is not None and os.path.exists(lock) else None
        # R's share: Dask looks only at its own process, and R is in another
        limit = None if worker is None else worker.memory_manager.memory_limit
        self._limit = limit * cores / worker.state.nthreads if limit else None

    def __call__(self, processes: Sequence[int]) -> None:
        self.check_wanted()
        # counting unshared memory takes 20 ms, and it is no more than that with shared memory
        if self._limit is None or sum(map(_memory_of, processes)) <= self._limit:
            return
        if (used := sum(_memory_of(process, shares_once=True) for process in processes)) > self._limit:
            raise _TooMuchMemory(
                f"R took {used / 1e6:,.0f} MB, more than the {self._limit / 1e6:,.0f} MB that a job of this "
                "worker may use (its memory limit, divided among its threads)."
            )

    def check_wanted(self) -> None:
        if self._lock is not None and not is_locked(self._lock):
            raise _NobodyWaits
        if self._worker is not None:
            task = self._worker.state.tasks.get(self._key)
            if task is None or task.state not in ("executing", "long-running", "resumed"):
                raise _NobodyWaits


def _dask_worker() -> Any:
    """Return Dask's worker, if this thread belongs to it."""
    module = sys.modules.get("distributed.worker")
    if module is None:
        return None
    try:
        return module.get_worker()
    except ValueError:
        return None


def _memory_of(process: int, *, shares_once: bool = False) -> int:
    """Return the bytes of a process and its children. Shared memory counts for each of them or, more slowly, once."""
    import psutil  # Dask has it

    total = 0
    with contextlib.suppress(psutil.Error):
        root = psutil.Process(process)
        for child in (root, *root.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                total += child.memory_full_info().pss if shares_once else child.memory_info().rss
    return total
