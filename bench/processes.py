"""Runs in processes of their own, whose time and memory nothing else shares.

    python -m bench.processes NAME WORDS…

Prints what the function of that name returns, as JSON. Each imports only what it needs: that is measured, too.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

_LEVELS = ["compatible", "incompatible"]
_DISPLAY_STEP_S = 0.01
_SET_CHILD_SUBREAPER = 36  # of prctl(2)


# ---- the collector


def whole(url: str, db: str, repetitions: int, in_flight: int, stop_after: int = 10**9) -> dict[str, Any]:
    """The whole path: plan, ask, parse, journal with fsync, DuckDB. start_s: until the asking begins; asking_s: from
    then to the last answer; held_s: how long the database was held in that time, last_load_s: and after it.
    """
    from slant.collector import Watcher, collect
    from slant.collector.keep import journal_loader as loading
    from slant.collector.system.operating_system import peak_memory_mb

    class Stopwatch(Watcher):
        """Stops the run after that many answers, and remembers when things happened."""

        def __init__(self) -> None:
            self.left = stop_after
            self.began_s = self.last_s = time.perf_counter()
            self.started_s = 0.0

        def begin(self, lanes: Sequence[Any], stop: Callable[[], None]) -> None:
            self.started_s = time.perf_counter()
            self.stop = stop

        def change(self, lane: Any, outcome: str) -> None:
            self.last_s = time.perf_counter()
            self.left -= 1
            if self.left == 0:
                self.stop()

    loads: list[tuple[float, float]] = []  # when each ended, and how long it held the database
    load = loading.Loader.load

    def counted(self: loading.Loader, *given: Any, **named: Any) -> loading.LoadReport:
        report = load(self, *given, **named)
        loads.append((time.perf_counter(), report.held_s))
        return report

    loading.Loader.load = counted  # type: ignore[method-assign]
    cpu_s = time.process_time()
    watch = Stopwatch()
    report = collect(
        db, "rmiat", ["local/m"], base_url=url, repetitions=repetitions, concurrency=in_flight, watcher=watch
    )
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


def bare(url: str, trials: int, in_flight: int) -> dict[str, float]:
    """The baseline: an aiohttp loop that posts what `whole` sends and reads the answers, and does nothing else."""
    import asyncio
    from itertools import cycle, islice

    import aiohttp

    from slant.collector.plan.conversations import plan
    from slant.collector.providers import provider_named
    from slant.collector.studies.catalogue import load_study

    study = load_study("rmiat")
    model, design, dialect = study.model("local/m"), study.design, provider_named("local").dialect
    conversations = islice(plan(study, model), min(trials, 2000))
    steps = (design.asks.next(study, model, conversation, []) for conversation in conversations)
    bodies = [dialect.request("", None, model, step[1], step[0]).body for step in steps if step]
    waiting = islice(cycle(bodies), trials)

    async def post() -> dict[str, float]:
        connector = aiohttp.TCPConnector(limit=in_flight)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def work() -> None:
                for body in waiting:
                    async with session.post(f"{url}/chat/completions", json=body) as response:
                        await response.read()

            began, cpu = time.perf_counter(), time.process_time()
            await asyncio.gather(*(work() for _ in range(in_flight)))
            return {"trials": trials, "wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu}

    return asyncio.run(post())


def crew(url: str, db: str, repetitions: int, in_flight: int, processes: int) -> dict[str, float]:
    """One run with that many processes, timed from the first answer that is seen to the last."""
    from slant.collector import Watcher, collect

    moments: list[float] = []

    class Timed(Watcher):
        def change(self, lane: Any, outcome: str) -> None:
            moments.append(time.monotonic())

    collect(
        db, "rmiat", ["local/m"], base_url=url, repetitions=repetitions, concurrency=in_flight, processes=processes,
        watcher=Timed(),
    )  # fmt: skip
    # without the first and the last tenth: the processes neither start nor end at the same moment
    tenth = len(moments) // 10
    seen = moments[tenth:-tenth]
    return {"per_s": len(seen) / (seen[-1] - seen[0]), "answers": float(len(moments))}


def games(url: str, db: str, cells: int, in_flight: int) -> dict[str, float]:
    """All games of that many cells of the hiring study; `in_flight` at once in each cell."""
    from slant.collector import collect

    began_s, cpu_s = time.perf_counter(), time.process_time()
    models = [f"local/m{number}" for number in range(cells)]
    report = collect(db, "hiring", models, base_url=url, concurrency=in_flight)
    assert report.is_complete
    return {"wall_s": time.perf_counter() - began_s, "cpu_s": time.process_time() - cpu_s}


def history(rounds: int) -> dict[str, float]:
    """What the turns of one game of that many rounds hold in memory; played without a server."""
    import tracemalloc
    from dataclasses import replace

    from slant.collector.plan.conversations import plan
    from slant.collector.records import Turn
    from slant.collector.studies.catalogue import load_study

    study = load_study("hiring")
    study = replace(study, data=replace(study.data, rounds=rounds))
    design, model = study.design, study.model("simulated/greedy")
    game = next(plan(study, model))
    tracemalloc.start()
    turns: list[Turn] = []
    while step := design.asks.next(study, model, game, turns):
        trial, prompt = step
        reply = design.simulates.simulate(study, model, trial, study.seed)
        turns.append(Turn(prompt, reply, design.reads.read(study, trial, reply), trial.trial_id))
        assert prompt.hash  # as a run takes it
    return {"held_kb": tracemalloc.get_traced_memory()[0] / 1000}


def display(answers: int, per_second: int) -> dict[str, float]:
    """Processor time of the progress display, on a pseudo-terminal, and of the same answers without one."""
    import pty
    import threading

    from slant.collector import Watcher
    from slant.collector.ask.runner import Lane
    from slant.collector.progress.bar import ProgressWatcher
    from slant.collector.providers import provider_named
    from slant.collector.studies.catalogue import load_study

    def drain() -> None:
        while os.read(screen, 65536):
            pass

    def cpu_s(watcher: Watcher) -> float:
        lane = Lane(load_study("rmiat").model("local/m"), provider_named("local"), "", None, iter(()), answers, 0)
        began = time.process_time()
        watcher.begin([lane], lambda: None)
        for _ in range(round(answers / per_second / _DISPLAY_STEP_S)):
            for _ in range(round(per_second * _DISPLAY_STEP_S)):
                lane.outcomes["answered"] += 1
                watcher.change(lane, "answered")
            time.sleep(_DISPLAY_STEP_S)
        watcher.end()
        return time.process_time() - began

    screen, terminal = pty.openpty()
    os.dup2(terminal, 2)
    os.environ["TERM"] = "xterm-256color"
    threading.Thread(target=drain, daemon=True).start()
    return {"bare_cpu_s": cpu_s(Watcher()), "cpu_s": cpu_s(ProgressWatcher())}


# ---- the database


def reader(db: str, seconds: float) -> None:
    """Opens the database as soon as it is free, and holds it for that many seconds."""
    import duckdb

    while True:
        try:
            with duckdb.connect(db, read_only=True):
                time.sleep(float(seconds))
            return
        except duckdb.Error:
            time.sleep(0.02)


def tables(db: str, *names: str) -> dict[str, dict[str, float]]:
    """Tables of a database or a lake, each read whole, one after the other; peak_mb is of the whole process so far."""
    from slant.collector.keep.database import reading
    from slant.collector.system.operating_system import peak_memory_mb

    read = {}
    with reading(Path(db)) as connection:
        for name in names:
            began, cpu = time.perf_counter(), time.process_time()
            rows = connection.view(name).fetchall()
            wall_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
            read[name] = {"wall_s": wall_s, "cpu_s": cpu_s, "rows": len(rows), "peak_mb": peak_memory_mb()}
    return read


def merged(db: str, *sources: str) -> dict[str, float]:
    """One merge. ratio: a journal's text next to its compressed file."""
    from slant.collector import merge
    from slant.collector.keep.journal import journal_folder
    from slant.collector.keep.journal_files import journal_paths, journal_size
    from slant.collector.system.operating_system import peak_memory_mb

    began, cpu = time.monotonic(), time.process_time()
    report = merge(Path(db), list(map(Path, sources)))
    wall_s, cpu_s = time.monotonic() - began, time.process_time() - cpu
    paths = journal_paths(journal_folder(Path(sources[0])))
    ratio = sum(map(journal_size, paths)) / sum(path.stat().st_size for path in paths)
    return {
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "rows": report.attempts_loaded,
        "peak_mb": peak_memory_mb(),
        "ratio": ratio,
    }


# ---- R


def comparing(db: str) -> dict[str, float]:
    """S3 to S9 set next to the print: what `analyze compare` does. The caller's clock also sees the start of Python;
    that is the one to quote.
    """
    from slant.analysis.bridge.worker_start import begin_early

    began = time.perf_counter()
    begin_early(("lme4", "lmerTest"))  # as the command does, before all other imports
    from slant import analysis

    made: list[int] = []
    tables = tuple(f"S{number}" for number in range(3, 10))
    compared = analysis.compare(db, tables=tables, progress=lambda done, number: made.append(done))
    return {
        "wall_s": time.perf_counter() - began,
        "cpu_s": time.process_time(),
        "fits": len(made),
        "numbers": compared.height,
        "agree": int((compared["status"] == "agrees").sum()),
    }


def main_fit(db: str) -> dict[str, Any]:
    """The interference study's stage B."""
    from slant import analysis

    began = time.perf_counter()
    fitted = analysis.fit(db, "interference", "interference", refit=True)
    return {"seconds": time.perf_counter() - began, "status": fitted.diagnostics["status"][0]}


def permuting(db: str, permutations: int) -> dict[str, Any]:
    """Permutations of stage B, the first pair left out: it pays for R's start and for reading the model."""
    from slant import analysis

    analysis.permute(db, permutations=1, workers=2)
    began = time.perf_counter()
    result = analysis.permute(db, permutations=1 + permutations, workers=2)
    return {"seconds": time.perf_counter() - began, "failed": result.tests["n_failed"].max()}


def search(file: str, cores: int) -> dict[str, Any]:
    """The jobs of `analyze topics search` on texts that are prepared. One core means one: without the threads that a
    fit would take of the others.
    """
    from contextlib import closing

    from slant.analysis.calls.call import Call, computed

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    given = {"file": file, "max_em_its": 50}
    calls = [Call("search_prepared", arguments={**given, "k": number}) for number in range(10, 2, -1)]
    began = time.monotonic()
    with closing(computed(calls, cores)) as ended:
        answers = [answer for _, answer in ended]
    for answer in answers:
        answer.raise_error()
    return {"wall_s": time.monotonic() - began, "n_topics": [answer.frames["row"]["n_topics"][0] for answer in answers]}


def exchange(way: str, n_rows: int) -> dict[str, float | bool]:
    """Rows from Polars to R and back, by the bridge (`direct`) or through `pandas` as rpy2 does it. exact: whether what
    came back is what went, types too; but whole numbers of more than 32 bits come back as doubles: R has no other.
    """
    import polars as pl

    from slant.analysis.bridge import r

    def direct(rows: pl.DataFrame) -> pl.DataFrame | None:
        return r.from_r(r.to_r(rows, {"condition": _LEVELS}))  # type: ignore[no-any-return]

    go = {"direct": direct, "pandas": _through_pandas}[way]
    r.start()
    go(_six_columns(10))  # imports and first calls are not what is measured
    rows = _six_columns(n_rows)
    began, cpu = time.perf_counter(), time.process_time()
    back = go(rows)
    wall_s, cpu_s = time.perf_counter() - began, time.process_time() - cpu
    expected = rows.with_columns(pl.col("position").cast(pl.Float64))
    exact = back is not None and back.schema == expected.schema and back.equals(expected, null_equal=True)
    return {"wall_s": wall_s, "cpu_s": cpu_s, "exact": exact}


def _six_columns(n_rows: int) -> pl.DataFrame:
    """Like those of trials: text that repeats, text that doesn't, whole numbers, doubles, flags, gaps."""
    import random

    import polars as pl

    chance = random.Random(1)
    column = pl.int_range(n_rows, eager=True)
    return pl.DataFrame({"number": column}).select(
        trial_id=pl.format("trial-{}", pl.col("number")),
        condition=pl.when(pl.col("number") % 2 == 0).then(pl.lit(_LEVELS[0])).otherwise(pl.lit(_LEVELS[1])),
        tokens=pl.when(pl.col("number") % 50 == 0).then(None).otherwise(pl.col("number") * 64 % 5120),
        position=pl.col("number") * 2**20,
        cost_usd=pl.Series([chance.random() if place % 40 else None for place in range(n_rows)], dtype=pl.Float64),
        is_refusal=pl.when(pl.col("number") % 30 == 0).then(None).otherwise(pl.col("number") % 7 == 0),
    )


def _through_pandas(rows: pl.DataFrame) -> pl.DataFrame | None:
    """None where Polars can't take back what arrives in pandas: flags with gaps come as a mixture of types."""
    from importlib import import_module

    import polars as pl

    robjects = import_module("rpy2.robjects")
    converter = robjects.default_converter + import_module("rpy2.robjects.pandas2ri").converter
    with converter.context() as context:
        back = context.rpy2py(context.py2rpy(rows.to_pandas()))
    try:
        return pl.from_pandas(back.reset_index(drop=True))
    except (TypeError, ValueError):
        return None


# ---- anything


def processor(*command: object) -> dict[str, float]:
    """Seconds of a command on the wall, and of the processor in all processes that it starts (on Linux also those whose
    parent ended, as of a fork server): a busy machine changes the first more than the second.
    """
    import ctypes
    import resource
    import subprocess

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    began = time.perf_counter()
    subprocess.run([*map(str, command)], check=True, capture_output=True)
    wall_s = time.perf_counter() - began
    try:
        while True:
            os.wait()
    except ChildProcessError:
        pass
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"wall_s": wall_s, "processor_s": used.ru_utime + used.ru_stime}


PROCESSES: tuple[Callable[..., Any], ...] = (
    whole, bare, crew, games, history, display, reader, tables, merged, comparing, main_fit, permuting, search,
    exchange, processor,
)  # fmt: skip

if __name__ == "__main__":
    name, *words = sys.argv[1:]
    process = {function.__name__: function for function in PROCESSES}[name]
    sys.stdout.write(json.dumps(process(*(int(word) if word.isdigit() else word for word in words))) + "\n")
