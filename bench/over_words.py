"""Effects over words and wordings: how long they take for the models in ../shared, and how often intervals hold."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from bench.fitting import imported
from bench.measures import ROOT, Measure
from slant.analysis import fit, plan_power
from slant.analysis.bridge.r_home import r_installation

_COVERAGE = """
for (file in list.files("R", full.names = TRUE)) source(file)
variances <- list(wording = 100, word = 400, residual = 900, wording_intercept = 64, word_intercept = 100)
found <- crossed_coverage(as.integer(commandArgs(TRUE)[[1]]), 40, 20, effect = 10, variances = variances, seed = 1)
cat(unlist(t(found[c("coverage", "monte_carlo_error")])), "\\n")
"""


def words(n_data_sets: int) -> list[Measure]:
    """Fits of all models and tests and the plan from them; coverage in `n_data_sets` simulated studies."""
    with tempfile.TemporaryDirectory() as folder:
        db = imported(Path(folder) / "trials.duckdb")
        began = time.perf_counter()
        fits = fit(db, "rmiat", "crossed")
        plan_power("rmiat", db)
        seconds = time.perf_counter() - began
    if fits.diagnostics.height != 39:
        raise RuntimeError(f"there were {fits.diagnostics.height} fits, not 39")
    (ours, ours_error), (paper, _) = _coverage(n_data_sets)
    found = f"coverage of 95 % intervals over words and wordings, {n_data_sets} data sets (Monte Carlo error "
    return [
        Measure(
            "effects over words and wordings, and a plan, four models × ten tests", seconds, "s", None, 60, "value"
        ),
        Measure(f"{found}{100 * ours_error:.1f}), at least", 100 * ours, "%", 100 * paper, 93, "value", is_least=True),
        Measure(f"{found}{100 * ours_error:.1f}), at most", 100 * ours, "%", 100 * paper, 97, "value"),
    ]


def _coverage(n: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """Share and Monte Carlo error of the crossed model, then of the paper's."""
    home = r_installation()
    if home is None:
        raise RuntimeError("the simulation needs R")
    command = [str(home.rscript), "-e", _COVERAGE, str(n)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    a, b, c, d = map(float, done.stdout.split())
    return (a, b), (c, d)
