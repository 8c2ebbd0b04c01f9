"""`analyze sensitivity`: the study's question, analysed in the other ways that its file names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
import polars as pl

from slant.analysis.cli.options import ONE_STUDY, chosen_study, result_options
from slant.analysis.cli.output import figure_option, say_result
from slant.analysis.cli.progress import FitProgress
from slant.analysis.plots.drawing import draw_into
from slant.analysis.plots.figure_data import FigureData
from slant.analysis.plots.specification_curve import rows_to_draw
from slant.analysis.questions.sensitivity import SensitivityResult, specifications
from slant.collector.commands.options import list_option, study_option
from slant.collector.terminal import count_text, print_rows, say

if TYPE_CHECKING:
    from slant.analysis.calls.executors import Workers

_SHOWN = (
    "source", "variant", "model", "test", "spec", "estimand", "unit", "estimate", "conf_low", "conf_high", "d", "n",
    "status",
)  # fmt: skip
"""Of a table on a terminal; the other formats have every column."""


@click.command(
    "sensitivity",
    epilog="\b\nExamples:\n  analyze sensitivity --study rmiat --figure curve.svg\n"
    "  analyze sensitivity --study interference --spec paper --spec sum_coding --format csv > curve.csv\n"
    "  analyze sensitivity --study interference --list",
)
@study_option(ONE_STUDY)
@click.option("--spec", "specs", multiple=True, metavar="NAME", help="Only this specification. Repeatable.")
@list_option
@figure_option("the specification curve, of one source and variant")
@click.pass_context
@result_options(refit=True)
def sensitivity_command(
    ctx: click.Context,
    study: str | None,
    specs: tuple[str, ...],
    source: str | None,
    is_list: bool,
    figure: Path | None,
    workers: Workers,
    refit: bool,
    db: Path,
    output_format: str,
) -> None:
    """Fit the specifications of a study ([sensitivity.NAME] in its file); print one row per specification and cell.

    Each is kept as soon as it is there: the same command goes on where it was stopped, and fits nothing twice.
    Estimates in different units can't be compared; `d` is in standard deviations. Probabilities share one unit, and
    have no d.
    """
    chosen = chosen_study(db, study, lambda candidate: bool(candidate.sensitivity), "has specifications")
    if is_list:
        rows = [
            {"spec": spec.name, "label": spec.label, "fit": spec.fit, "choices": _in_one_line(spec.choices)}
            for spec in chosen.sensitivity.values()
        ]
        print_rows(rows, output_format)
        return
    with FitProgress() as progress:
        result = specifications(db, chosen, specs, source, workers, refit, progress)
    table = result.table
    print_rows(table.select(_SHOWN) if output_format == "table" else table.drop("call_id", "row_no"), output_format)
    _say_counts(result)
    if figure is not None:
        curve = rows_to_draw(table, FigureData(db, chosen).labels)
        say(draw_into(figure, "plot_specifications", curve, workers or 1))
    if (table["status"] == "failed").all():
        ctx.exit(1)


def _in_one_line(choices: Mapping[str, str]) -> str:
    return "; ".join(f"{dimension}: {choice}" for dimension, choice in choices.items())


def _say_counts(result: SensitivityResult) -> None:
    fits = result.table.unique("call_id", maintain_order=True)
    counts = Counter(fits["status"].to_list())
    say(f"{count_text(fits.height, 'fit')}: " + ", ".join(f"{n} {status}" for status, n in counts.most_common()) + ".")
    failed = fits.filter(pl.col("status") == "failed")
    for row in failed.head(3).to_dicts():
        cell = ", ".join(filter(None, [row["model"], row["test"]])) or "all rows"
        say(f"Failed: {row['spec']} ({cell}): {row['messages'].splitlines()[-1]}")
    if failed.height > 3:
        say(f"… and {failed.height - 3} more: --format json has the messages of each.")
    say_result(result)
