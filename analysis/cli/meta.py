"""`analyze meta`: one number over the tests and models of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from slant.analysis.cli.options import ONE_STUDY, measure_option, refit_option, workers_options
from slant.collector.commands.options import (
    BETWEEN_0_AND_1,
    FILE,
    db_option,
    output_options,
    source_option,
    study_option,
)
from slant.collector.terminal import print_rows, say

if TYPE_CHECKING:
    from slant.analysis.calls.executors import Workers
    from slant.analysis.questions.meta import Effects, Unit

EXAMPLES = """\b
Examples:
  analyze meta --study rmiat
  analyze meta --study rmiat --figure forest.svg
  analyze meta --study rmiat --effects paper --format csv > pooled.csv
"""


@click.command("meta", epilog=EXAMPLES)
@study_option(ONE_STUDY)
@source_option()
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
    type=click.Choice(["sd", "outcome"]),
    default="sd",
    show_default=True,
    help="Standard deviations within conditions, or as the outcome was counted.",
)
@click.option("--alpha", type=BETWEEN_0_AND_1, default=0.05, show_default=True, help="1 less the level of intervals.")
@click.option("--figure", type=FILE, metavar="FILE", help="Also draw a forest plot: FILE.svg or FILE.png.")
@workers_options
@refit_option
@db_option
@output_options
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
    and JSON also have the effect of each test and model.
    """
    import polars as pl

    from slant.analysis.cli.progress import FitProgress
    from slant.analysis.plots.drawing import check_figure_name, draw_into
    from slant.analysis.questions.meta import meta_analysis
    from slant.analysis.rows.cells import GRAIN
    from slant.collector.errors import UsageError

    if figure is not None:
        check_figure_name(figure)
    with FitProgress() as progress:
        result = meta_analysis(db, study, effects, unit, source, measure, alpha, workers, refit, progress)
    for warning in result.warnings:
        say(warning)
    if output_format != "table":
        print_rows(result.table, output_format)
    else:
        pooled = result.table.filter(pl.col("row") != "cell").drop("model", "test", "status", "messages")
        print_rows(pooled.with_columns(pl.col(pl.Float64).round_sig_figs(3)), output_format)
    if figure is not None:
        if result.table.select(GRAIN).n_unique() > 1:
            raise UsageError(
                "A forest plot is of one source, study version and variant, and there are several here.",
                "To take one source: --source imported",
            )
        say(draw_into(figure, "plot_forest", result.table, workers or 1))
