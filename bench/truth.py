"""The gate: each claim about errors and intervals that help, pages and report make, simulated where the truth is known.

`python -m bench --only truth` takes the claims one after another (bench/truth.R has them; each names its designs), and
prints one row a claim and design: the share that was found, its Monte Carlo error, and what is claimed. A row fails
only where it is more than two such errors off. What has no row here is claimed nowhere.
"""

from __future__ import annotations

import math
import subprocess
from concurrent.futures import ThreadPoolExecutor

from bench.measures import ROOT, Measure, by_r
from bench.readme_study import readme_study
from slant.analysis.bridge.r_home import r_installation

AT_ONCE = 2
OF_LONG_CLAIMS = 100
"""Data sets of a claim that takes many minutes."""


def truth(n_data_sets: int, *, long: bool = False) -> list[Measure]:
    """Check each claim over N data sets of each design; claims take turns on two cores. `long`: also those that take
    many minutes, over a hundred data sets.
    """
    asked = [(name, n_data_sets) for name in claim_names()]
    asked += [(name, OF_LONG_CLAIMS) for name in claim_names("--long")] if long else []
    with ThreadPoolExecutor(AT_ONCE) as executor:
        of_claims = executor.map(lambda claim: by_r("truth.R", *claim), asked)
        found = [measure for rows in of_claims for row in rows for measure in _measures(row)]
    return found + [measure for row in readme_study(min(1000, 5 * n_data_sets // 2)) for measure in _measures(row)]


def claim_names(*words: str) -> list[str]:
    """The claims of bench/truth.R, in its order; with `--long` those that take many minutes."""
    home = r_installation()
    if home is None:
        raise SystemExit("This bench needs R.")
    done = subprocess.run(
        [str(home.rscript), "--no-init-file", "bench/truth.R", *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return done.stdout.split()


def _measures(row: dict[str, float | str | None]) -> list[Measure]:
    """The row as a measure with its goal; two where the share must be neither too small nor too large."""
    value, n = row["value"], int(row["n"] or 0)
    if not isinstance(value, float | int) or n == 0:
        return []  # no data set met the condition that the claim is about
    least, most = float(row["least"] or 0), float(row["most"] or 0)
    error = math.sqrt(_away_from_ends(value, n) / n)
    name = f"{row['claim']}: {row['design']} (n = {n})"
    goals = [(least, True)] if least > 0 else []
    goals += [(most, False)] if most < 1 else []
    return [
        Measure(name, 100 * value, "%", None, 100 * goal, "value", is_least=is_least, error=100 * error)
        for goal, is_least in goals or [(0.0, True)]
    ]


def _away_from_ends(share: float, n: int) -> float:
    """p (1 - p) of the share with half a data set more on either side, so that 400 of 400 have an error, too."""
    p = (share * n + 0.5) / (n + 1)
    return p * (1 - p)
