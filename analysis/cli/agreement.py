"""Compare the coders of texts (`analyze agreement`)."""

from __future__ import annotations

from slant.analysis.cli.options import option
from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.analysis.questions.coders import LEVELS_OF_CODES
from slant.collector.commands.options import WholeNumber

EXAMPLES = """\b
Examples:
  analyze agreement --study reasons
  analyze agreement --study reasons --show errors
  analyze agreement --study reasons --show differences --format csv > differences.csv
  analyze agreement --study reasons --figure confusion.svg
"""
_SHOWN = {
    "agreement": ("source", "code", "coder_1", "coder_2", "n_texts", "observed", "kappa", "kappa_low", "kappa_high",
                  "alpha", "ac1"),
    "errors": ("source", "coder", "code", "measure", "factor", "level", "estimate", "conf_low", "conf_high", "n"),
    "differences": ("source", "coder", "code", "measure", "factor", "level", "reference", "estimate", "conf_low",
                    "conf_high", "n"),
    "confusion": ("source", "model", "by_people", "by_model", "n"),
}  # fmt: skip
_OPTIONS = (
    option("--show", of=tuple(_SHOWN), default="agreement", help="The table to print."),
    option("--level", of=LEVELS_OF_CODES, default="nominal", help="What codes are: of a scale, ordinal or interval."),
    option("--draws", of=WholeNumber(0, 100_000), default=1000, help="Samples of texts for intervals; 0: none."),
)


@result_command(
    "agreement",
    epilog=EXAMPLES,
    options=_OPTIONS,
    figure="how often people and models give which code",
)
def agreement_command(asked: Asked, show: str, level: str, draws: int) -> Answer:
    """Compare the coders of texts, people and models: do they agree, and do a model's errors differ between conditions?

    For each pair of coders, and all together: percent agreement, Cohen's (of all, Fleiss') kappa, Krippendorff's alpha
    and Gwet's AC1, over all codes and of each code against the others. Errors are a model's sensitivity and false
    positives against people on a random sample (`collect sample`), weighted by how likely each text was to be drawn;
    differences are those of errors between levels: they are what makes false findings.
    """
    import polars as pl

    from slant.analysis.questions.coders import agreement

    result = asked.compute(agreement, level=level, draws=draws)
    rows = {
        "agreement": result.table,
        "errors": result.errors.filter(pl.col("reference").is_null()),
        "differences": result.differences,
        "confusion": result.confusion,
    }[show]
    shown = [name for name in _SHOWN[show] if name in rows.columns]
    return Answer(rows, shown, figure=("plot_confusion", result.confusion))
