"""A provider that takes two seconds for each answer, 200 in flight: 100 answers a second are what is possible."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.measures import ROOT, Measure, measured, server
from bench.speed import IN_FLIGHT
from slant.collector.keep.database import reading
from slant.collector.keep.journal_loader import load_journals

LATENCY_S = 2.0
SLOW_IN_FLIGHT = 200
IDEAL_PER_S = SLOW_IN_FLIGHT / LATENCY_S
QUICK_PER_S = 1500  # about what a run at full speed asks here; says only when it stops


def slow(seconds: float) -> list[Measure]:
    """A run of so many seconds at two seconds' latency: how near it comes to the ideal, and what it takes of DuckDB."""
    with server(LATENCY_S) as url, tempfile.TemporaryDirectory() as folder:
        found = measured("whole", url, Path(folder) / "a.duckdb", 2, SLOW_IN_FLIGHT, round(seconds * IDEAL_PER_S))
    held = 100 * found["held_s"] / found["asking_s"]
    return [
        _rate(f"2 s latency, 200 in flight, {seconds:g} s", found),
        Measure("database held at 100 answers/s", held, "% of time", None, 2.0, "value"),
    ]


def _rate(name: str, found: dict[str, Any]) -> Measure:
    ideal_s = LATENCY_S * math.ceil(found["trials"] / SLOW_IN_FLIGHT)  # answers come in waves of 200
    rate, ideal = found["trials"] / found["asking_s"], found["trials"] / ideal_s
    return Measure(name, rate, "trials/s", ideal, 0.97, "ratio", is_least=True)


def full_speed(seconds: float) -> list[Measure]:
    """At full speed, from the first request to the last answer; then nobody waits any more but for the last load."""
    with server() as url, tempfile.TemporaryDirectory() as folder:
        stop_after = round(seconds * QUICK_PER_S)
        found = measured("whole", url, Path(folder) / "a.duckdb", 20, IN_FLIGHT, stop_after)
    held = 100 * found["held_s"] / found["asking_s"]
    return [Measure("database held at full speed", held, "% of time", None, 10.0, "value")]


def while_read(seconds: float) -> list[Measure]:
    """A reader holds the database for so many seconds of a run that is a little longer."""
    with server(LATENCY_S) as url, tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "a.duckdb"
        stop_after = round((seconds + 10) * IDEAL_PER_S)
        words = [sys.executable, "-m", "bench.whole", url, db, "2", SLOW_IN_FLIGHT, stop_after]
        with subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True, cwd=ROOT) as run:
            while not db.exists():
                time.sleep(0.05)
            subprocess.run([sys.executable, "-m", "bench.reader", str(db), str(seconds)], check=True, cwd=ROOT)
            found = json.loads(run.communicate()[0].splitlines()[-1])
        wrong = _lost_or_doubled(db, found["trials"])
    return [
        _rate(f"the same while a reader holds the database {seconds:g} s", found),
        Measure("answers lost or doubled by that", wrong, "trials", None, 0.0, "value"),
    ]


def _lost_or_doubled(db: Path, asked: int) -> int:
    load_journals(db)
    with reading(db) as connection:
        rows, trials = connection.execute("SELECT count(*), count(DISTINCT trial_id) FROM trials").fetchall()[0]
    return int(abs(asked - trials) + rows - trials)
