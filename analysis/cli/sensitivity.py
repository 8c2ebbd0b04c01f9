"""Analyse the study's question in the other ways that its file names (`analyze sensitivity`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import click
import polars as pl

from slant.analysis.cli.result_commands import Answer, Asked, result_command
from slant.analysis.plots.figure_data import FigureData, rows_to_draw
from slant.analysis.questions.sensitivity import specifications
from slant.collector.commands.options import list_option
from slant.collector.terminal import count_text

_SHOWN = (
    "source", "variant", "model", "test", "spec", "estimand", "unit", "estimate", "conf_low", "conf_high", "d", "n",
    "status",
)  # fmt: skip
"""List the columns on a terminal; the other formats have every column."""
_OPTIONS = (
    click.option("--spec", "specs", multiple=True, metavar="NAME", help="Only this specification. Repeatable."),
    list_option,
)


@result_command(
    "sensitivity",
    epilog="\b\nExamples:\n  analyze sensitivity --study rmiat --figure curve.svg\n"
    "  analyze sensitivity --study interference --spec paper --spec sum_coding --format csv > curve.csv\n"
    "  analyze sensitivity --study interference --list",
    options=_OPTIONS,
    figure="the specification curve, of one source and variant",
    refit=True,
)
def sensitivity_command(asked: Asked, specs: tuple[str, ...], is_list: bool) -> Answer:
    """Fit the specifications of a study ([sensitivity.NAME] in its file); print one row per specification and cell.

    Each is kept as soon as it is made: the same command goes on where it was stopped, and fits nothing twice.
    Estimates in different units can't be compared; `d` is in standard deviations. Probabilities share one unit, and
    have no d.
    """
    chosen = asked.choose(lambda candidate: bool(candidate.sensitivity), "has specifications")
    if is_list:
        rows = [
            {"spec": spec.name, "label": spec.label, "fit": spec.fit, "choices": _in_one_line(spec.choices)}
            for spec in chosen.sensitivity.values()
        ]
        return Answer(pl.DataFrame(rows), exact=True)
    table = asked.compute(specifications, specs=specs).table
    return Answer(
        table.drop("call_id", "row_no"),
        table.select(_SHOWN),
        _counted(table),
        figure=("plot_specifications", lambda: rows_to_draw(table, FigureData(asked.db, chosen).labels)),
        exact=True,
        exit_code=int((table["status"] == "failed").all()),
    )


def _in_one_line(choices: Mapping[str, str]) -> str:
    return "; ".join(f"{dimension}: {choice}" for dimension, choice in choices.items())


def _counted(table: pl.DataFrame) -> Iterator[str]:
    fits = table.unique("call_id", maintain_order=True)
    counts = Counter(fits["status"].to_list())
    yield f"{count_text(fits.height, 'fit')}: " + ", ".join(f"{n} {status}" for status, n in counts.most_common()) + "."
    failed = fits.filter(pl.col("status") == "failed")
    for row in failed.head(3).to_dicts():
        cell = ", ".join(filter(None, [row["model"], row["test"]])) or "all rows"
        yield f"Failed: {row['spec']} ({cell}): {row['messages'].splitlines()[-1]}"
    if failed.height > 3:
        yield f"… and {failed.height - 3} more: --format json has the messages of each."
