"""Measure what is asked besides the fits: how long it takes for the models in ../shared, and what simulation says."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench.measures import Measure, by_r, imported, measured
from slant.analysis import tables

FITS = 39  # four models × ten tests, of which the authors' data lack one
_MOST_REPETITIONS = 8
_ANALYZE = (sys.executable, "-m", "slant.analysis")


def words(n_data_sets: int) -> list[Measure]:
    """Effects over words and wordings of all models and tests, and the plan from them; coverage in simulated studies of
    40 words and 20 wordings.
    """
    with tempfile.TemporaryDirectory() as folder:
        db = imported(Path(folder) / "trials.duckdb")
        fits = measured("processor", *_ANALYZE, "--fit", "crossed", "--study", "rmiat", "--db", db)
        plan = measured("processor", *_ANALYZE, "power", "--study", "rmiat", "--from", db)
        _check_number(tables(db, "rmiat", ["effects_over_words"])["effects_over_words"].height)
    ours, error, paper, _ = by_r("simulations.R", "coverage", n_data_sets)
    coverage = f"coverage of 95 % intervals over words and wordings, {n_data_sets} data sets (Monte Carlo error "
    both = "effects over words and wordings, and a plan, four models × ten tests"
    return [
        Measure(both, fits["wall_s"] + plan["wall_s"], "s", None, 60, "value"),
        Measure(f"{both}: processor", fits["processor_s"] + plan["processor_s"], "s", None, 60, "value"),
        Measure(f"{coverage}{100 * error:.1f}), at least", 100 * ours, "%", 100 * paper, 93, "value", is_least=True),
        Measure(f"{coverage}{100 * error:.1f}), at most", 100 * ours, "%", 100 * paper, 97, "value"),
    ]


def nothing(permutations: int, n_data_sets: int) -> list[Measure]:
    """Permutations of each model and test; p < .05 in pairs of 10 and 30 games with the same mean SI."""
    with tempfile.TemporaryDirectory() as folder:
        db = imported(Path(folder) / "trials.duckdb")
        words = ("permute", "--study", "rmiat", "--permutations", permutations, "--db", db)
        taken = measured("processor", *_ANALYZE, *words)
        tests = tables(db, "rmiat", ["permutation_tests"])["permutation_tests"]
    _check_number(tests.height)
    rate = 100 * sum(tests["false_positives"]) / tests.height
    share, error, plain, _ = by_r("simulations.R", "unequal", n_data_sets)
    games = f"p < .05 of 10 varied and 30 alike games, {n_data_sets} pairs (Monte Carlo error {100 * error:.1f})"
    return [
        Measure(f"{permutations} permutations of four models × ten tests", taken["wall_s"], "s", None, 60, "value"),
        Measure("the same, processor, all processes", taken["processor_s"], "s", None, 60, "value"),
        Measure("false positives of Welch's test in them, mean", rate, "%", None, 7, "value"),
        Measure(f"{games}, next to the unstudentised test", 100 * share, "%", 100 * plain, 7, "value"),
    ]


def stopping(n_data_sets: int) -> list[Measure]:
    """Stopping on precision: how often intervals at the stop hold the effect, and which share of trials is saved, in
    simulated studies of 24 words in 12 wordings, next to the same studies asked to the end.
    """
    coverage, error, whole, saved, repetitions_error = by_r("simulations.R", "stopping", n_data_sets)
    data_sets = f"{n_data_sets} data sets (Monte Carlo error "
    held = f"coverage of 95 % intervals where a study stopped on precision, {data_sets}{100 * error:.1f}), at"
    saving = f"trials saved by stopping on precision, {data_sets}{100 * repetitions_error / _MOST_REPETITIONS:.1f})"
    return [
        Measure(f"{held} least", 100 * coverage, "%", 100 * whole, 93, "value", is_least=True),
        Measure(f"{held} most", 100 * coverage, "%", 100 * whole, 97, "value"),
        Measure(saving, 100 * saved, "%", None, 25, "value", is_least=True),
    ]


def _check_number(fits: int) -> None:
    if fits != FITS:
        raise RuntimeError(f"there were {fits} of {FITS}")
