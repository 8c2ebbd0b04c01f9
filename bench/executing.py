"""Calls of R by our own processes and by a Dask cluster of as many: how much longer, what results cost the caller."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from statistics import median

from bench.measures import ROOT, Measure
from slant import analysis
from slant.analysis.calls.call import Call
from slant.analysis.calls.cluster import ClusterExecutor
from slant.analysis.calls.executors import Workers
from slant.analysis.calls.results import results
from slant.analysis.fitting.fit_plan import plan_fits
from slant.analysis.rows.study_choice import find_fits

CORES = 2
_CLUSTER = """\
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers={n}, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster:
        print(cluster.scheduler_address, flush=True)
        input()
"""


def executing(rounds: int, fits: int, permutations: int, short: int) -> list[Measure]:
    """Ours and Dask's take turns, R's start left out; the cluster is a process of its own, as elsewhere."""
    seconds: dict[str, list[float]] = {name: [] for name in ("fits", "fits by Dask", "permuted", "permuted by Dask")}
    with tempfile.TemporaryDirectory() as name, local_cluster(Path(name)) as executor:
        folder = Path(name)
        db = simulated(folder / "rmiat.duckdb", "rmiat")
        choices = simulated(folder / "interference.duckdb", "interference")
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


def simulated(db: Path, study: str) -> Path:
    words = ["--study", study, "--simulated", "--db", str(db), "--pilot", "600"]
    subprocess.run([sys.executable, "-m", "slant.collector", *words], check=True, capture_output=True, cwd=ROOT)
    return db


def seconds_of_fits(db: Path, fit: str, n: int, workers: Workers) -> tuple[float, float]:
    """Of so many fits of the cells of a study, each kept: by the clock, and of this process' processors."""
    calls = many_calls(db, fit, n)
    began, cpu = time.perf_counter(), time.process_time()
    made = results(db, calls, refit=True, workers=workers)
    spent = time.perf_counter() - began, time.process_time() - cpu
    made.check_none_failed()
    return spent


def many_calls(db: Path, fit: str, n: int) -> Sequence[Call]:
    """The study's own, again and again under other names, so that each is kept beside the others."""
    own = [work.call for study, definition in find_fits(fit, db, None) for work in plan_fits(db, study, definition)]
    return [replace(own[k % len(own)], about={"number": k}) for k in range(n)]


def seconds_of_permutations(db: Path, n: int, seed: int, workers: Workers) -> float:
    began = time.perf_counter()
    executor = workers if isinstance(workers, Executor) else None
    count = None if executor else CORES
    seed += 1000 if executor else 0  # what is kept is not made again
    analysis.permute(db, permutations=n, engine="lme4", seed=seed, workers=count, executor=executor)
    return time.perf_counter() - began
