"""Fits next to plain R: S3 to S9 of the models whose data lie in ../shared, the bridge to R, topics."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from bench.measures import DATA, ROOT, Measure, by_r, imported, in_process, measured, printed
from slant.analysis.bridge.r_home import r_installation
from slant.collector.keep.database import writing
from slant.collector.studies.catalogue import load_study

TIMES = 10
LONGEST_S = 5.0


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
    command = [str(home.rscript), "--no-init-file", str(ROOT / "bench" / "plain.R"), str(DATA)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds = time.perf_counter() - began
    if len(done.stdout.splitlines()) != 39:
        raise RuntimeError(f"plain R made {len(done.stdout.splitlines())} fits, not 39")
    return seconds


def bridge(rows: int) -> list[Measure]:
    """Rows of six columns from Polars to R and back, against the way through pandas. pandas and pyarrow are no part of
    slant: install them for this measure alone (pip install pandas pyarrow), or name a folder that holds them in the
    variable SLANT_BENCH_PANDAS (pip install --target FOLDER pandas pyarrow). Without them there is no baseline.
    """
    direct = measured("exchange", "direct", rows)
    size = f"{rows:,} rows to R and back"
    try:
        places = filter(None, (os.environ.get(name) for name in ("SLANT_BENCH_PANDAS", "PYTHONPATH")))
        path = {"PYTHONPATH": os.pathsep.join(places)}
        pandas = printed(in_process("exchange", "pandas", rows), path, subprocess.DEVNULL)
    except subprocess.CalledProcessError:
        against = []
    else:
        against = [Measure(f"{size}, against pandas", direct["wall_s"], "s", pandas["wall_s"], 0.2, "ratio")]
    return [
        Measure(size, direct["wall_s"], "s", None, LONGEST_S, "value"),
        Measure("columns that changed on the way", float(not direct["exact"]), "frames", None, 0.0, "value"),
        *against,
    ]


def topics() -> list[Measure]:
    """Topics: preparing, fitting and searching next to tm's and stm's own, on the authors' texts. About four minutes on
    an idle machine, most of it the published way of preparing and fitting.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "some.rds"
        found = both_ways(file)
        one, two = (measured("search", file, cores)["wall_s"] for cores in (1, 2))
    some, published = (sum(found[f"some_{part}{way}_s"] for part in ("fit", "effects")) for way in ("", "_published"))
    return [
        Measure("preparing all texts for topics", found["prepare_s"], "s", found["prepare_published_s"], 0.20, "ratio"),
        Measure("topics and effects, all texts", found["fit_s"] + found["effects_s"], "s", None, 15, "value"),
        Measure("topics and effects, 3,000 texts", some, "s", published, 0.15, "ratio"),
        Measure("search of topics, two cores", two, "s", one, 1 / 1.7, "ratio"),
    ]


def both_ways(file: Path) -> dict[str, Any]:
    """What bench/topics.R prints; stops where both ways don't give the same."""
    if not DATA.is_dir():
        raise SystemExit(f"This bench needs the authors' raw data in {DATA}.")
    words = file.with_name("removed_words.txt")
    words.write_text("\n".join(load_study("rmiat").fits["stm"].settings["removed_words"]), "utf-8")
    ways: dict[str, Any] = by_r("topics.R", DATA, file, words)
    if not (ways["prepared_alike"] and ways["fitted_alike"]):
        raise SystemExit("slant's topics differ from stm's: their speed means nothing.")
    return ways
