"""`analyze retest`: is it the same tomorrow? Later occasions next to the first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from slant.analysis.cli.options import ONE_STUDY, result_options
from slant.analysis.cli.output import figure_option, print_result, say_result
from slant.collector.commands.options import study_option
from slant.collector.example_models import EXAMPLE_MODEL
from slant.collector.terminal import say

if TYPE_CHECKING:
    from slant.analysis.calls.executors import Workers

EXAMPLES = f"""\b
Examples:
  collect --study rmiat --model {EXAMPLE_MODEL} --again 200
  analyze retest --study rmiat
  analyze retest --study rmiat --by test --format csv > retest.csv
  analyze retest --study rmiat --figure retest.svg
"""
_SHOWN = (
    "source", "study_version", "variant", "model", "occasion", "test", "measure", "n_answers", "share_equal", "kappa",
    "n", "icc", "icc_low", "icc_high", "icc_residual", "shift", "shift_low", "shift_high", "p_value",
)  # fmt: skip


@click.command("retest", epilog=EXAMPLES)
@study_option(ONE_STUDY)
@click.option(
    "--by",
    type=click.Choice(["model", "test"]),
    default="model",
    show_default=True,
    help="All tests of a model together, or each test.",
)
@figure_option("all tests together")
@result_options(refit=True)
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
    """Is it the same tomorrow? The trials that were asked again (`collect --again`), next to their first answers.

    For each later occasion the share of equal answers and Cohen's kappa, the intraclass correlation of the measure (of
    all trials, and of what those of one test and condition differ by: icc_residual), and its shift with a paired t
    test. When each occasion was, and which model answered, is in the table retest_occasions.
    """
    import polars as pl

    from slant.analysis.cli.progress import FitProgress
    from slant.analysis.plots.drawing import draw_into
    from slant.analysis.questions.retests import retest
    from slant.analysis.rows.cells import GRAIN

    with FitProgress() as progress:
        result = retest(db, study, source, workers, refit, progress)
    together = result.table.filter(pl.col("test").is_null())
    rows = together if by == "model" else result.table.filter(pl.col("test").is_not_null())
    same = [name for name in (*GRAIN, "measure", "test") if rows[name].n_unique() == 1]
    print_result(rows, output_format, [name for name in _SHOWN if name not in same])
    say_result(result)
    if figure is not None:
        say(draw_into(figure, "plot_retest", together, workers or 1))
