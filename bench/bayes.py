"""The interference study: compiling once, a fit from Python next to R alone, permutations, memory, short chains,
data sets of a calibration.

Everything runs on one simulated database of the paper's size (960 trials), with two workers.
"""

from __future__ import annotations

import csv
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from bench.measures import ROOT, Measure, by_r, in_process, simulated, watched
from slant import analysis
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.studies.catalogue import load_study

PERMUTATIONS = 100
CALIBRATED = 200
LONG = {"chains": 4, "iterations": 2000, "warmup": 500}


def bayes(rounds: int, permutations: int, compared: int, *, compiles: bool) -> list[Measure]:
    """About 14 minutes on two idle cores with 100 permutations, 3 rounds and 6 compared; quick: 4."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        db = simulated(folder / "trials.duckdb", "interference")
        once = compiling(folder / "cache") if compiles else []
        compile_here = r_alone("compile", "")
        assert compile_here["compile_s"] >= 0  # from here on the model is there, in the user's own cache
        calibrated = calibrating(db, max(2, permutations // 5))
        return [*once, *permuting(db, permutations), calibrated, *fitting(db, folder, rounds), agreement(db, compared)]


def compiling(cache: Path) -> list[Measure]:
    """With a cache of its own: what the first process and a second one need."""
    first, second = (r_alone("compile", "", cache)["compile_s"] for _ in range(2))
    return [
        Measure("compiling the Stan model, once", first, "s", None, 120, "value"),
        Measure("compiling it again", second, "s", None, 0, "value"),
    ]


def permuting(db: Path, permutations: int) -> list[Measure]:
    """The refits of as many permutations as asked, put at 100; without the start of R and the loading of the model,
    which a pair of refits has paid already.
    """
    found, peak_mb = watched(in_process("permuting", db, permutations))
    seconds = found["seconds"] / permutations * PERMUTATIONS
    return [
        Measure(f"100 permutations, stage B, two cores (of {permutations})", seconds, "s", None, 360, "value"),
        Measure("memory while permuting", peak_mb, "MB", None, 1500, "value"),
    ]


def calibrating(db: Path, data_sets: int) -> Measure:
    """As many data sets of stage B as asked, put at 200; the model is compiled, and R's packages are read once."""
    began = time.perf_counter()
    analysis.calibrate(db, "interference", "interference", data_sets=data_sets, workers=2)
    seconds = (time.perf_counter() - began) / data_sets * CALIBRATED
    name = f"calibrating stage B by {CALIBRATED} data sets, two cores (of {data_sets})"
    return Measure(name, seconds, "s", None, 1800, "value")


def fitting(db: Path, folder: Path, rounds: int) -> list[Measure]:
    """The paper's own fit, 4 chains of 4000, by both in turn, each a process of its own, from its start to its end; its
    memory in a run by itself, because looking at it takes time from what is looked at.
    """
    rows = exported(db, folder / "rows.csv")
    command = in_process("main_fit", db)
    ours, plain = [], []
    for _ in range(rounds):
        began = time.perf_counter()
        r_alone("fit", str(rows))
        plain.append(time.perf_counter() - began)
        began = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, cwd=ROOT)
        ours.append(time.perf_counter() - began)
    _, peak_mb = watched(command)
    return [
        Measure("the main fit, from the database", median(ours), "s", median(plain), 1.05, "ratio"),
        Measure("memory while fitting", peak_mb, "MB", None, 1500, "value"),
    ]


def agreement(db: Path, compared: int) -> Measure:
    """By how many Monte Carlo standard errors ΔP differs between short and long chains, root mean square over cells:
    1 where there is nothing but Monte Carlo error.
    """
    short, long = (refitted(db, compared, settings) for settings in ({}, LONG))
    squares = [
        (one["delta_p"] - other["delta_p"]) ** 2 / (one["delta_p_mcse"] ** 2 + other["delta_p_mcse"] ** 2)
        for one, other in zip(short, long, strict=True)
    ]
    name = f"short chains against long, {len(squares)} cells"
    return Measure(name, (sum(squares) / len(squares)) ** 0.5, "MCSE", None, 1.5, "value")


def refitted(db: Path, permutations: int, settings: dict[str, Any]) -> list[dict[str, Any]]:
    found = analysis.permute(db, permutations=permutations, workers=2, settings=settings)
    return found.values.to_dicts()


def exported(db: Path, file: Path) -> Path:
    """The rows of the fit as R reads them, and what the study says of it, for an R without Python."""
    with reading(db) as connection:
        view = connection.view("forced_choice_trials").filter("is_valid").order("test, condition, item, model")
        rows = view.select("is_consistent::INTEGER AS is_consistent, condition, model, test, item")
        frame_of(rows).write_csv(file)
    fit = load_study("interference").fits["interference"]
    priors = fit.settings["priors"]
    with file.with_suffix(".settings.csv").open("w", newline="") as settings:
        csv.writer(settings).writerows([["name", "value"], *priors.items()])
    return file


def r_alone(what: str, rows: str, cache: Path | None = None) -> Any:
    return by_r("bayes.R", what, rows, **({} if cache is None else {"R_USER_CACHE_DIR": str(cache)}))
