"""What is found where there is nothing: permutations of the models in ../shared, p of games that vary unequally."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from bench.fitting import imported
from bench.measures import ROOT, Measure
from slant.analysis import permute
from slant.analysis.bridge.r_home import r_installation

_UNEQUAL = """
for (file in list.files("R", full.names = TRUE)) source(file)
cat(unlist(unequal_games_p(as.integer(commandArgs(TRUE)[[1]]), c(10, 30), seed = 1)), "\\n")
"""


def nothing(permutations: int, n_data_sets: int) -> list[Measure]:
    """1,000 permutations of each model and test; p < .05 in pairs of 10 and 30 games with the same mean SI."""
    with tempfile.TemporaryDirectory() as folder:
        db = imported(Path(folder) / "trials.duckdb")
        began = time.perf_counter()
        tests = permute(db, "rmiat", permutations, workers=2).tests
        seconds = time.perf_counter() - began
    if tests.height != 39:
        raise RuntimeError(f"there were {tests.height} tests, not 39")
    rate = 100 * sum(tests["false_positives"]) / tests.height
    share, error, plain, _ = _unequal_games(n_data_sets)
    games = f"p < .05 of 10 varied and 30 alike games, {n_data_sets} pairs (Monte Carlo error {100 * error:.1f})"
    return [
        Measure(f"{permutations} permutations of four models × ten tests", seconds, "s", None, 60, "value"),
        Measure(
            "false positives of Welch's test in them, mean", rate, "%", None, 7,
            "value",
        ),
        Measure(f"{games}, beside the unstudentised test", 100 * share, "%", 100 * plain, 7, "value"),
    ]  # fmt: skip


def _unequal_games(n: int) -> tuple[float, float, float, float]:
    """Shares of small p and Monte Carlo errors, studentised, then unstudentised."""
    home = r_installation()
    if home is None:
        raise RuntimeError("the simulation needs R")
    command = [str(home.rscript), "-e", _UNEQUAL, str(n)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    a, b, c, d = map(float, done.stdout.split())
    return a, b, c, d
