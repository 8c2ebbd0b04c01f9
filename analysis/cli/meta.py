"""`analyze meta`: one number over the tests and models of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from slant.analysis.cli.options import ONE_STUDY, measure_option, result_options
from slant.analysis.cli.output import figure_option, print_result
from slant.collector.commands.options import BETWEEN_0_AND_1, study_option
from slant.collector.terminal import say

if TYPE_CHECKING:
    from slant.analysis.calls.executors import Workers
    from slant.analysis.questions.meta import Effects, Unit

EXAMPLES = """\b
Examples:
  analyze meta --study rmiat
  analyze meta --study rmiat --figure forest.svg
  analyze meta --study rmiat --unit log_ratio
  analyze meta --study rmiat --effects paper --format csv > pooled.csv
"""


@click.command("meta", epilog=EXAMPLES)
@study_option(ONE_STUDY)
@measure_option
@click.option(
    "--effects",
    type=click.Choice(["crossed", "paper"]),
    default="crossed",
    show_default=True,
    help="Of the fit over words and wordings, or of the study's own mixed model.",
)
@click.option(
    "--unit",
    type=click.Choice(["sd", "outcome", "log_ratio"]),
    default="sd",
    show_default=True,
    help="Standard deviations within conditions, as the outcome was counted, or the logarithm of the ratio of means "
    "(tokens of other tokenizers).",
)
@click.option("--alpha", type=BETWEEN_0_AND_1, default=0.05, show_default=True, help="1 less the level of intervals.")
@figure_option("a forest plot")
@result_options(refit=True)
def meta_command(
    study: str | None,
    source: str | None,
    measure: str | None,
    effects: Effects,
    unit: Unit,
    alpha: float,
    figure: Path | None,
    workers: Workers,
    refit: bool,
    db: Path,
    output_format: str,
) -> None:
    """One number over tests and models: a random-effects meta-analysis of a study's effects, by R's metafor.

    The mean effect with its interval; tau, the standard deviation of true effects between tests, between models and
    between cells beyond these; and prediction intervals for a new test, a new model, and a new test of a new model. CSV
    and JSON also have the effect of each test and model, and whether missing answers leave it its sign, whatever they
    would have been (else the figure crosses it out). Of forced choices: the differences between blocks in the share
    of consistent answers (--unit outcome).
    """
    import polars as pl

    from slant.analysis.cli.progress import FitProgress
    from slant.analysis.plots.drawing import draw_into
    from slant.analysis.questions.checks.trials import SIGN_KEPT
    from slant.analysis.questions.meta import meta_analysis

    with FitProgress() as progress:
        result = meta_analysis(db, study, effects, unit, source, measure, alpha, workers, refit, progress)
    for warning in result.warnings:
        say(warning)
    pooled = result.table.filter(pl.col("row") != "cell").drop("model", "test", SIGN_KEPT, "status", "messages")
    print_result(pooled if output_format == "table" else result.table, output_format)
    if figure is not None:
        say(draw_into(figure, "plot_forest", result.table, workers or 1))
