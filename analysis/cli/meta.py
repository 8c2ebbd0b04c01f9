"""Pool the tests and models of a study into one number (`analyze meta`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from slant.analysis.cli.options import measure_option, option
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.collector.commands.options import BETWEEN_0_AND_1

if TYPE_CHECKING:
    from slant.analysis.questions.meta import Effects, Unit

EXAMPLES = """\b
Examples:
  analyze meta --study rmiat
  analyze meta --study rmiat --figure forest.svg
  analyze meta --study rmiat --unit log_ratio
  analyze meta --study rmiat --effects paper --format csv > pooled.csv
"""
_OPTIONS = (
    measure_option,
    option(
        "--effects",
        of=("crossed", "paper"),
        default="crossed",
        help="Effects of the fit over words and wordings, or of the study's own mixed model.",
    ),
    option(
        "--unit",
        of=("sd", "outcome", "log_ratio"),
        default="sd",
        help="Unit of effects: standard deviations within conditions, the outcome's own unit, or the logarithm "
        "of the ratio of means (for different tokenizers).",
    ),
    option("--alpha", of=BETWEEN_0_AND_1, default=0.05, help="Significance level: 1 minus the level of intervals."),
)


@result_command("meta", epilog=EXAMPLES, options=_OPTIONS, figure="a forest plot", refit=True)
def meta_command(asked: Asked, measure: str | None, effects: Effects, unit: Unit, alpha: float) -> Answer:
    """Pool tests and models into one number: a random-effects meta-analysis of a study's effects, by R's metafor.

    The mean effect with its interval; tau, the standard deviation of true effects between tests, between models and
    between cells beyond these; and prediction intervals for a new test, a new model, and a new test of a new model. CSV
    and JSON also have the effect of each test and model, and whether missing answers leave it its sign, whatever they
    would have been (otherwise the figure crosses it out). For forced choices: the differences between conditions in the
    share of consistent answers (--unit outcome).
    """
    import polars as pl

    from slant.analysis.questions.checks.trials import SIGN_KEPT
    from slant.analysis.questions.meta import meta_analysis

    rows = asked.compute(meta_analysis, measure=measure, effects=effects, unit=unit, alpha=alpha).table
    pooled = rows.filter(pl.col("row") != "cell").drop("model", "test", SIGN_KEPT, "status", "messages")
    return Answer(rows, pooled, figure=("plot_forest", rows), warns_first=True)
