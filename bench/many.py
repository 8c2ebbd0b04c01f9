"""Many processes and machines: two collectors next to one, a merge of eight shards, tables over a lake next to the
database; calls of R by our own processes and by a Dask cluster of as many.

`SLANT_BENCH_ANSWERS=250000,500000` is for merges of shards of that many answers each, one after the other (a million of
them, in all, take 100 MB of disk as journals, and 0.4 GB as a database). `SLANT_BENCH_TRIALS` names a file and
`SLANT_BENCH_LAKE` a folder in which ten million trials and their lake are kept for the next time.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from bench.measures import Measure, kept_trials, measured, server, simulated
from slant import analysis
from slant.analysis.calls.call import Call
from slant.analysis.calls.cluster import ClusterExecutor
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.results import results
from slant.analysis.fitting.fit_plan import plan_fits
from slant.analysis.rows.study_choice import find_fits
from slant.analysis.rows.views import table_info
from slant.collector import collect, export_lake
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import compress, journal_paths, opened_journal
from slant.collector.keep.lake_files import is_lake

SHARDS = 8
IN_FLIGHT = 64
CORES = 2
_CLUSTER = """\
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers={n}, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster:
        print(cluster.scheduler_address, flush=True)
        input()
"""


def processes(rounds: int, repetitions: int) -> list[Measure]:
    """Answers a second of two processes and of one, from the first answer to the last, in turns."""
    rates: dict[int, list[float]] = {1: [], 2: []}
    with server(kind="canned") as url:
        for _ in range(rounds):
            for n, found in rates.items():
                with tempfile.TemporaryDirectory() as folder:
                    found.append(measured("crew", url, Path(folder) / "a.duckdb", repetitions, IN_FLIGHT, n)["per_s"])
    one, two = median(rates[1]), median(rates[2])
    return [Measure("two processes on two cores", two, "answers/s", one, 1.7, "ratio", is_least=True)]


def merging(answers: int) -> list[Measure]:
    """Merges of eight shards of that many answers each, whose journals are compressed."""
    sizes = map(int, os.environ.get("SLANT_BENCH_ANSWERS", str(answers)).split(","))
    return [measure for size in sizes for measure in merged_shards(size)]


def merged_shards(answers: int) -> list[Measure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shards = list(made_shards(folder, answers))
        found = measured("merged", folder / "all.duckdb", *shards)
    size = f"merge of {SHARDS} shards of {answers:,} answers"
    rate = found["rows"] / found["wall_s"]
    return [
        Measure(size, rate, "rows/s", None, 10_000.0, "value", is_least=True),
        Measure(
            f"{size}: of processor", found["rows"] / found["cpu_s"], "rows/s", None, 10_000.0, "value", is_least=True
        ),
        Measure(f"{size}: peak memory", found["peak_mb"], "MB", None, 1000.0, "value"),
        Measure(
            "a journal's text next to its compressed file", found["ratio"], "times", None, 8.0, "value", is_least=True
        ),
    ]


def made_shards(folder: Path, answers: int) -> Iterator[Path]:
    """Journals of answers as they come, each line with ids of its own; next to them no databases."""
    with server() as url:
        collect(folder / "template.duckdb", "rmiat", ["local/m"], base_url=url)
    [template] = journal_paths(journal_folder(folder / "template.duckdb"))
    with opened_journal(template) as file:
        lines = file.read().splitlines(True)
    run = json.loads(lines[0])
    others = [line for line in lines[1:] if line.startswith(b'{"kind":"study"')]
    attempts = [line for line in lines if line.startswith(b'{"attempt_id"')]
    for number in range(SHARDS):
        run_id = f"20260101T00000{number}Z-rmiat-00000{number}"
        db = folder / f"shard{number}.duckdb"
        journal_folder(db).mkdir()
        path = journal_folder(db) / f"{run_id}.jsonl"
        with path.open("wb") as file:
            file.writelines([json.dumps({"kind": "run"} | run | {"run_id": run_id}).encode() + b"\n", *others])
            for place in range(answers):
                file.write(_line(attempts[place % len(attempts)], run, run_id, number * answers + place))
        compress(path)
        yield db


def _line(line: bytes, run: dict[str, Any], run_id: str, number: int) -> bytes:
    """An answer as one of another run and trial."""
    start = line.index(b'"trial_id":"') + 12
    trial = line[start : start + 32]
    return line.replace(trial, f"{number:032x}".encode()).replace(run["run_id"].encode(), run_id.encode())


def lake(trials: int) -> list[Measure]:
    """All tables over a lake of that many trials, next to the same over the database."""
    with tempfile.TemporaryDirectory() as name:
        db = kept_trials(Path(name), trials)
        folder = Path(os.environ.get("SLANT_BENCH_LAKE") or Path(name) / "lake")
        exported = [] if is_lake(folder) else [exported_lake(db, folder, trials)]
        of_db, of_lake = (measured("tables", place, *table_info()) for place in (db, folder))
    size = f"{trials:,} trials"
    slowest = max(of_lake, key=lambda table: of_lake[table]["cpu_s"] / max(of_db[table]["cpu_s"], 0.05))
    together = f"all tables over a lake of {size}"
    return [
        *exported,
        Measure(together, total(of_lake, "wall_s"), "s", total(of_db, "wall_s"), 3.0, "ratio"),
        Measure(f"{together}: of processor", total(of_lake, "cpu_s"), "s", total(of_db, "cpu_s"), 3.0, "ratio"),
        Measure(
            f"the table that loses most ({slowest})", of_lake[slowest]["cpu_s"], "s", of_db[slowest]["cpu_s"], 10.0,
            "ratio",
        ),
    ]  # fmt: skip


def exported_lake(db: Path, folder: Path, trials: int) -> Measure:
    began = time.monotonic()
    export_lake(db, folder)
    rate = trials / (time.monotonic() - began)
    return Measure(f"export of {trials:,} trials as a lake", rate, "rows/s", None, 10_000.0, "value", is_least=True)


def total(tables: dict[str, Any], what: str) -> float:
    return sum(float(of_one[what]) for of_one in tables.values())


def executing(rounds: int, fits: int, permutations: int, short: int) -> list[Measure]:
    """Calls of R: how much longer a Dask cluster takes, and what results cost the caller. Ours and Dask's take turns,
    R's start left out; the cluster is a process of its own, as elsewhere.
    """
    seconds: dict[str, list[float]] = {name: [] for name in ("fits", "fits by Dask", "permuted", "permuted by Dask")}
    with tempfile.TemporaryDirectory() as name, local_cluster(Path(name)) as executor:
        folder = Path(name)
        db = simulated(folder / "rmiat.duckdb", "rmiat", "--pilot", 600)
        choices = simulated(folder / "interference.duckdb", "interference", "--pilot", 600)
        works: dict[str, Workers] = {"": CORES, " by Dask": executor}
        for workers in works.values():  # R starts and loads its packages
            seconds_of_fits(db, "lme4", 2 * CORES, workers)
        for number in range(rounds):
            for who, workers in works.items():
                seconds[f"fits{who}"].append(seconds_of_fits(db, "lme4", fits, workers)[0])
                seconds[f"permuted{who}"].append(seconds_of_permutations(choices, permutations, number, workers))
        _, cpu_s = seconds_of_fits(db, "effect_size", short, executor)
    own, dask, permuted, permuted_dask = map(median, seconds.values())
    return [
        Measure(f"{fits} mixed models by a Dask cluster of {CORES}", dask, "s", own, 1.15, "ratio"),
        Measure(f"{permutations} permutations by it", permuted_dask, "s", permuted, 1.15, "ratio"),
        Measure(
            f"the caller's processor time, {short:,} effect sizes", 1e3 * cpu_s / short, "ms each", None, 2, "value"
        ),
    ]


@contextlib.contextmanager
def local_cluster(folder: Path) -> Iterator[Executor]:
    script = folder / "cluster.py"
    script.write_text(_CLUSTER.format(n=CORES))
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, str(script)], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        with ClusterExecutor(process.stdout.readline().strip()) as executor:
            yield executor
        process.communicate("\n")


def seconds_of_fits(db: Path, fit: str, n: int, workers: Workers) -> tuple[float, float]:
    """Of that many fits of the cells of a study, each kept: by the clock, and of this process' processors."""
    calls = many_calls(db, fit, n)
    began, cpu = time.perf_counter(), time.process_time()
    made = results(db, calls, refit=True, workers=workers)
    spent = time.perf_counter() - began, time.process_time() - cpu
    made.check_none_failed()
    return spent


def many_calls(db: Path, fit: str, n: int) -> Sequence[Call]:
    """The study's own, again and again under other names, so that each is kept next to the others."""
    own = [work.call for study, definition in find_fits(fit, db, None) for work in plan_fits(db, study, definition)]
    return [replace(own[k % len(own)], about={"number": k}) for k in range(n)]


def seconds_of_permutations(db: Path, n: int, seed: int, workers: Workers) -> float:
    began = time.perf_counter()
    executor = workers if isinstance(workers, Executor) else None
    count = None if executor else CORES
    seed += 1000 if executor else 0  # what is kept is not made again
    analysis.permute(db, permutations=n, engine="lme4", seed=seed, workers=count, executor=executor)
    return time.perf_counter() - began
