"""The one seam through which refits run: our own R processes, or any `concurrent.futures.Executor` (a cluster's)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from typing import Any

from slant.analysis.bridge.worker import run_jobs
from slant.collector.errors import RError

_HEED_CTRL_C_S = 0.2  # see analysis/bridge/worker.py


def run(
    function: Callable[[Any], Any], jobs: Sequence[Any], workers: int | None = None, executor: Executor | None = None
) -> Generator[tuple[int, Any], None, None]:
    """`function` of each job; yields (job number, result) as they end, in whatever order.

    Without `executor`, in our own R processes (`run_jobs`, with whose results and errors it ends). An executor of the
    caller's is only given jobs and never shut down; what has not begun is taken back where the caller leaves early.
    A process of it needs R and this package; threads of this process don't do, for R can't run in several.
    Raises RError where the executor itself breaks.
    """
    if executor is None:
        yield from run_jobs(function, jobs, workers)
        return
    futures: dict[Future[Any], int] = {}
    try:
        for number, job in enumerate(jobs):
            futures[executor.submit(function, job)] = number
        waiting = set(futures)
        while waiting:
            done, waiting = wait(waiting, _HEED_CTRL_C_S, FIRST_COMPLETED)
            for future in sorted(done, key=lambda one: futures[one]):
                yield futures[future], future.result()
    except BrokenExecutor as error:
        raise RError(
            "The executor that was to refit has broken: one of its processes ended.",
            str(error),
            "What was refitted is kept: the same call goes on from there.",
        ) from error
    finally:
        for future in futures:
            future.cancel()
