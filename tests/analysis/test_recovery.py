"""What is put into simulated participants comes out of the analysis again: through the plan, the provider on loopback,
the journal, DuckDB, R and Stan, with its sign, its size, and intervals that hold it as often as they claim.

Coverage is counted over truths that are drawn from the prior: for these a right analysis has 95 % by construction, and
a wrong prior, coding, centring or contrast shows. For fixed truths no prior promises that (R: recover_contrasts()).
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from slant import analysis
from slant.analysis.bridge.worker import run_jobs
from slant.analysis.fitting.fits import FitResult
from tests.support.recovery import SHORT, asked, known, r_job, trials

pytestmark = [pytest.mark.slow, pytest.mark.needs("R")]
LARGE, CROSSED = ("claude-sonnet-4", "gender_career"), ("gpt-5", "gender_science")
CELLS = {LARGE: (0.95, 0.45), CROSSED: (0.5, 0.95)}
TRUTHS = {cell: congruent - incongruent for cell, (congruent, incongruent) in CELLS.items()}
DATA_SETS = 100
SURE = 0.999  # of no false alarm, over all six cells together


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> FitResult:
    db = asked(tmp_path_factory.mktemp("recovery") / "one", known(CELLS), seed=1)
    settings = {"chains": 1, "iterations": 400, "warmup": 200}
    return analysis.fit(db, "interference", "interference", settings=settings)


def delta_p(found: FitResult, cell: tuple[str, str]) -> dict[str, float]:
    rows = found.bayes["contrasts"].filter(
        pl.col("model") == cell[0], pl.col("test") == cell[1], kind="population", scale="delta_p"
    )
    row: dict[str, float] = rows.row(0, named=True)
    return row


@pytest.mark.parametrize("cell", [LARGE, CROSSED])
def test_a_difference_is_found_with_its_sign_and_its_size(found: FitResult, cell: tuple[str, str]) -> None:
    row, truth = delta_p(found, cell), TRUTHS[cell]
    nearer, farther = sorted((row["conf_low"], row["conf_high"]), key=abs)
    assert nearer * truth > 0
    assert abs(nearer) > 0.1
    assert abs(row["estimate"] - truth) < 0.2
    assert abs(farther) > abs(truth) - 0.1
    assert row["p_positive"] == (1 if truth > 0 else 0)


def test_no_difference_is_found_where_there_is_none(found: FitResult) -> None:
    contrasts = found.bayes["contrasts"].filter(kind="population", scale="delta_p")
    rows = [row for row in contrasts.to_dicts() if (row["model"], row["test"]) not in TRUTHS]
    assert len(rows) == 4
    assert max(abs(row["estimate"]) for row in rows) < 0.1
    assert max(row["conf_low"] for row in rows) < 0.05
    assert min(row["conf_high"] for row in rows) > -0.05


def test_intervals_hold_truths_of_the_prior_as_often_as_they_claim(tmp_path: Path) -> None:
    recovered = recover(tmp_path, DATA_SETS)
    band = 1 - (1 - SURE) / 6
    ((_, counts),) = run_jobs(r_job, [("interval_coverage", (recovered, ["model", "test"], 0.95, band))], 1)
    assert recovered["is_converged"].mean() > 0.9
    assert counts["n"].to_list() == [DATA_SETS] * 6
    assert counts["is_in_band"].all(), counts
    error = recovered["estimate"] - recovered["truth"]
    assert abs(float(error.mean() or 0)) < 0.01


def recover(folder: Path, n: int) -> pl.DataFrame:
    """Each data set drawn, asked, and fitted to short chains; the fits go to the cores. Seeds are numbers of their own:
    the same one in two places would tie parameters to answers.
    """
    drawn = dict(run_jobs(r_job, [("known_parameters", ("prior", number)) for number in range(n)], 2))
    rows = [trials(asked(folder / str(number), drawn[number], seed=10_000 + number)) for number in range(n)]
    jobs = [("recovered_effects", (rows[number], {**SHORT, "seed": 20_000 + number})) for number in range(n)]
    effects = dict(run_jobs(r_job, jobs))
    parts = [("with_truth", (effects[number], drawn[number], number)) for number in range(n)]
    fitted = dict(run_jobs(r_job, parts, 1))
    return pl.concat([fitted[number] for number in range(n)])
