"""What each file of tests costs: processor seconds, those of its processes counted, and seconds by the clock.

`tools/test.py` reads the lines: file, processor seconds, seconds, milliseconds of a fixed loop, which tell how quick
the machine was then. The start of the process that R's workers are forked from is not counted: the files share it. The
workers, which have its command line, are.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

PROCESSES = Path("/proc")
SHARED_START = b"multiprocessing.forkserver"


def processor_seconds(of: int | None = None, processes: Path = PROCESSES) -> float:
    """What a process (this one) and all that it started have used, whether they have ended or not."""
    if not (processes / "self").exists():
        used = os.times()
        return used.user + used.system + used.children_user + used.children_system
    children: dict[int, list[int]] = {}
    ticks: dict[int, tuple[int, int]] = {}
    servers = set()
    for folder in processes.iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text("utf-8", errors="replace").rpartition(")")[2].split()
                is_server = SHARED_START in (folder / "cmdline").read_bytes()
            except OSError:  # it has ended since
                continue
            parent, process, (user, system, *of_children) = int(fields[1]), int(folder.name), map(int, fields[11:15])
            children.setdefault(parent, []).append(process)
            ticks[process] = user + system, sum(of_children)
            servers |= {process} if is_server else set()
    waiting, total = [(of or os.getpid(), False)], 0
    while waiting:
        process, is_worker = waiting.pop()
        own, ended = ticks.get(process, (0, 0))
        is_server = process in servers
        total += ended + (own if is_worker or not is_server else 0)
        waiting += [(child, is_server) for child in children.get(process, [])]
    return total / os.sysconf("SC_CLK_TCK")


def loop_ms() -> float:
    """Milliseconds of a processor that a fixed loop takes."""
    begun = time.process_time()
    sum(number * number % 7 for number in range(50_000))
    return (time.process_time() - begun) * 1000


class Ledger:
    """Writes a line whenever tests of another file begin, and at the end."""

    def __init__(self, file: Path) -> None:
        self._file, self._of = file, ""

    def turn_to(self, name: str) -> None:
        if name == self._of:
            return
        used, now = processor_seconds(), time.monotonic()
        if self._of:
            line = f"{self._of}\t{used - self._used:.2f}\t{now - self._begun:.2f}\t{loop_ms():.2f}\n"
            with self._file.open("a", encoding="utf-8") as file:
                file.write(line)
        self._of, self._used, self._begun = name, processor_seconds(), time.monotonic()
