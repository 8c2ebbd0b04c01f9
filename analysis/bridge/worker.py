"""Run R in worker processes. R can't be interrupted and takes Ctrl-C for itself, so it never runs in the main process:
it runs in others (worker_start.py), which the parent can kill. A worker serves many jobs and calls.

`run_jobs` takes any picklable function of one argument; calls of R go through analysis/calls.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from multiprocessing.util import Finalize
from typing import Any

from slant.analysis.bridge.worker_start import (
    ALOUD,
    SEED,
    deaf_to_ctrl_c,
    environment,
    forget_fork_server,
    worker_context,
)
from slant.collector.errors import RError
from slant.collector.system.child_processes import safe_path, with_safe_path
from slant.collector.system.operating_system import core_count

log = logging.getLogger(__name__)
# Polars takes over the signal handler such that an endless wait is not woken by Ctrl-C; one with a limit is.
_HEED_CTRL_C_S = 0.2
_START_S = 120.0
_LINES_SHOWN = 6  # lines of a process that can't start: a traceback ends with what matters
_LOST = 255  # multiprocessing's exit code of a process whose end was not seen
_idle: list[_Pool] = []  # idle pools; a thread that takes one has it alone
_pools: weakref.WeakSet[ProcessPoolExecutor] = weakref.WeakSet()  # all pools of this process
_starting = threading.RLock()  # what a new process finds (environment, search path) is the same for all threads
Watch = Callable[[Sequence[int]], None]
"""Receive the ids of the R processes of some jobs a few times per second. An exception ends these, and is raised."""


class WorkerError(RError):
    """Report that no process can start in which R could run."""


@dataclass(frozen=True)
class Died:
    """Mark a job whose worker process died, even when the job ran alone."""

    reason: str


@cache
def versions_now(packages: tuple[str, ...]) -> dict[str, str] | None:
    """Return the versions of R and of these packages that a worker would use now; None if one is missing."""
    try:
        versions = versions_here(packages)
    except RError:
        return None
    present = {name: version for name, version in versions.items() if version is not None}
    return present if len(present) == len(versions) else None


@cache
def versions_here(packages: tuple[str, ...], *, loads: bool = False) -> Mapping[str, str | None]:
    """Return the versions of R and of these packages, None for one that is missing. Raise RError if R can't start.

    `loads`: they will be needed at once, so R's processes should start with them.
    """
    return _asked(_VersionsJob(("base", *packages), packages if loads else ()))


def needed_versions(packages: Sequence[str]) -> dict[str, str]:
    """Return the versions of these packages, as far as they are installed, and of all packages that they need."""
    found = _asked(_VersionsJob(tuple(packages), (), "needed_versions"))
    return {name: version for name, version in found.items() if version}


def _asked(job: _VersionsJob) -> Mapping[str, str | None]:
    with contextlib.closing(run_jobs(_versions_job, [job], 1)) as results:
        ((_, versions),) = results
    if isinstance(versions, Died):
        raise RError("R can't say its version.", versions.reason)
    return {"R" if name == "base" else name: version for name, version in versions.items()}


@dataclass(frozen=True)
class _VersionsJob:
    names: tuple[str, ...]
    packages: tuple[str, ...]
    function: str = "package_versions"


def _versions_job(job: _VersionsJob) -> dict[str, str | None]:
    """Run in a worker. This reads what is installed without loading it, which would take a second."""
    from slant.analysis.bridge import r

    value, _ = r.call(job.function, list(job.names))
    return dict(value.iter_rows())


def run_jobs(
    function: Callable[[Any], Any], jobs: Sequence[Any], workers: int | None = None, watch: Watch | None = None
) -> Generator[tuple[int, Any], None, None]:
    """Run `function` on each job in `workers` processes (default: the cores); yield (job number, result) as they end.

    A job whose worker dies gives `Died`; the others go on. An exception in the function is raised here, as is an RError
    if no worker can start. Leaving early (Ctrl-C, an exception, a closed generator) kills the workers at once.
    Otherwise they stay for the next jobs of this process, with R started, and end with it. Several threads may call
    this at once: each has its own worker processes. `watch` looks after them while they work.
    """
    count = max(1, min(workers or core_count(), len(jobs)))
    waiting = list(reversed(range(len(jobs))))
    while waiting:
        broken = yield from _run_pool(function, jobs, waiting, count, watch)
        for number in broken.running if broken else ():  # one of them killed the pool; alone, it shows which
            alone = yield from _run_pool(function, jobs, [number], 1, watch)
            if alone is None:
                continue
            if not alone.has_begun:
                raise _could_not_start(alone, function)
            yield number, Died(f"The R process of this fit {alone.end}, also when it ran alone.")


@dataclass(frozen=True)
class _Pool:
    """Hold worker processes; each reports in `begun` that R has started in it, or why it can't. `path` is where they
    look for modules."""

    executor: ProcessPoolExecutor
    begun: Connection
    path: frozenset[str]


@dataclass(frozen=True)
class _Broken:
    """Describe a pool in which a process died: the jobs that were running, whether any process had begun, how one
    ended."""

    running: tuple[int, ...]
    has_begun: bool
    end: str


def _run_pool(
    function: Callable[[Any], Any], jobs: Sequence[Any], waiting: list[int], count: int, watch: Watch | None
) -> Generator[tuple[int, Any], None, _Broken | None]:
    """Work off `waiting` (from its end). Return a description of a pool that broke with jobs running.

    The pool gets only as many jobs as may run: those are running, and nothing else can be to blame.
    """
    path = frozenset(safe_path(function))
    pool = _idle_pool(path) or _pool(max(count, core_count()), path)
    running: dict[Future[Any], int] = {}
    is_sound = False
    try:
        while waiting or running:
            while waiting and len(running) < count:
                try:
                    future = _submit(pool, function, jobs[waiting[-1]])
                except BrokenProcessPool:
                    break
                except (EOFError, OSError) as error:  # the process that workers are forked from has ended
                    return _broken(pool, [waiting.pop(), *running.values()], str(error))
                running[future] = waiting.pop()
                log.debug("R begins job %d of %d (%s)", running[future] + 1, len(jobs), function.__name__)
            if not running:
                return None  # a worker died while idle: no job is to blame, and a new pool goes on
            suspects = []
            if watch:
                watch([process.pid for process in list((pool.executor._processes or {}).values()) if process.pid])
            for future in wait(running, _HEED_CTRL_C_S, FIRST_COMPLETED).done:
                number = running.pop(future)
                if isinstance(future.exception(), BrokenProcessPool):
                    suspects.append(number)
                else:
                    log.info("R has done job %d of %d (%s)", number + 1, len(jobs), function.__name__)
                    yield number, future.result()
            if suspects:
                log.info("The R process of %d jobs died; each is tried again alone", len(suspects))
                return _broken(pool, [*suspects, *running.values()])
        is_sound = True
    finally:
        if is_sound:
            _idle.append(pool)
        else:
            _kill(pool)
    return None


def _idle_pool(path: frozenset[str]) -> _Pool | None:
    """Return a pool that looks for modules wherever this process does now; others would not find a function from
    there.
    """
    with contextlib.suppress(IndexError):  # another thread may have taken the last one
        while True:
            pool = _idle.pop()
            if path <= pool.path:
                return pool
            _kill(pool)
    return None


def _broken(pool: _Pool, running: Sequence[int], reason: str = "") -> _Broken:
    has_begun = pool.begun.poll()
    codes = _kill(pool)
    return _Broken(tuple(running), has_begun, how_it_ended(codes) or reason or "ended without a word")


def how_it_ended(codes: Collection[int | None]) -> str | None:
    """Return the end of the process that broke its pool, from the exit codes of all: the pool ended the others."""
    own = [code for code in codes if code not in (None, _LOST, -signal.SIGTERM, -signal.SIGKILL)]
    if own and own[0] is not None and own[0] >= 0:
        return f"ended by itself with exit status {own[0]}"
    if own and own[0] is not None:
        return f"crashed ({signal.Signals(-own[0]).name})"
    return "was killed (SIGKILL): by somebody, or as memory ran out" if -signal.SIGKILL in codes else None


def _could_not_start(broken: _Broken, function: Callable[[Any], Any]) -> WorkerError:
    """Say why, in the words of a process that begins just as a worker does, but whose output is read."""
    begin = [sys.executable, "-c", f"import {_begin.__module__}, {SEED}"]
    with environment(more={ALOUD: "1"}), with_safe_path(function):
        try:
            again = subprocess.run(begin, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_START_S)
        except (OSError, subprocess.SubprocessError) as error:
            return WorkerError("The process in which R runs could not start.", str(error))
    lines = [line for line in again.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    if again.returncode == 0:
        lines = [f"It {broken.end}; another one that was tried right afterwards did start: try again."]
    return WorkerError("The process in which R runs could not start.", *lines[-_LINES_SHOWN:])


def _pool(count: int, path: frozenset[str]) -> _Pool:
    context = worker_context()
    begun, say_begun = context.Pipe(duplex=False)
    with _starting, environment():  # its locks need a process, too, which multiprocessing starts
        executor = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(say_begun,))
    if not _pools:
        # before multiprocessing waits for them, for they do not end by themselves
        Finalize(None, _kill_all, exitpriority=1)
    _pools.add(executor)
    return _Pool(executor, begun, path)


def _submit(pool: _Pool, function: Callable[[Any], Any], job: Any) -> Future[Any]:
    packages = getattr(job, "packages", ())
    with _starting, environment(packages), deaf_to_ctrl_c(), with_safe_path(function), _without_main(), _as_parent():
        return pool.executor.submit(function, job)  # starts a process where one is missing


def _kill(pool: _Pool) -> list[int | None]:
    """Kill the workers, and what R has started there: forked chains, a compiler. Return their exit codes."""
    processes = _kill_processes(pool.executor)
    pool.executor.shutdown(wait=True, cancel_futures=True)
    return [process.exitcode for process in processes]


def _kill_processes(executor: ProcessPoolExecutor) -> list[Any]:
    processes = list((executor._processes or {}).values())
    for process in processes:
        # a group outlives the worker that led it; never our own
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if process.pid and process.pid != os.getpgrp():
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    return processes


def _kill_all() -> None:
    """Kill all as this process ends. If it belongs to another executor, it may end while R works."""
    for executor in list(_pools):
        _kill_processes(executor)


def _begin(say_begun: Connection) -> None:
    """Begin a new worker: leave Ctrl-C to the parent, lead a new group, in which everything that R starts can be killed
    together, end when the parent is gone (even by kill -9), and start R unless it was forked with R in it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.setpgid(0, 0)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    importlib.import_module(SEED)
    try:
        say_begun.send_bytes(b"1")
    except BrokenPipeError:  # the parent has ended since, which _end_with may not have noticed yet
        os.killpg(0, signal.SIGKILL)


@contextlib.contextmanager
def _as_parent() -> Iterator[None]:
    """Allow children in workers of other executors (Dask's): they are "daemons", which multiprocessing forbids to have
    any, as they would be left over. Ours end with their parent, however it ends (_begin).
    """
    config: dict[str, Any] = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    before = config.get("daemon")
    config["daemon"] = False
    try:
        yield
    finally:
        config["daemon"] = before


def _forget_pools() -> None:
    """Forget pools in a process that was forked from this one (by a ProcessPoolExecutor): these are its parent's."""
    _idle.clear()
    _pools.clear()
    forget_fork_server()


os.register_at_fork(after_in_child=_forget_pools)


def _end_with(sentinel: int) -> None:
    wait_for([sentinel])
    os.killpg(0, signal.SIGKILL)


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Keep spawned processes from importing the caller's script. Ours do not need it, and a script without the
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
