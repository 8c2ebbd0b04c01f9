"""Compare who answered: the coders of texts (`analyze agreement`), a model with people (`analyze alike`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from slant.analysis.cli.options import option
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.analysis.questions.coders import LEVELS_OF_CODES
from slant.collector.commands.options import ABOVE_0, BETWEEN_0_AND_1, WholeNumber
from slant.collector.errors import DatabaseError

if TYPE_CHECKING:
    import polars as pl

    from slant.analysis.questions.alike import Alike


_EXAMPLES_OF_AGREEMENT = """\b
Examples:
  analyze agreement --study reasons
  analyze agreement --study reasons --show errors
  analyze agreement --study reasons --show differences --format csv > differences.csv
  analyze agreement --study reasons --figure confusion.svg
  collect --study reasons --model MODEL --again 50     each month; then
  analyze agreement --study reasons --show drift
"""
_SHOWN_OF_AGREEMENT = {
    "agreement": ("source", "code", "coder_1", "coder_2", "n_texts", "observed", "kappa", "kappa_low", "kappa_high",
                  "alpha", "ac1"),
    "errors": ("source", "coder", "code", "measure", "factor", "level", "estimate", "conf_low", "conf_high", "n"),
    "differences": ("source", "coder", "code", "measure", "factor", "level", "reference", "estimate", "conf_low",
                    "conf_high", "n"),
    "confusion": ("source", "model", "by_people", "by_model", "n"),
    "drift": ("source", "coder", "compared_with", "code", "occasion", "n_texts", "agreement", "cusum_falls",
              "cusum_rises", "decision_limit", "is_alarm"),
}  # fmt: skip
_OPTIONS_OF_AGREEMENT = (
    option("--show", of=tuple(_SHOWN_OF_AGREEMENT), default="agreement", help="The table to print."),
    option("--level", of=LEVELS_OF_CODES, default="nominal", help="What codes are: of a scale, ordinal or interval."),
    option("--draws", of=WholeNumber(0, 100_000), default=1000, help="Samples of texts for intervals; 0: none."),
)


@result_command(
    "agreement",
    epilog=_EXAMPLES_OF_AGREEMENT,
    options=_OPTIONS_OF_AGREEMENT,
    figure="how often people and models give which code",
)
def agreement_command(asked: Asked, show: str, level: str, draws: int) -> Answer:
    """Compare the coders of texts, people and models: do they agree, and do a model's errors differ between conditions?

    For each pair of coders, and all together: percent agreement, Cohen's (of all, Fleiss') kappa, Krippendorff's alpha
    and Gwet's AC1, over all codes and of each code against the others. Errors are a model's sensitivity and false
    positives against people on a random sample (`collect sample`), weighted by how likely each text was to be drawn;
    differences are those of errors between levels: they are what makes false findings. Drift is of texts coded again
    (`collect --again 50`): by occasion, agreement with the first one and with people, and CUSUMs of it.
    """
    import polars as pl

    from slant.analysis.questions.coders import agreement, drift_sentence

    result = asked.compute(agreement, level=level, draws=draws)
    rows = {
        "agreement": result.table,
        "errors": result.errors.filter(pl.col("reference").is_null()),
        "differences": result.differences,
        "confusion": result.confusion,
        "drift": result.drift,
    }[show]
    if show == "drift" and rows.is_empty():
        raise DatabaseError("No text was coded again.", "On each occasion: collect --study … --model … --again 50")
    shown = [name for name in _SHOWN_OF_AGREEMENT[show] if name in rows.columns]
    says = [drift_sentence(rows)] if show == "drift" else []
    return Answer(rows, shown, says=says, figure=("plot_confusion", result.confusion))


_EXAMPLES_OF_ALIKE = """\b
Examples:
  collect import survey.csv --layout people --study habits --consent "informed, data may be shared" --origin "our panel"
  analyze alike --study habits
  analyze alike --study habits --show differences --bound 0.3
  analyze alike --study habits --show spread --figure spread.svg
  analyze alike --study habits --group age_group --show personas --format csv > personas.csv
"""
_SHOWN_OF_ALIKE = (
    "source", "study_version", "variant", "model", "test", "n_model", "n_people", "difference", "conf_low", "conf_high",
    "p_equivalence", "variance_ratio", "order", "model_outside", "share_outside", "persona_correlation",
    "persona_slope", "verdict",
)  # fmt: skip
_OPTIONS_OF_ALIKE = (
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


@result_command(
    "alike", epilog=_EXAMPLES_OF_ALIKE, options=_OPTIONS_OF_ALIKE, figure="what --show names, or differences by item"
)
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
    shown = [name for name in (_SHOWN_OF_ALIKE if show == "summary" else rows.columns) if name in rows.columns]
    same = [name for name in GRAIN if rows.height and rows[name].n_unique() == 1]
    says = [
        f"{row['model']}, {row['test']}: {verdict_sentence(row)}"
        for row in result.summary.drop_nulls("verdict").to_dicts()
    ]
    return Answer(rows, [name for name in shown if name not in same], says=says, figure=_figure_of_alike(result, show))


def _figure_of_alike(result: Alike, show: str) -> tuple[str, pl.DataFrame]:
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
