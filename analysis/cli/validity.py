"""`analyze validity`: do several measures of the same models agree?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from slant.analysis.cli.options import result_options
from slant.analysis.cli.output import figure_option, print_result
from slant.collector.commands.options import BETWEEN_0_AND_1
from slant.collector.terminal import say

if TYPE_CHECKING:
    from slant.analysis.calls.executors import Workers

EXAMPLES = """\b
Examples:
  analyze validity --measures rmiat.d,word_association.d
  analyze validity --measures rmiat.d,word_association.d,decision.bias --figure validity.svg
  analyze validity --measures decision@chained.bias,word_association.t_test --format csv > agreement.csv
"""


@click.command("validity", epilog=EXAMPLES)
@click.option(
    "--measures",
    required=True,
    metavar="STUDY.FIT,…",
    help="Two or more, of studies in this database: STUDY.FIT, STUDY.FIT:TERM, STUDY@VARIANT.FIT; STUDY.d is Cohen's "
    "d, or the mean of D.",
)
@click.option("--alpha", type=BETWEEN_0_AND_1, default=0.05, show_default=True, help="1 less the level of intervals.")
@figure_option("the units of the first pair")
@result_options(refit=True)
def validity_command(
    measures: str,
    source: str | None,
    alpha: float,
    figure: Path | None,
    workers: Workers,
    refit: bool,
    db: Path,
    output_format: str,
) -> None:
    """Do several measures of the same models agree? Correlations over models and tests.

    Pearson's and Spearman's correlation, and those of the true values, which take the standard errors of both measures
    into account (errors make the plain one too small): over all units, between models, between tests, within cells.
    Intervals know that units of one model or test depend on each other, and take five models; p is of permutations of
    models and tests. Estimates also without each model in turn (in CSV and JSON).
    """
    import polars as pl

    from slant.analysis.cli.progress import FitProgress
    from slant.analysis.plots.drawing import draw_into
    from slant.analysis.questions.convergent_validity import validity

    named = [measure.strip() for measure in measures.split(",") if measure.strip()]
    with FitProgress() as progress:
        result = validity(db, named, source, alpha, workers, refit, progress)
    for warning in result.warnings:
        say(warning)
    whole = result.table.filter(pl.col("left_out").is_null()).drop("left_out", "status", "messages")
    print_result(whole if output_format == "table" else result.table, output_format)
    if figure is not None:
        first = result.units.filter(measure_x=named[0], measure_y=next(name for name in named if name != named[0]))
        say(draw_into(figure, "plot_validity", first, workers or 1))
