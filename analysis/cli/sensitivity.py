"""`analyze sensitivity`: the study's question asked in the other ways that its file names, as a table and a figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import click
import polars as pl

from slant.analysis.cli.results import FitProgress
from slant.analysis.cli.study import meant, study_option
from slant.analysis.plots.kinds.records import FigureData
from slant.analysis.plots.specification_curve import draw_specifications
from slant.analysis.questions.sensitivity.specifications import SensitivityResult
from slant.analysis.questions.sensitivity.specifications import specifications as fit_all
from slant.collector.commands.shown import shown_options
from slant.collector.terminal import db_option, format_option, print_rows, say

_SHOWN = (
    "source", "variant", "model", "test", "spec", "estimand", "unit", "estimate", "conf_low", "conf_high", "d", "n",
    "status",
)  # fmt: skip
"""Of a table on a terminal; the other formats have every column."""


@click.command(
    epilog="\b\nExamples:\n  analyze sensitivity --study rmiat --figure curve.svg\n"
    "  analyze sensitivity --study interference --only paper --only sum_coding --format csv > curve.csv\n"
    "  analyze sensitivity --study interference --list"
)
@study_option
@click.option("--only", multiple=True, metavar="SPEC", help="Only this specification. May be given several times.")
@click.option("--source", type=click.Choice(["collected", "imported", "simulated"]), help="Only rows of this source.")
@click.option("--list", "listed", is_flag=True, help="Say which specifications the study has; fits nothing.")
@click.option(
    "--figure", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Draw the specification curve, too: FILE.svg or FILE.png. Needs rows of one source and variant.",
)  # fmt: skip
@click.option("--workers", type=click.IntRange(min=1), help="R processes. Default: one a core.")
@click.option("--refit", is_flag=True, help="Fit again what is unchanged, too.")
@db_option
@format_option
@click.pass_context
@shown_options
def sensitivity(
    ctx: click.Context, study: str | None, only: tuple[str, ...], source: str | None, listed: bool, figure: Path | None,
    workers: int | None, refit: bool, db: Path, output_format: str,
) -> None:  # fmt: skip
    """Fits the specifications of a study ([sensitivity.NAME] in its file) and prints one row a specification and cell.

    Each is kept as soon as it is there: the same command goes on where it was stopped, and fits nothing twice.
    Estimates of different units don't compare; `d` is in standard deviations. Probabilities have no d: they share one
    unit anyway.
    """
    its = meant(db, study, lambda one: bool(one.sensitivity), "has specifications")
    if listed:
        rows = [
            {"spec": one.name, "label": one.label, "fit": one.fit, "choices": _in_one_line(one.choices)}
            for one in its.sensitivity.values()
        ]
        print_rows(rows, output_format)
        return
    with FitProgress() as progress:
        found = fit_all(db, its, only, source, workers, refit, progress)
    table = found.table
    print_rows(table.select(_SHOWN) if output_format == "table" else table.drop("call_id", "row_no"), output_format)
    _say_how_it_went(found)
    if figure is not None:
        say(draw_specifications(table, FigureData(db, its).labels, figure))
    if (table["status"] == "failed").all():
        ctx.exit(1)


def _in_one_line(choices: Mapping[str, str]) -> str:
    return "; ".join(f"{dimension}: {choice}" for dimension, choice in choices.items())


def _say_how_it_went(found: SensitivityResult) -> None:
    fits = found.table.unique("call_id", maintain_order=True)
    counts = Counter(fits["status"].to_list())
    say(f"{fits.height} fits: " + ", ".join(f"{n} {status}" for status, n in counts.most_common()) + ".")
    failed = fits.filter(pl.col("status") == "failed")
    for row in failed.head(3).to_dicts():
        cell = ", ".join(filter(None, [row["model"], row["test"]])) or "all rows"
        say(f"Failed: {row['spec']} ({cell}): {row['messages'].splitlines()[-1]}")
    if failed.height > 3:
        say(f"… and {failed.height - 3} more: --format json has the messages of each.")
    if found.not_kept:
        say(f"The fits could not be kept. {found.not_kept}")
