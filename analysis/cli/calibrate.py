"""Check that the sampler of a Bayesian fit is right (`analyze calibrate`)."""

from __future__ import annotations

from typing import Any

import click

from slant.analysis.cli.options import option, short_chains_options
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.collector.commands.options import WholeNumber, seed_option

EXAMPLES = """\b
Examples:
  analyze calibrate --study interference --fit interference --data-sets 200
  analyze calibrate --study interference --data-sets 20 --workers 2        a first look at both stages
  analyze calibrate --fit interference --show ranks --format csv > ranks.csv
  analyze figures calibration --study interference
"""
# A terminal has room for these; CSV and JSON have all columns.
_SHOWN = (
    "fit", "quantity", "n", "n_failed", "n_doubtful", "p_value", "p_adjusted", "is_in_band", "coverage", "mean_z",
    "sd_z", "shrinkage",
)  # fmt: skip
_OPTIONS = (
    click.option("--fit", default="brms", metavar="NAME", help="A Bayesian fit of the study. Default: each of them."),
    option("--data-sets", of=WholeNumber(2), default=200, help="Number of data sets to draw and fit."),
    seed_option(default=1),
    short_chains_options,
    click.option("--max-rows", type=WholeNumber(10), help="Use at most this many rows. Default: 1000."),
    option(
        "--show",
        of=("summary", "ranks", "fits"),
        default="summary",
        help="The table to print: one row per quantity, per data set and quantity, or per data set with R's messages.",
    ),
)


@result_command("calibrate", epilog=EXAMPLES, options=_OPTIONS)
def calibrate_command(
    asked: Asked, fit: str, data_sets: int, seed: int, sampling: dict[str, Any], max_rows: int | None, show: str
) -> Answer:
    """Check the sampler by simulation-based calibration of a study's Bayesian fits.

    This draws parameters from the priors of the fit, and outcomes from them for the rows in the database; fits these,
    and ranks each truth among the draws of its posterior. If model, priors, coding and sampler are as they should be,
    ranks are uniform: p_value is small if they are not, p_adjusted corrects it for the number of quantities. For the 95
    % intervals, coverage should be near .95; z-scores have mean 0 and standard deviation 1; shrinkage says how much the
    data tell, from 0 to 1.

    Each data set is kept as soon as it is fitted: the same command goes on where it was stopped, and one with more data
    sets adds to them. Results do not depend on the number of workers, nor on interruptions.
    """
    from slant.analysis.questions.calibration import calibrate, calibration_sentences, can_calibrate

    settings = sampling if max_rows is None else {**sampling, "max_rows": max_rows}
    asked.choose(can_calibrate, "has a Bayesian fit to calibrate")
    result = asked.compute(
        calibrate, work="Calibrating in R", fit=fit, data_sets=data_sets, seed=seed, settings=settings
    )
    shown = _SHOWN if show == "summary" else None
    return Answer(getattr(result, show), shown, calibration_sentences(result.summary))
