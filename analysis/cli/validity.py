"""Check whether several measures of the same models agree (`analyze validity`)."""

from __future__ import annotations

from pathlib import Path

import click

from slant.analysis.cli.options import option
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.collector.commands.options import BETWEEN_0_AND_1, FILE

EXAMPLES = """\b
Examples:
  analyze validity --measures rmiat.d,word_association.d
  analyze validity --measures rmiat.d,word_association.d,decision.bias --figure validity.svg
  analyze validity --measures rmiat.d --with benchmark.csv
  analyze validity --measures decision@chained.bias,word_association.t_test --format csv > agreement.csv
"""
_OPTIONS = (
    click.option(
        "--measures",
        required=True,
        metavar="STUDY.FIT,…",
        help="Two or more (one for --with), of studies here: STUDY.FIT, STUDY.FIT:TERM, STUDY@VARIANT.FIT; STUDY.d is "
        "Cohen's d, or the mean of D.",
    ),
    click.option(
        "--with",
        "scores",
        type=FILE,
        metavar="FILE",
        help="Compare each measure's mean over tests with other scores of the models: columns model, score, std_error.",
    ),
    option("--alpha", of=BETWEEN_0_AND_1, default=0.05, help="Significance level: 1 minus the level of intervals."),
)


@result_command(
    "validity",
    epilog=EXAMPLES,
    study=None,
    options=_OPTIONS,
    figure="the units of the first pair",
    refit=True,
)
def validity_command(asked: Asked, measures: str, scores: Path | None, alpha: float) -> Answer:
    """Correlate measures over models and tests: do several measures of the same models agree?

    These are Pearson's and Spearman's correlation, and that of the true values, which takes the standard errors of both
    measures into account (errors make the plain one too small): over all units, between models, between tests, within
    cells. With scores of a file it is one unit a model, and `slope` the regression of the true measure on the true
    score. Intervals know that units of one model or test depend on each other, and need five models; p is from
    permutations of models and tests. CSV and JSON also have estimates without each model in turn.
    """
    import polars as pl

    from slant.analysis.questions.convergent_validity import validity

    named = [measure.strip() for measure in measures.split(",") if measure.strip()]
    result = asked.compute(validity, measures=named, alpha=alpha, scores=scores)
    first = result.units.select("measure_x", "measure_y").row(0, named=True)
    return Answer(
        result.table,
        result.table.filter(pl.col("left_out").is_null()).drop("left_out", "status", "messages"),
        figure=("plot_validity", result.units.filter(**first)),
        warns_first=True,
    )
