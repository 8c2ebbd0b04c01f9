"""How much memory a process and all that descends from it hold at most, shared pages counted once (Linux)."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import threading
from pathlib import Path
from typing import Any

from bench.measures import ROOT

_EVERY_S = 0.25
_PSS = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)


def watched(command: list[str]) -> tuple[dict[str, Any], float]:
    """What the command prints last, as JSON, and the peak of memory in MB: the sum of proportional set sizes."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        peak = [0.0]
        ended = threading.Event()
        watcher = threading.Thread(target=_watch, args=(process.pid, ended, peak))
        watcher.start()
        said, _ = process.communicate()
        ended.set()
        watcher.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found, peak[0]


def _watch(pid: int, ended: threading.Event, peak: list[float]) -> None:
    while not ended.wait(_EVERY_S):
        peak[0] = max(peak[0], sum(_held_mb(one) for one in _family(pid)))


def _family(pid: int) -> list[int]:
    """This process and its descendants; those of a fork server are children of its children."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found = [pid]
    for one in found:
        found.extend(children.get(one, []))
    return found


def _held_mb(pid: int) -> float:
    with contextlib.suppress(OSError):
        if held := _PSS.search(Path(f"/proc/{pid}/smaps_rollup").read_text()):
            return int(held[1]) / 1000
    return 0.0
