"""How fast the whole path is against a bare loop, and what the progress display costs."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

from bench.measures import Measure, measured, server

IN_FLIGHT = 100
TRIALS_A_REPETITION = 12_920
REPETITIONS = 4  # about as many trials as a whole study: the start of a process counts as much as it does there


def speed(rounds: int) -> list[Measure]:
    """Whole and bare take turns, so that whatever else the machine does hits both alike; medians are compared."""
    bare, whole = [], []
    with server() as url:
        for _ in range(rounds):
            bare.append(measured("bare", url, REPETITIONS * TRIALS_A_REPETITION, IN_FLIGHT))
            with tempfile.TemporaryDirectory() as folder:
                whole.append(measured("whole", url, Path(folder) / "a.duckdb", REPETITIONS, IN_FLIGHT))
    bare_rate, rate = (median(found["trials"] / found["wall_s"] for found in runs) for runs in (bare, whole))
    bare_ms, ms = (median(1000 * found["cpu_s"] / found["trials"] for found in runs) for runs in (bare, whole))
    display = measured("display", 10 * 2000, 2000)
    display_ms = 1000 * (display["cpu_s"] - display["bare_cpu_s"]) / (10 * 2000)
    return [
        Measure("whole path, 100 in flight", rate, "trials/s", bare_rate, 0.60, "ratio", is_least=True),
        Measure("CPU of the whole path", ms, "ms/trial", bare_ms, 0.38, "value"),
        Measure("progress display", display_ms, "ms/trial", ms, 0.02, "ratio"),
    ]
