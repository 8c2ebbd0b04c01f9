"""Our Bayesian fits next to plain brms: the same draws, bit by bit, though our priors are data of the model."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from slant.analysis.bridge.r_home import r_installation


@pytest.mark.slow
def test_draws_and_all_that_is_made_of_them_are_those_of_brms_itself(root: Path) -> None:
    r = r_installation()
    lacking = "for (p in c('brms', 'rstan')) stopifnot(requireNamespace(p, quietly = TRUE))"
    if r is None or subprocess.run([str(r.rscript), "-e", lacking], capture_output=True).returncode != 0:
        pytest.skip("R's package brms is not on this machine")
    script = [str(r.rscript), "--vanilla", str(root / "tests" / "support" / "golden_brms.R"), str(root / "R")]
    done = subprocess.run(script, capture_output=True, text=True, timeout=2400, check=False)
    answers = dict(line.split() for line in done.stdout.splitlines() if line.endswith((" TRUE", " FALSE")))
    assert len(answers) == 22, done.stderr
    assert {name for name, answer in answers.items() if answer != "TRUE"} == set()
