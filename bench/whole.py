"""The whole path: plan, ask, parse, journal with fsync, DuckDB. One run of `collect` in a process of its own.

    python -m bench.whole URL DB REPETITIONS IN_FLIGHT [STOP_AFTER]

Prints, as JSON: trials, wall_s, cpu_s, start_s (until the asking begins), asking_s (from then to the last answer),
held_s (how long the database was held in that time), last_load_s (and after it), peak_mb.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import click

from slant.collector import Options, Watcher, collect
from slant.collector.ask.runner import Lane
from slant.collector.keep import journal_loader as loading
from slant.collector.system.operating_system import peak_memory_mb


class Stopwatch(Watcher):
    """Stops the run after so many answers, and remembers when things happened."""

    def __init__(self, stop_after: int) -> None:
        self.left = stop_after
        self.began_s = self.last_s = time.perf_counter()
        self.started_s = 0.0

    def begin(self, lanes: Sequence[Lane], stop: Callable[[], None]) -> None:
        self.started_s = time.perf_counter()
        self.stop = stop

    def change(self, lane: Lane, outcome: str) -> None:
        self.last_s = time.perf_counter()
        self.left -= 1
        if self.left == 0:
            self.stop()


def count_held(loads: list[tuple[float, float]]) -> None:
    """Notes of every load when it ended and how long it held the database."""
    load = loading.Loader.load

    def counted(self: loading.Loader, *given: Any, **named: Any) -> loading.LoadReport:
        report = load(self, *given, **named)
        loads.append((time.perf_counter(), report.held_s))
        return report

    loading.Loader.load = counted  # type: ignore[method-assign]


def run(url: str, db: str, repetitions: int, in_flight: int, stop_after: int = 10**9) -> dict[str, Any]:
    loads: list[tuple[float, float]] = []
    count_held(loads)
    cpu_s = time.process_time()
    watch = Stopwatch(stop_after)
    options = Options(concurrency=in_flight)
    report = collect(db, "rmiat", ["local/m"], base_url=url, repetitions=repetitions, options=options, watcher=watch)
    return {
        "held_s": sum(held_s for ended_s, held_s in loads if ended_s <= watch.last_s),
        "last_load_s": sum(held_s for ended_s, held_s in loads if ended_s > watch.last_s),
        "trials": report.models[0]["asked"],
        "wall_s": time.perf_counter() - watch.began_s,
        "asking_s": watch.last_s - watch.started_s,
        "start_s": watch.started_s - watch.began_s,
        "cpu_s": time.process_time() - cpu_s,
        "peak_mb": peak_memory_mb(),
    }


if __name__ == "__main__":
    click.echo(json.dumps(run(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))))
