"""What runs in the workers of a Dask cluster in tests, and the processes there."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from typing import Any

import psutil

from slant.analysis.calls.call import Call
from slant.analysis.calls.in_worker import Parcel, answer_parcel_here


def answer_and_kill_once(marks: str, parcel: Parcel) -> Any:
    """As ours, but the first of all such jobs kills the Dask worker that it runs in, while R works."""
    try:
        os.close(os.open(Path(marks) / "killed", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return answer_parcel_here(parcel)
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def kill_this_worker(parcel: Parcel) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def below(pid: int) -> list[psutil.Process]:
    """All that a process has started, and they."""
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def long_call(seconds: float = 60.0) -> Call:
    """Random games enough for a minute."""
    sizes = {"n_rounds": 40, "n_groups": 4, "class_sizes": [2, 2, 2, 2], "n_games": 40, "seed": 1}
    return Call("random_level", arguments={**sizes, "n_cells": int(400 * seconds)}, about={"of": "long"})


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
