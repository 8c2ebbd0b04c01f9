"""Call R by any `concurrent.futures.Executor`: Dask's, the standard library's, another's.

A call is pickled here, and runs in_worker.py there. An executor's error about a lost process is distinguished from R's
error about a call: a lost call is run again, alone, and then counts as failed.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import pickle
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from slant.analysis.bridge.worker import Died, versions_now
from slant.analysis.calls.cluster import ClusterExecutor, start_lost_workers
from slant.analysis.calls.in_worker import R_CODE, Parcel, Refused, answer_parcel_here, versions_there
from slant.analysis.calls.task import Answer, Task, packages_of
from slant.collector.errors import RError
from slant.collector.system.files import remove
from slant.collector.system.operating_system import core_count, try_lock, unlock

Workers = int | Executor | None
"""Say where R runs: in this many of our processes (None: one per core), or in those of an executor."""

_log = logging.getLogger(__name__)
_LOOK_S = 0.5  # how often a cluster is asked which workers it has: they come and go
_WORKERLESS_S = 10.0  # a worker that died is back by then, and a starting one is there
_HEED_CTRL_C_S = 0.2  # see analysis/bridge/worker.py
_IN_FLIGHT = 4  # groups of calls for each worker: enough that none waits, while all the others stay here
_AT_LEAST = 16
_KEPT = "Finished results are stored: the same call resumes from there."
_NOT_TAKEN = (ImportError, AttributeError, TypeError, pickle.PickleError)  # a worker without slant raises these


@dataclass(frozen=True)
class Lost(Died):
    """Mark a job whose worker the executor lost."""


class MixedVersions(Executor):
    """Wrap an executor whose workers may have other versions of R and its packages than this machine."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        return self.executor.submit(function, *arguments, **named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Shut down the executor itself."""
        self.executor.shutdown(wait=wait, cancel_futures=cancel_futures)


def mixed_versions(executor: Executor) -> Executor:
    """Return the same executor, for calls of R that may be answered by other versions than those here.

    Each result then says which versions made it and on which machine, and kept results count as unchanged with any
    versions: `analysis.fit(db, executor=mixed_versions(executor))`.
    """
    return MixedVersions(executor)


def worker_count(workers: Workers) -> int:
    """Return the number of calls that can be answered at a time, as far as it is known."""
    if not isinstance(workers, Executor):
        return workers or core_count()
    if (client := dask_client(workers)) is not None:
        return max(1, sum(_threads_by_worker(client).values()))
    return getattr(workers, "_max_workers", None) or core_count()


def _threads_by_worker(client: Any) -> Mapping[str, int]:
    """Return the workers that Dask has now; none if its scheduler is gone, which the calls themselves report."""
    if client.status != "running":
        return {}
    try:
        threads: Mapping[str, int] = client.nthreads()
    except OSError:  # it was killed while being asked
        return {}
    return threads


def dask_client(executor: Executor) -> Any:
    """Return the Dask client that an executor belongs to; None for another executor."""
    inner = executor.executor if isinstance(executor, MixedVersions) else executor
    if isinstance(inner, ClusterExecutor):
        return inner.client
    client = getattr(inner, "_client", None)
    return client if type(client).__module__.partition(".")[0] == "distributed" else None


class LeftOut:
    """Hold an executor's refused workers, and a sentence about each, printed once on stderr.

    Only Dask lets us choose workers. With any other executor the first refused worker ends the calls.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor, self._client = executor, dask_client(executor)
        self._reasons: dict[str, tuple[str, ...]] = {}

    def refuse(self, worker: Refused) -> None:
        """Refuse a worker; RError if no other is there."""
        is_new = worker.worker not in self._reasons
        self._reasons[worker.worker] = worker.reason
        if not self.fit_workers():
            others = [reason[0] for address, reason in self._reasons.items() if address != worker.worker]
            raise RError(*worker.reason, *others)
        if is_new:
            _log.warning("%s It is excluded; the others continue.", worker.reason[0])

    def fit_workers(self) -> frozenset[str] | None:
        """Return the addresses of workers that may answer; None if none was refused, and all may."""
        if not self._reasons:
            return None
        present = _threads_by_worker(self._client) if self._client is not None else ()
        return frozenset(present) - self._reasons.keys()

    def submit(self, parcel: Parcel, workers: frozenset[str] | None) -> Future[Any]:
        if workers is None:
            return self._executor.submit(answer_parcel_here, parcel)
        only: Executor = self._client.get_executor(pure=False, workers=sorted(workers))
        return only.submit(answer_parcel_here, parcel)


class _Attendance:
    """Check that a Dask cluster has workers, and say once if it has none: calls wait for them for ever."""

    def __init__(self, executor: Executor) -> None:
        self._client, self._seen_at, self._is_said = dask_client(executor), time.monotonic(), False

    def look(self) -> None:
        if self._client is None or self._client.status != "running":
            return
        start_lost_workers(self._client)
        now = time.monotonic()
        if _threads_by_worker(self._client):
            self._seen_at = now
        elif now - self._seen_at > _WORKERLESS_S and not self._is_said:
            self._is_said = True
            address = self._client.scheduler.address
            _log.warning(
                "The cluster at %s has no workers; waiting for one. To start one, on its machine: "
                "dask worker %s. To stop: Ctrl-C; finished results are stored.", address, address
            )  # fmt: skip


@dataclass(frozen=True)
class _Sent:
    number: int
    parcel: Parcel
    workers: frozenset[str] | None  # those that may take it


def by_executor(
    groups: Sequence[Sequence[Task]], executor: Executor, left_out: LeftOut
) -> Generator[tuple[int, list[Answer] | Died], None, None]:
    """Yield (number of the group, its answers) as they end; `Lost` if the executor lost its worker.

    Leaving early cancels what is queued, and ends R wherever it runs. Raise RError if the executor breaks, or no
    worker can be used.
    """
    versions = None if isinstance(executor, MixedVersions) else _expected_versions(groups, executor)
    waiting = iter(enumerate(groups))
    sent: dict[Future[Any], _Sent] = {}
    ended: SimpleQueue[Future[Any]] = SimpleQueue()
    fit = left_out.fit_workers()

    def send(number: int, parcel: Parcel) -> None:
        future = left_out.submit(parcel, fit)
        sent[future] = _Sent(number, parcel, fit)
        future.add_done_callback(ended.put)

    with _lock(executor) as lock:
        try:
            most, looked_at, attendance = _max_in_flight(executor), time.monotonic(), _Attendance(executor)
            while True:
                while len(sent) < most and (following := next(waiting, None)) is not None:
                    send(following[0], _parcel(following[1], versions, lock))
                if not sent:
                    return
                with contextlib.suppress(Empty):
                    future = ended.get(timeout=_HEED_CTRL_C_S)
                    if (of_future := sent.pop(future, None)) is not None:
                        answers = _answers(future)
                        if isinstance(answers, Refused):
                            left_out.refuse(answers)
                            fit = left_out.fit_workers()
                            send(of_future.number, of_future.parcel)
                        else:
                            yield of_future.number, answers
                if time.monotonic() - looked_at > _LOOK_S:
                    attendance.look()
                    most, fit, looked_at = _max_in_flight(executor), left_out.fit_workers(), time.monotonic()
                    for of_future in _withdrawn(sent, fit):
                        send(of_future.number, of_future.parcel)
        except BrokenExecutor as error:
            raise RError(
                "The executor that was to call R has broken: one of its processes ended.",
                str(error),
                f"{_KEPT[:-1]}, with a new executor.",
            ) from error
        finally:
            for future in list(sent):
                future.cancel()


def _withdrawn(sent: dict[Future[Any], _Sent], fit: frozenset[str] | None) -> list[_Sent]:
    """Return the tasks that were sent only to workers that no longer exist: Dask would keep them for ever."""
    stranded = [future for future, of_one in sent.items() if fit and of_one.workers and not of_one.workers & fit]
    withdrawn = []
    for future in stranded:
        withdrawn.append(sent.pop(future))
        future.cancel()
    return withdrawn


def _parcel(group: Sequence[Task], versions: Mapping[str, str] | None, lock: str | None) -> Parcel:
    content = pickle.dumps(tuple(group), pickle.HIGHEST_PROTOCOL)
    packages = packages_of(group)
    own = versions and {name: versions[name] for name in ("R", R_CODE, *packages)}
    return Parcel(content, packages, own, any(task.takes_all_cores for task in group), lock)


def _answers(future: Future[Any]) -> list[Answer] | Died | Refused:
    try:
        value = future.result()
    except (BrokenExecutor, RError):
        raise
    except CancelledError as error:
        raise _dropped(str(error)) from error
    except _NOT_TAKEN as error:
        raise RError(
            "A worker of the executor can't take calls of R.",
            f"{type(error).__name__}: {error}",
            "Each worker needs the same slant as this machine: pip install slant[r,dask]",
        ) from error
    except Exception as error:  # each executor raises another error for a worker that is gone
        said = " ".join(str(error).split()).partition(". ")[0]
        return Lost(f"The executor lost the process that worked on it ({type(error).__name__}: {said})")
    if isinstance(value, Died | Refused):
        return value
    answers: list[Answer] = pickle.loads(value)
    return answers


def _dropped(said: str) -> RError:
    what = "The executor has dropped calls of R that it was given: it was closed, or its scheduler is gone."
    return RError(what, *filter(None, [said]), _KEPT)


def _expected_versions(groups: Sequence[Sequence[Task]], executor: Executor) -> Mapping[str, str]:
    """Return the versions of this machine; if it lacks R or a package, those of the worker that answers first."""
    packages = packages_of([task for group in groups for task in group])
    here = versions_now(packages)
    if here is not None:
        from slant.analysis.bridge.r_packages import r_code_hash

        return {**here, R_CODE: r_code_hash()}
    there = executor.submit(versions_there, packages).result()
    if missing := [name for name, version in there.items() if version is None]:
        raise RError(f"Neither this machine nor the executor's has R's {', '.join(missing)}.", "See: analyze doctor")
    return {name: version for name, version in there.items() if version is not None}


def _max_in_flight(executor: Executor) -> int:
    client = dask_client(executor)
    if client is not None and client.status not in ("running", "connecting"):
        raise _dropped(f"Dask's client is {client.status}.")
    return max(_AT_LEAST, _IN_FLIGHT * worker_count(executor))


@contextlib.contextmanager
def _lock(executor: Executor) -> Iterator[str | None]:
    """Lock a file inside the block: workers on this machine see that its caller still waits. Dask tells its own."""
    if dask_client(executor) is not None:
        yield None
        return
    file, path = tempfile.mkstemp(prefix="slant-", suffix=".lock")
    atexit.register(_remove, path)  # not before: work that an executor begins only now should find it unlocked
    try:
        try_lock(file)
        yield path
    finally:
        unlock(file)
        os.close(file)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        remove(path)
