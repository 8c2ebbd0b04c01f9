"""S3 to S9 of the models whose data lie in ../shared, against a plain R script; and how that grows with the models."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.measures import ROOT, Measure, measured
from slant.analysis.bridge.r_home import r_installation
from slant.collector.keep.database import writing

DATA = ROOT.parent / "shared" / "data" / "rmiat"
FOLDERS = {
    "o3-mini": "o3-mini",
    "deepseek-r1": "DeepSeek-R1",
    "claude-3.7-sonnet": "Claude3.7",
    "gpt-oss-20b": "GPT-OSS-20B",
}
TIMES = 10


def compare(rounds: int) -> list[Measure]:
    """Both take turns, each as a process of its own; every comparison starts from a database without fits."""
    ours, plain = [], []
    with tempfile.TemporaryDirectory() as folder:
        db = imported(Path(folder) / "trials.duckdb")
        for _ in range(rounds):
            plain.append(seconds_of_plain_r())
            ours.append(seconds_of_comparison(db))
    return [Measure("S3 to S9, from the database to the table", median(ours), "s", median(plain), 0.8, "ratio")]


def growth(rounds: int) -> list[Measure]:
    """Ten times the models, against once the models: both with all cores, processes' start included."""
    once, tenfold = [], []
    with tempfile.TemporaryDirectory() as folder:
        db = imported(Path(folder) / "trials.duckdb")
        large = multiplied(db, Path(folder) / "large.duckdb")
        for _ in range(rounds):
            once.append(seconds_of_comparison(db))
            tenfold.append(seconds_of_comparison(large))
    return [Measure(f"the same with {TIMES} times the models", median(tenfold), "s", median(once), TIMES, "ratio")]


def imported(db: Path) -> Path:
    """The authors' data, as `collect import` brings them in."""
    for model, folder in FOLDERS.items():
        words = ["import", "--study", "rmiat", "--layout", "lee-lai", "--model", model, "--db", db, DATA / folder]
        command = [sys.executable, "-m", "slant.collector", *map(str, words)]
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return db


def multiplied(db: Path, large: Path) -> Path:
    """A database with every model ten times, under ten names."""
    shutil.copy(db, large)
    with writing(large) as connection:
        connection.execute("CREATE TEMP TABLE once AS SELECT * FROM attempts")
        for number in range(1, TIMES):
            named = ", ".join(f"{name} || '-{number}' AS {name}" for name in ("attempt_id", "trial_id", "model"))
            connection.execute(f"INSERT INTO attempts SELECT * REPLACE ({named}) FROM once")  # noqa: S608
        connection.execute("DROP TABLE once")
    return large


def seconds_of_comparison(db: Path) -> float:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(db, folder))
        began = time.perf_counter()
        found = measured("comparing", copy)
        seconds = time.perf_counter() - began
    if not found["fits"]:
        raise RuntimeError("nothing was fitted: the database was not as it was imported")
    return seconds


def seconds_of_plain_r() -> float:
    home = r_installation()
    if home is None:
        raise RuntimeError("the baseline needs R")
    began = time.perf_counter()
    command: Sequence[str] = [str(home.rscript), str(ROOT / "bench" / "plain.R"), str(DATA)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - began
    if len(done.stdout.splitlines()) != 39:
        raise RuntimeError(f"plain R made {len(done.stdout.splitlines())} fits, not 39")
    return seconds
