"""Stopping on precision: how often intervals at the stop hold the effect, and which share of trials is saved."""

from __future__ import annotations

import subprocess
from pathlib import Path

from bench.measures import ROOT, Measure
from slant.analysis.bridge.r_home import r_installation

_MOST_REPETITIONS = 8


def stopping(n_data_sets: int) -> list[Measure]:
    """In `n_data_sets` simulated studies of 24 words in 12 wordings, beside the same studies asked to the end."""
    home = r_installation()
    if home is None:
        raise RuntimeError("the simulation needs R")
    command = [str(home.rscript), str(Path(__file__).with_name("stopping.R")), str(n_data_sets)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    coverage, error, whole, saved, repetitions_error = map(float, done.stdout.split())
    data_sets = f"{n_data_sets} data sets (Monte Carlo error "
    held = f"coverage of 95 % intervals where a study stopped on precision, {data_sets}{100 * error:.1f}), at"
    saving = f"trials saved by stopping on precision, {data_sets}{100 * repetitions_error / _MOST_REPETITIONS:.1f})"
    return [
        Measure(f"{held} least", 100 * coverage, "%", 100 * whole, 93, "value", is_least=True),
        Measure(f"{held} most", 100 * coverage, "%", 100 * whole, 97, "value"),
        Measure(saving, 100 * saved, "%", None, 25, "value", is_least=True),
    ]
