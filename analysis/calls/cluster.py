"""Use a Dask cluster by its typed address: connected to, or started here, at its first use."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from functools import cached_property
from typing import Any

from slant.analysis.calls.in_worker import WorkerReport, about_worker
from slant.collector.errors import RError, UsageError

LOCAL = "local"
HOW_TO_INSTALL = "Type: pip install 'slant[dask]'"
_SCHEMES = ("tcp", "tls", "ws", "wss", "ucx", "inproc")
_CONNECT_S = 10
_EXAMPLES = "For example: --cluster tcp://scheduler:8786, or --cluster local:4 for four processes of this machine."


class ClusterExecutor(Executor):
    """Hand calls to the Dask cluster at `address`: tcp://host:port of a scheduler, or local:N, which starts N worker
    processes here. Nothing happens before the first call; `shutdown()` leaves the scheduler, and ends what was started.

    Raise UsageError if the address is invalid, RError if Dask is missing or no scheduler answers there.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.n_local = _checked(address)
        _distributed()
        self._open: contextlib.ExitStack | None = None

    @cached_property
    def client(self) -> Any:
        """Return Dask's own client, connected."""
        distributed = _distributed()
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters ends in a sentence of ours
        self._open = contextlib.ExitStack()
        try:
            address: Any = self.address
            if self.n_local is not None:
                # a dashboard on any free port: another cluster on this machine is no reason to fail
                own = {"n_workers": self.n_local, "threads_per_worker": 1, "dashboard_address": ":0"}
                made = distributed.LocalCluster(**own, silence_logs=logging.CRITICAL)
                address = self._open.enter_context(made)
            client = distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, ValueError, RuntimeError) as error:
            self._open.close()
            raise RError(
                f"No Dask scheduler answers at {self.address}.",
                str(error) or type(error).__name__,
                "To start one there: dask scheduler; its workers: dask worker tcp://HOST:8786",
            ) from error
        self._open.callback(client.close)
        return client

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        return self._executor.submit(function, *arguments, **named)

    @cached_property
    def _executor(self) -> Executor:
        executor: Executor = self.client.get_executor(pure=False)
        return executor

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster; one that was started for this ends."""
        if self._open is not None:
            self._open.close()


def start_lost_workers(client: Any) -> None:
    """Start lost workers again. Dask restarts a worker of this machine that dies in a job, but gives up one that dies
    before its nanny knew that it had begun: a LocalCluster that lacks workers must be asked for them. Others are not
    ours to scale.
    """
    cluster = client.cluster
    if isinstance(cluster, _distributed().LocalCluster) and cluster.worker_spec.keys() - cluster.workers.keys():
        cluster.scale(len(cluster.worker_spec))


def worker_reports(address: str, packages: Sequence[str]) -> list[WorkerReport | str]:
    """Report on each worker of the cluster; a sentence for one that can't say."""
    with ClusterExecutor(address) as executor:
        try:
            executor.client.wait_for_workers(1, timeout=_CONNECT_S)
        except TimeoutError as error:
            raise RError(
                f"The cluster at {address} has no workers.", f"To start one, on its machine: dask worker {address}"
            ) from error
        reports = executor.client.run(about_worker, tuple(packages), on_error="return")
    return [
        report if isinstance(report, WorkerReport) else f"{worker}: {type(report).__name__}: {report}"
        for worker, report in reports.items()
    ]


def _checked(address: str) -> int | None:
    """Return the number of workers of local:N; None for another address."""
    scheme, colon, rest = address.partition(":")
    if scheme == LOCAL:
        if not colon:
            return os.cpu_count() or 1
        if rest.isascii() and rest.isdigit() and int(rest) > 0:
            return int(rest)
        raise UsageError(f'Can\'t start the cluster "{address}": local: needs a number of workers.', _EXAMPLES)
    if scheme not in _SCHEMES or not rest.startswith("//") or rest == "//":
        raise UsageError(
            f'Can\'t find the cluster "{address}": that is not the address of a Dask scheduler.', _EXAMPLES
        )
    return None


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise RError("A cluster needs the Python package distributed, which is missing.", HOW_TO_INSTALL) from error
