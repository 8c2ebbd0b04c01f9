"""The collector: its speed next to a bare loop and next to what a slow provider allows, memory, going on, games."""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from bench.measures import ROOT, Measure, in_process, measured, server
from slant.collector.keep.database import reading, writing
from slant.collector.keep.frames import registered
from slant.collector.keep.journal_lines import attempt_schema
from slant.collector.keep.journal_loader import load_journals
from slant.collector.studies.catalogue import load_study

IN_FLIGHT = 100
TRIALS_A_REPETITION = 12_920
REPETITIONS = 4  # about as many trials as a whole study: the start of a process counts as much as it does there
LATENCY_S = 2.0
SLOW_IN_FLIGHT = 200
IDEAL_PER_S = SLOW_IN_FLIGHT / LATENCY_S
QUICK_PER_S = 1500  # about what a run at full speed asks here; says only when it stops
SMALL = 10_000
MILLION_REPETITIONS = 78  # 1,007,760 trials
RESUMED_REPETITIONS = 79  # 1,020,680 trials
DONE = 1_000_000
CELLS, GAMES, ROUNDS = 12, 30, 40
GAME_LATENCY_S = 1.0
FEW_ROUNDS, MANY_ROUNDS = 100, 1000


def speed(rounds: int) -> list[Measure]:
    """Whole and bare take turns, so that whatever else the machine does hits both alike; medians are compared."""
    bare, whole = [], []
    with server() as url:
        for _ in range(rounds):
            bare.append(measured("bare", url, REPETITIONS * TRIALS_A_REPETITION, IN_FLIGHT))
            with tempfile.TemporaryDirectory() as folder:
                whole.append(measured("whole", url, Path(folder) / "a.duckdb", REPETITIONS, IN_FLIGHT))
    bare_rate, rate = (median(run["trials"] / run["wall_s"] for run in runs) for runs in (bare, whole))
    bare_ms, ms = (median(1000 * run["cpu_s"] / run["trials"] for run in runs) for runs in (bare, whole))
    display = measured("display", 10 * 2000, 2000)
    display_ms = 1000 * (display["cpu_s"] - display["bare_cpu_s"]) / (10 * 2000)
    return [
        Measure("whole path, 100 in flight", rate, "trials/s", bare_rate, 0.60, "ratio", is_least=True),
        Measure("CPU of the whole path", ms, "ms/trial", bare_ms, 0.38, "value"),
        Measure("progress display", display_ms, "ms/trial", ms, 0.02, "ratio"),
    ]


def starts(rounds: int) -> list[Measure]:
    """Processor seconds of what only starts, next to a bare import of the packages that asking needs, in turns."""
    dry_run = ["--study", "rmiat", "--model", "o3-mini", "--dry-run", "--db", "no-such-file.duckdb"]
    commands = {
        "bare": ["-c", "import duckdb, aiohttp, click"],
        "import slant.collector.api": ["-c", "import slant.collector.api"],
        "collect studies": ["-m", "slant.collector", "studies"],
        "collect --dry-run": ["-m", "slant.collector", *dry_run],
    }
    goals = {"import slant.collector.api": 1.3, "collect studies": 1.8, "collect --dry-run": 1.8}
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, words in commands.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            environment = {**os.environ, "OPENAI_API_KEY": "none"}
            subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            taken[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    bare = median(taken["bare"])
    return [Measure(name, median(taken[name]), "s", bare, goal, "ratio") for name, goal in goals.items()]


def slow(seconds: float) -> list[Measure]:
    """A run of that many seconds in which an answer takes two, 200 in flight: how near it comes to 100 answers a
    second, and what it takes of DuckDB.
    """
    with server(LATENCY_S) as url, tempfile.TemporaryDirectory() as folder:
        run = measured("whole", url, Path(folder) / "a.duckdb", 2, SLOW_IN_FLIGHT, round(seconds * IDEAL_PER_S))
    held = 100 * run["held_s"] / run["asking_s"]
    return [
        _rate(f"2 s latency, 200 in flight, {seconds:g} s", run),
        Measure("database held at 100 answers/s", held, "% of time", None, 2.0, "value"),
    ]


def _rate(name: str, run: dict[str, Any]) -> Measure:
    ideal_s = LATENCY_S * math.ceil(run["trials"] / SLOW_IN_FLIGHT)  # answers come in waves of 200
    rate, ideal = run["trials"] / run["asking_s"], run["trials"] / ideal_s
    return Measure(name, rate, "trials/s", ideal, 0.97, "ratio", is_least=True)


def full_speed(seconds: float) -> list[Measure]:
    """At full speed, from the first request to the last answer; then nobody waits any more but for the last load."""
    with server() as url, tempfile.TemporaryDirectory() as folder:
        stop_after = round(seconds * QUICK_PER_S)
        run = measured("whole", url, Path(folder) / "a.duckdb", 20, IN_FLIGHT, stop_after)
    held = 100 * run["held_s"] / run["asking_s"]
    return [Measure("database held at full speed", held, "% of time", None, 10.0, "value")]


def while_read(seconds: float) -> list[Measure]:
    """A reader holds the database for that many seconds of a run that is a little longer."""
    with server(LATENCY_S) as url, tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "a.duckdb"
        command = in_process("whole", url, db, 2, SLOW_IN_FLIGHT, round((seconds + 10) * IDEAL_PER_S))
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
            while not db.exists():
                time.sleep(0.05)
            measured("reader", db, round(seconds))
            run = json.loads(process.communicate()[0].splitlines()[-1])
        wrong = _lost_or_doubled(db, run["trials"])
    return [
        _rate(f"the same while a reader holds the database {seconds:g} s", run),
        Measure("answers lost or doubled by that", wrong, "trials", None, 0.0, "value"),
    ]


def _lost_or_doubled(db: Path, asked: int) -> int:
    load_journals(db)
    with reading(db) as connection:
        rows, trials = connection.execute("SELECT count(*), count(DISTINCT trial_id) FROM trials").fetchall()[0]
    return int(abs(asked - trials) + rows - trials)


def memory(rounds: int, *, whole: bool) -> list[Measure]:
    """Both runs stop after the same number of answers, unless `whole`: then all of the large plan is asked."""
    small: list[float] = []
    large: list[float] = []
    stop_after = 10**9 if whole else SMALL
    with server() as url:
        for _ in range(rounds):
            for repetitions, stop, peaks in ((1, SMALL, small), (MILLION_REPETITIONS, stop_after, large)):
                with tempfile.TemporaryDirectory() as folder:
                    run = measured("whole", url, Path(folder) / "a.duckdb", repetitions, IN_FLIGHT, stop)
                    peaks.append(run["peak_mb"])
    name = "peak memory of a plan of 1,000,000" + (", all asked" if whole else f", {SMALL:,} asked")
    return [Measure(name, median(large), "MB", median(small), 30.0, "difference")]


def resume() -> list[Measure]:
    """From the start of the process, imports apart, to the moment when the first request may go out."""
    with tempfile.TemporaryDirectory() as folder, server() as url:
        db = Path(folder) / "a.duckdb"
        _fill(db)
        run = measured("whole", url, db, RESUMED_REPETITIONS, IN_FLIGHT, 100)
        return [Measure(f"resume with {DONE:,} trials done", run["start_s"], "s", None, 10.0, "value")]


def _fill(db: Path) -> None:
    """A database in which the first million trials of the plan are answered, but for the prose of the answers."""
    study = load_study("rmiat")
    model = study.model("local/m")
    plan = study.design.asks.plan(study, model, study.seed)
    ids = [plan.conversation_id(place) for place in islice(plan.places(RESUMED_REPETITIONS), DONE)]
    told = {
        "run_id": "filled", "source": "collected", "study": study.name, "study_version": study.version,
        "variant": study.variant, "model": model.model, "provider": model.provider, "outcome": "answered",
        "is_final": True, "tokens": 192,
    }  # fmt: skip
    frame = pl.DataFrame({"trial_id": ids}).with_columns(
        pl.int_range(DONE).alias("sequence"),
        *(pl.lit(value, attempt_schema()[name]).alias(name) for name, value in told.items()),
    )
    with writing(db) as connection, registered(connection, "new_rows", frame):
        connection.execute("INSERT INTO attempts BY NAME SELECT * FROM new_rows")


def games(*, quick: bool) -> list[Measure]:
    """12 cells of 30 games of 40 rounds, 14,400 calls: without latency, in seconds; and with one second, next to the
    least that rounds in order can take.
    """
    cells = 3 if quick else CELLS
    least_s = ROUNDS * GAME_LATENCY_S  # all games are in flight at once
    with server() as url, tempfile.TemporaryDirectory() as folder:
        at_once = measured("games", url, Path(folder) / "a.duckdb", cells, GAMES)
    with server(GAME_LATENCY_S) as url, tempfile.TemporaryDirectory() as folder:
        late = measured("games", url, Path(folder) / "a.duckdb", cells, GAMES)
    calls = cells * GAMES * ROUNDS
    return [
        Measure(f"{calls:,} calls of games, no latency", at_once["wall_s"], "s", None, 20 * cells / CELLS, "value"),
        Measure("processor time of one round", 1000 * at_once["cpu_s"] / calls, "ms", None, 1.2, "value"),
        Measure(f"{calls:,} calls of games, 1 s latency", late["wall_s"], "s", least_s, 1.15, "ratio"),
    ]


def histories() -> list[Measure]:
    """What a game's history holds in memory: a thousand rounds next to ten times a hundred."""
    few, many = (measured("history", rounds)["held_kb"] for rounds in (FEW_ROUNDS, MANY_ROUNDS))
    name = f"history of a game of {MANY_ROUNDS:,} rounds"
    return [Measure(name, many, "kB", few * MANY_ROUNDS / FEW_ROUNDS, 1.1, "ratio")]
