"""`analyze figures`: the figures as files, SVG for print and PNG for slides, with the words that say what they show."""

from __future__ import annotations

from pathlib import Path

import click
import polars as pl

from analysis.cli_results import FitProgress
from analysis.figure_rows import FIGURES
from analysis.figures import FORMATS
from analysis.figures import figures as draw_figures
from collector.commands.output import db_option, format_option, print_rows, say


@click.command(
    epilog="\b\nExamples:\n  analyze figures --out figures\n  analyze figures effect_sizes tokens --only svg\n"
    "  analyze figures --list\n  analyze figures --format json > alt_texts.json"
)
@click.argument("names", nargs=-1, metavar="[FIGURE]...")
@click.option("--study", default="rmiat", show_default=True, help="A study's name or the path of its TOML file.")
@click.option("--source", type=click.Choice(["collected", "imported", "simulated"]), help="Only rows of this source.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), default=Path("figures"), show_default=True,
    help="The folder to write to; figures that are there are replaced.",
)  # fmt: skip
@click.option("--only", type=click.Choice(FORMATS), help="Only this format. Default: both.")
@click.option("--list", "listed", is_flag=True, help="Say which figures there are, and what they show.")
@click.option("--workers", type=click.IntRange(min=1), help="R processes. Default: one a core.")
@db_option
@format_option
@click.pass_context
def figures(
    ctx: click.Context, names: tuple[str, ...], study: str, source: str | None, out: Path, only: str | None,
    listed: bool, workers: int | None, db: Path, output_format: str,
) -> None:  # fmt: skip
    """Draw the paper's figures (all that the data have something for) as SVG and PNG.

    Prints one row a file, with its text alternative. Each source, version and variant has files of its own.
    """
    if listed:
        print_rows([{"figure": name, "what": kind.what} for name, kind in FIGURES.items()], output_format)
        return
    with FitProgress() as progress:
        rows = draw_figures(
            db, out, study, names, formats=[only] if only else FORMATS, source=source, workers=workers,
            progress=progress,
        )  # fmt: skip
    shown = rows.select("figure", "source", "variant", "path") if output_format == "table" else rows
    print_rows(shown.drop_nulls("path"), output_format)
    for figure, note in rows.drop_nulls("note").select("figure", "note").unique(maintain_order=True).iter_rows():
        say(f"{figure}: {note}")
    for row in rows.filter(pl.col("problem").is_not_null()).unique("problem", maintain_order=True).to_dicts():
        say(f"{row['figure']} could not be drawn. {row['problem']}")
    if rows["path"].null_count():
        ctx.exit(1)
