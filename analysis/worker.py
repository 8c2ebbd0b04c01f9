"""R in worker processes. R can't be interrupted and takes Ctrl-C for itself, so it never runs in the main process: it
runs in others (worker_start.py), which the parent can kill. A worker lives for many jobs and calls.

`run_jobs` is general (any picklable function of one argument); `fit_job` is the one that analyses use.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.connection import wait as wait_for
from typing import Any

import polars as pl
from slant.analysis.worker_start import deaf_to_ctrl_c, environment, worker_context
from slant.collector.errors import RError

# Polars takes over the signal handler such that a wait without end is not woken by Ctrl-C; one with an end is heeded.
_HEED_CTRL_C_S = 0.2
_idle: list[ProcessPoolExecutor] = []  # pools with nothing to do; whoever takes one has it for himself


@dataclass(frozen=True)
class FitJob:
    """One fit of one cell: the engine, its rows (only the needed columns, in a stable order) and its arguments."""

    engine: str
    rows: pl.DataFrame
    arguments: dict[str, Any] = field(default_factory=dict)
    packages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Died:
    """The result of a job whose worker process died, also when the job ran alone."""

    reason: str


def fit_job(job: FitJob) -> dict[str, Any]:
    """Runs in a worker: R's run_fit() on one job. Returns its data frames, all as Polars, and the seconds it took."""
    from slant.analysis import r

    r.start()
    begun = time.monotonic()
    value, _ = r.call("run_fit", job.engine, job.rows, job.arguments, packages=job.packages)
    return {**value, "seconds": time.monotonic() - begun}


@cache
def versions_now(packages: tuple[str, ...]) -> dict[str, str] | None:
    """The versions of R and of these packages, as a worker of now would fit with them; None where one is missing."""
    try:
        with contextlib.closing(run_jobs(_versions_job, [packages], 1)) as results:
            ((_, found),) = results
    except RError:
        return None
    return None if isinstance(found, Died) or None in found.values() else found


def _versions_job(packages: tuple[str, ...]) -> dict[str, str | None]:
    """Runs in a worker. It reads what is installed and loads none of it, which would take a second."""
    from slant.analysis import r

    value, _ = r.call("package_versions", ["base", *packages])
    found = dict(value.iter_rows())
    return {"R": found.pop("base"), **found}


def run_jobs(
    function: Callable[[Any], Any], jobs: Sequence[Any], workers: int | None = None
) -> Generator[tuple[int, Any], None, None]:
    """Run `function` on each job in `workers` processes (default: the cores); yields (job number, result) as they end.

    A job whose worker dies gives `Died`; the others go on. An exception in the function is raised here. Leaving
    early (Ctrl-C, an exception, a closed generator) kills the workers at once. Else they stay for the next jobs of
    this process, with R started, and end with it.
    """
    count = max(1, min(workers or core_count(), len(jobs)))
    waiting = list(reversed(range(len(jobs))))
    while waiting:
        suspects: list[int] = []
        yield from _run_pool(function, jobs, waiting, suspects, count)
        for number in suspects:  # one of them killed the pool; alone, it shows which
            again: list[int] = []
            yield from _run_pool(function, jobs, [number], again, 1)
            if again:
                yield number, Died("The R process died on this fit (killed, or out of memory), also when it ran alone.")


def _run_pool(
    function: Callable[[Any], Any], jobs: Sequence[Any], waiting: list[int], suspects: list[int], count: int
) -> Generator[tuple[int, Any], None, None]:
    """Work off `waiting` (from its end). Where the pool breaks, the jobs that were running go to `suspects`.

    Only as many jobs are given to the pool as may run: what is given is running, and nothing else can be to blame.
    """
    pool = _idle.pop() if _idle else _pool(max(count, core_count()))
    running: dict[Future[Any], int] = {}
    is_sound = False
    try:
        while waiting or running:
            while waiting and len(running) < count:
                try:
                    future = _submit(pool, function, jobs[waiting[-1]])
                except BrokenProcessPool:
                    break
                running[future] = waiting.pop()
            if not running:
                return  # a worker died while it had nothing to do: nobody's fault, and a new pool goes on
            for future in wait(running, _HEED_CTRL_C_S, FIRST_COMPLETED).done:
                number = running.pop(future)
                if isinstance(future.exception(), BrokenProcessPool):
                    suspects.append(number)
                else:
                    yield number, future.result()
            if suspects:
                suspects.extend(running.values())
                return
        is_sound = True
    finally:
        if is_sound:
            _idle.append(pool)
        else:
            _kill(pool)


def _pool(count: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(count, mp_context=worker_context(), initializer=_begin)


def _submit(pool: ProcessPoolExecutor, function: Callable[[Any], Any], job: Any) -> Future[Any]:
    with environment(getattr(job, "packages", ())), deaf_to_ctrl_c(), _without_main():
        return pool.submit(function, job)  # starts a process where one is missing


def _kill(pool: ProcessPoolExecutor) -> None:
    """The workers, and what R has started there: chains that it forked, a compiler."""
    processes = list((pool._processes or {}).values())
    for process in processes:
        _kill_group(process.pid)
        process.kill()
    pool.shutdown(wait=True, cancel_futures=True)


def _kill_group(leader: int | None) -> None:
    """All processes of a group, where there is one: it outlives the worker that led it. Never our own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if leader and leader != os.getpgrp():
            os.killpg(leader, signal.SIGKILL)


def core_count() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _begin() -> None:
    """In a new worker: leave Ctrl-C to the parent, lead a group of one's own, in which all that R starts can be
    killed together, and end when the parent is gone (even by kill -9).
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.setpgid(0, 0)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait_for([sentinel])
    os.killpg(0, signal.SIGKILL)


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """A spawned process imports the caller's script again. Ours need nothing of it, and a script without the
    `if __name__ == "__main__"` guard would start itself for ever; so it is hidden while a process starts.
    """
    main = sys.modules["__main__"]
    hidden = {name: getattr(main, name) for name in ("__spec__", "__file__") if hasattr(main, name)}
    main.__spec__ = None
    with contextlib.suppress(AttributeError):
        del main.__file__
    try:
        yield
    finally:
        for name, value in hidden.items():
            setattr(main, name, value)
