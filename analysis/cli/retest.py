"""`analyze retest`: is it the same tomorrow? Later occasions beside the first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from slant.analysis.cli.options import ONE_STUDY, refit_option, workers_options
from slant.collector.commands.options import FILE, db_option, output_options, source_option, study_option
from slant.collector.terminal import print_rows, say

if TYPE_CHECKING:
    from slant.analysis.calls.executors import Workers

EXAMPLES = """\b
Examples:
  collect --study rmiat --model openai/o3-mini --again 200
  analyze retest --study rmiat
  analyze retest --study rmiat --by test --format csv > retest.csv
  analyze retest --study rmiat --figure retest.svg
"""
_SHOWN = (
    "source", "study_version", "variant", "model", "occasion", "test", "measure", "n_answers", "share_equal", "kappa",
    "n", "icc", "icc_low", "icc_high", "shift", "shift_low", "shift_high", "p_value",
)  # fmt: skip


@click.command("retest", epilog=EXAMPLES)
@study_option(ONE_STUDY)
@source_option()
@click.option(
    "--by",
    type=click.Choice(["model", "test"]),
    default="model",
    show_default=True,
    help="All tests of a model together, or each test.",
)
@click.option("--figure", type=FILE, metavar="FILE", help="Also draw all tests together: FILE.svg or FILE.png.")
@workers_options
@refit_option
@db_option
@output_options
def retest_command(
    study: str | None,
    source: str | None,
    by: str,
    figure: Path | None,
    workers: Workers,
    refit: bool,
    db: Path,
    output_format: str,
) -> None:
    """Is it the same tomorrow? The trials that were asked again (`collect --again`), beside their first answers.

    For each later occasion the share of equal answers and Cohen's kappa, the intraclass correlation of the measure, and
    its shift with a paired t test. When each occasion was, and which model answered, is in the table retest_occasions.
    """
    import polars as pl

    from slant.analysis.cli.progress import FitProgress
    from slant.analysis.plots.drawing import check_figure_name, draw_into
    from slant.analysis.questions.occasions import retest
    from slant.analysis.rows.cells import GRAIN
    from slant.collector.errors import UsageError

    if figure is not None:
        check_figure_name(figure)
    with FitProgress() as progress:
        result = retest(db, study, source, workers, refit, progress)
    for warning in result.warnings:
        say(warning)
    together = result.table.filter(pl.col("test").is_null())
    rows = together if by == "model" else result.table.filter(pl.col("test").is_not_null())
    if output_format != "table":
        print_rows(rows, output_format)
    else:
        same = [name for name in (*GRAIN, "measure", "test") if rows[name].n_unique() == 1]
        shown = rows.select(_SHOWN).drop(same)
        print_rows(shown.with_columns(pl.col(pl.Float64).round_sig_figs(3)), output_format)
    if result.not_kept:
        say(f"Not kept in the database: {result.not_kept}")
    if figure is not None:
        if together.select(GRAIN).n_unique() > 1:
            raise UsageError(
                "The figure is of one source, study version and variant, and there are several here.",
                "To take one source: --source collected",
            )
        say(draw_into(figure, "plot_retest", together, workers or 1))
