"""`analyze figures`: the figures as files, SVG or PDF for print, PNG for slides, with words that say what they show."""

from __future__ import annotations

from pathlib import Path

import click
import polars as pl

from slant.analysis.cli.results import FitProgress
from slant.analysis.cli.study import meant, study_option
from slant.analysis.plots.figures import DEFAULT_FORMATS, FORMATS, checked_inches
from slant.analysis.plots.figures import figures as draw_figures
from slant.analysis.plots.kinds.of_games import kinds_of
from slant.analysis.plots.rows import figure_kinds
from slant.collector.commands.shown import shown_options
from slant.collector.errors import UnknownNameError
from slant.collector.studies.catalogue import Study
from slant.collector.terminal import PRINTED, db_option, print_rows, say, wide_option


def _formats(ctx: click.Context, param: click.Parameter, value: str) -> tuple[list[str], str]:
    """The formats of files, and the one in which rows are printed; each has a default where only the other is named."""
    names = [name.strip().lower() for name in value.split(",") if name.strip()]
    for name in names:
        if name not in (*FORMATS, *PRINTED):
            raise UnknownNameError("format", name, (*FORMATS, *PRINTED))
    files = [name for name in FORMATS if name in names] or list(DEFAULT_FORMATS)
    return files, next((name for name in names if name in PRINTED), PRINTED[0])


def _inches(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    return checked_inches(value, str(param.name))


@click.command(
    epilog="\b\nExamples:\n  analyze figures --out figures\n"
    "  analyze figures effect_sizes tokens --format pdf --width 3.5\n"
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
@click.option(
    "--format", "wanted", default=",".join(DEFAULT_FORMATS), show_default=True, metavar="FORMATS", callback=_formats,
    help="What is written (svg, png, pdf), and how the rows are printed (table, csv, json), with commas between them.",
)  # fmt: skip
@click.option(
    "--width", metavar="INCHES", callback=_inches,
    help="As wide as a journal's column (3.5) or page (7), say; words wrap to it. Default: what suits each figure.",
)  # fmt: skip
@click.option("--height", metavar="INCHES", callback=_inches, help="Default: what suits the width.")
@click.option("--list", "listed", is_flag=True, help="Say which figures there are, and what they show.")
@click.option("--workers", type=click.IntRange(min=1), help="R processes. Default: one a core.")
@db_option
@wide_option
@click.pass_context
@shown_options
def figures(
    ctx: click.Context, names: tuple[str, ...], study: str | None, source: str | None, out: Path,
    variants: tuple[str, ...], wanted: tuple[list[str], str], width: float | None, height: float | None, listed: bool,
    workers: int | None, db: Path,
) -> None:  # fmt: skip
    """Draw the paper's figures (all that the data have something for) as SVG and PNG, or PDF.

    Prints one row a file, with its text alternative. Each source, version and variant has files of its own; a study of
    games has its variants side by side.
    """
    formats, output_format = wanted
    its = meant(db, study)
    kinds = figure_kinds(its)
    if listed:
        print_rows([{"figure": name, "what": kind.what} for name, kind in kinds.items()], output_format)
        return
    with FitProgress() as progress:
        rows = draw_figures(
            db, out, its, names, formats=formats, source=source, workers=workers, progress=progress,
            variants=variants, width=width, height=height,
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
