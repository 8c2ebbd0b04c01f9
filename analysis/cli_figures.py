"""`analyze figures`: the figures as files, SVG for print and PNG for slides, with the words that say what they show."""

from __future__ import annotations

from pathlib import Path

import click
import polars as pl

from slant.analysis.cli_results import FitProgress
from slant.analysis.cli_study import meant, study_option
from slant.analysis.figure_kinds.of_games import kinds_of
from slant.analysis.figure_rows import figure_kinds
from slant.analysis.figures import FORMATS
from slant.analysis.figures import figures as draw_figures
from slant.collector.commands.output import db_option, format_option, print_rows, say
from slant.collector.commands.shown import shown_options
from slant.collector.study import Study


@click.command(
    epilog="\b\nExamples:\n  analyze figures --out figures\n  analyze figures effect_sizes tokens --only svg\n"
    "  analyze figures --list --study hiring\n  analyze figures --format json > alt_texts.json\n"
    "  analyze figures allocations learning_curves --study hiring --variant steer_bonus"
)
@click.argument("names", nargs=-1, metavar="[FIGURE]...")
@study_option
@click.option("--source", type=click.Choice(["collected", "imported", "simulated"]), help="Only rows of this source.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), default=Path("figures"), show_default=True,
    help="The folder to write to; figures that are there are replaced.",
)  # fmt: skip
@click.option(
    "--variant", "variants", multiple=True, metavar="NAME",
    help="For figures of one variant, where a study compares its variants. May be given again. Default: its base.",
)  # fmt: skip
@click.option("--only", type=click.Choice(FORMATS), help="Only this format. Default: both.")
@click.option("--list", "listed", is_flag=True, help="Say which figures there are, and what they show.")
@click.option("--workers", type=click.IntRange(min=1), help="R processes. Default: one a core.")
@db_option
@format_option
@click.pass_context
@shown_options
def figures(
    ctx: click.Context, names: tuple[str, ...], study: str | None, source: str | None, out: Path,
    variants: tuple[str, ...], only: str | None, listed: bool, workers: int | None, db: Path, output_format: str,
) -> None:  # fmt: skip
    """Draw the paper's figures (all that the data have something for) as SVG and PNG.

    Prints one row a file, with its text alternative. Each source, version and variant has files of its own; a study of
    games has its variants side by side.
    """
    its = meant(db, study)
    kinds = figure_kinds(its)
    if listed:
        print_rows([{"figure": name, "what": kind.what} for name, kind in kinds.items()], output_format)
        return
    with FitProgress() as progress:
        rows = draw_figures(
            db, out, its, names, formats=[only] if only else FORMATS, source=source, workers=workers,
            progress=progress, variants=variants,
        )  # fmt: skip
    shown = rows.select("figure", "source", "variant", "path") if output_format == "table" else rows
    print_rows(shown.drop_nulls("path"), output_format)
    for figure, note in rows.drop_nulls("note").select("figure", "note").unique(maintain_order=True).iter_rows():
        say(f"{figure}: {note}")
    for row in rows.filter(pl.col("problem").is_not_null()).unique("problem", maintain_order=True).to_dicts():
        say(f"{row['figure']} could not be drawn. {row['problem']}")
    for hint, missing in _not_drawn(its, names, rows).items():
        say(f"Not drawn, for there are no rows for them: {', '.join(missing)}. What makes these: {hint}")
    if rows["path"].null_count():
        ctx.exit(1)


def _not_drawn(its: Study, names: tuple[str, ...], rows: pl.DataFrame) -> dict[str, list[str]]:
    """The study's own figures that there were no rows for, by what makes these."""
    found: dict[str, list[str]] = {}
    for name, kind in kinds_of(its).items():
        if kind.hint and name in (names or its.figures) and name not in rows["figure"]:
            found.setdefault(kind.hint.format(study=its.as_typed), []).append(name)
    return found
