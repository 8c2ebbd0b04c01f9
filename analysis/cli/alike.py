"""`analyze alike`: does a model answer as people do?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from slant.analysis.cli.options import option
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.collector.commands.options import ABOVE_0, BETWEEN_0_AND_1

if TYPE_CHECKING:
    import polars as pl

    from slant.analysis.questions.alike import Alike

EXAMPLES = """\b
Examples:
  collect import survey.csv --layout people --study habits --consent "informed, data may be shared" --origin "our panel"
  analyze alike --study habits
  analyze alike --study habits --show differences --bound 0.3
  analyze alike --study habits --show spread --figure spread.svg
  analyze alike --study habits --group age_group --show personas --format csv > personas.csv
"""
_SHOWN = (
    "source", "study_version", "variant", "model", "test", "n_model", "n_people", "difference", "conf_low", "conf_high",
    "p_equivalence", "variance_ratio", "order", "model_outside", "share_outside", "persona_correlation",
    "persona_slope", "verdict",
)  # fmt: skip
_OPTIONS = (
    option(
        "--show",
        of=("summary", "differences", "spread", "order", "range", "personas"),
        default="summary",
        help="The table to print.",
    ),
    click.option(
        "--group",
        metavar="ATTRIBUTE",
        help="Attribute of people whose values are the study's personas, or a column of their file. Default: the "
        "attribute with such names.",
    ),
    option(
        "--bound",
        of=ABOVE_0,
        default=0.2,
        help="The smallest difference that would matter, in standard deviations of people's answers.",
    ),
    option("--alpha", of=BETWEEN_0_AND_1, default=0.05, help="Significance level of tests and intervals."),
)


@result_command("alike", epilog=EXAMPLES, options=_OPTIONS, figure="what --show names, or differences by item")
def alike_command(asked: Asked, show: str, group: str | None, bound: float, alpha: float) -> Answer:
    """Compare each model with the people who answered the same items: does it answer as they do?

    The difference of means with the errors of both, and whether it is smaller than a bound (two one-sided tests); how
    far the model varies as people do (ratio of variances, Wasserstein's distance); whether it orders the items as they
    do (correlation corrected for both errors); how many people's answers lie outside the central 95 % of the model's;
    and whether, as a persona, it follows that group of people. The verdict is "equivalent within the bound" (two
    one-sided tests), "differs by more than the bound" (the interval lies beyond it) or "not decided": of these items in
    this wording, and of the people who answered, not of a population that they do not represent.
    """
    from slant.analysis.questions.alike import alike, verdict_sentence
    from slant.analysis.rows.cells import GRAIN

    result = asked.compute(alike, work="Comparing in R", group=group, bound=bound, alpha=alpha)
    rows: pl.DataFrame = getattr(result, show)
    shown = [name for name in (_SHOWN if show == "summary" else rows.columns) if name in rows.columns]
    same = [name for name in GRAIN if rows.height and rows[name].n_unique() == 1]
    says = [
        f"{row['model']}, {row['test']}: {verdict_sentence(row)}"
        for row in result.summary.drop_nulls("verdict").to_dicts()
    ]
    return Answer(rows, [name for name in shown if name not in same], says=says, figure=_figure(result, show))


def _figure(result: Alike, show: str) -> tuple[str, pl.DataFrame]:
    """Return the R function that draws the table that is shown, and its rows."""
    import polars as pl

    items = result.differences.filter(pl.col("kind") == "item")
    if show in ("spread", "range", "personas"):
        rows: pl.DataFrame = getattr(result, show)
        return f"plot_alike_{show}", rows.drop("messages", strict=False)
    if show == "order":
        cell = [name for name in ("source", "study_version", "variant", "model", "test") if name in items.columns]
        return "plot_alike_order", items.join(result.order.select(*cell, "corrected"), on=cell, how="left")
    return "plot_alike", items
