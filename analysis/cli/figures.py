"""Draw the figures as files, each with an alternative text (`analyze figures`), or all of a database as one HTML page
(`analyze report`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import polars as pl

from slant.analysis.cli import options
from slant.analysis.cli.progress import FitProgress
from slant.analysis.pages.html_report import report
from slant.analysis.pages.report_formats import REPORT_FORMATS
from slant.analysis.plots.drawing import DEFAULT_FORMATS, FORMATS, checked_inches, figures
from slant.analysis.plots.games import study_figure_kinds
from slant.analysis.plots.registry import figure_kinds
from slant.collector.commands import options as of_collect
from slant.collector.commands.options import FILE, FOLDER
from slant.collector.errors import UsageError, check_known
from slant.collector.terminal import print_rows, say

if TYPE_CHECKING:
    from slant.analysis.calls.executors import Workers


def _image_formats(ctx: click.Context, param: click.Parameter, value: str) -> list[str]:
    names = [name.strip().lower() for name in value.split(",") if name.strip()]
    if not names:
        raise click.BadParameter(f"name at least one of {', '.join(FORMATS)}.")
    for name in names:
        check_known("image format", name, FORMATS)
    return [name for name in FORMATS if name in names]


def _inches(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    return checked_inches(value, str(param.name))


def _names(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str]:
    return [name.strip() for name in (value or "").split(",") if name.strip()]


_ORDER = "Levels, models or tests that come first, with commas between them; or value: the largest value comes first."
_HIGHLIGHT = "Levels, models or tests of which all others are pale, with commas between them."


@click.command(
    "figures",
    epilog="\b\nExamples:\n  analyze figures --out figures\n"
    "  analyze figures effect_sizes tokens --image pdf --width 3.5\n"
    "  analyze figures --list --study hiring\n  analyze figures --format json > alt_texts.json\n"
    "  analyze figures allocations learning_curves --study hiring --variant steer_bonus",
)
@click.argument("names", nargs=-1, metavar="[FIGURE]...")
@of_collect.study_option(options.ONE_STUDY)
@options.option("--out", of=FOLDER, default=Path("figures"), help="Output folder; existing figures are replaced.")
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="NAME",
    help="Only figures of this variant. Repeatable. Default: all; of games, the unchanged study.",
)
@options.option(
    "--image",
    "formats",
    default=",".join(DEFAULT_FORMATS),
    metavar="FORMATS",
    callback=_image_formats,
    help="File formats, separated by commas: svg, png, pdf.",
)
@click.option(
    "--width",
    metavar="INCHES",
    callback=_inches,
    help="Width in inches: a journal's column is 3.5, its page 7; texts wrap to it. Default: each figure's own.",
)
@click.option("--height", metavar="INCHES", callback=_inches, help="Figure height. Default: chosen from the width.")
@click.option("--title", metavar="TEXT", help="Title to print instead of each figure's own.")
@click.option("--subtitle", metavar="TEXT", help="Subtitle to print instead of each figure's own.")
@click.option("--order", metavar="NAMES", callback=_names, help=_ORDER)
@click.option("--highlight", metavar="NAMES", callback=_names, help=_HIGHLIGHT)
@click.option("--rows", "with_rows", is_flag=True, help="Also write the rows of each figure, as CSV.")
@of_collect.list_option
@click.pass_context
@options.result_options()
def figures_command(
    ctx: click.Context,
    names: tuple[str, ...],
    study: str | None,
    is_list: bool,
    db: Path,
    output_format: str,
    **drawn: Any,
) -> None:
    """Draw the paper's figures, as far as the database has rows for them, as SVG and PNG, or PDF.

    This prints one row per file, with its alternative text. Each source, version and variant has its own files; a study
    of games has its variants side by side.
    """
    chosen = options.chosen_study(db, study)
    kinds = figure_kinds(chosen)
    if is_list:
        print_rows([{"figure": name, "what": kind.description} for name, kind in kinds.items()], output_format)
        return
    with FitProgress() as progress:
        rows = figures(db, chosen, names=names, progress=progress, **drawn)
    listing = rows.select("figure", "source", "variant", "path") if output_format == "table" else rows
    print_rows(listing.drop_nulls("path"), output_format)
    for figure, note in rows.drop_nulls("note").select("figure", "note").unique(maintain_order=True).iter_rows():
        say(f"{figure}: {note}")
    for row in rows.filter(pl.col("problem").is_not_null()).unique("problem", maintain_order=True).to_dicts():
        say(f"{row['figure']} could not be drawn. {row['problem']}")
    lacking: dict[str, list[str]] = {}
    for name, kind in study_figure_kinds(chosen).items():
        if kind.hint and name in (names or chosen.figures) and name not in rows["figure"]:
            lacking.setdefault(kind.hint.format(study=chosen.as_typed), []).append(name)
    for hint, missing in lacking.items():
        say(f"Not drawn, because they have no rows: {', '.join(missing)}. To make these rows: {hint}")
    if rows["path"].null_count():
        ctx.exit(1)


@click.command("report", epilog="\b\nExample:\n  analyze report --out report.html")
@of_collect.study_option(options.ONE_STUDY)
@options.option(
    "--out", of=FILE, default=None, help="The file to write, or to replace. Default: report.html, or as --format."
)
@options.option(
    "--format",
    "ending",
    of=REPORT_FORMATS,
    help="The format, where --out does not say it: docx needs pandoc, pdf Chromium, qmd nothing.",
)
@options.registration_option
@options.workers_options
@of_collect.db_option
@of_collect.verbose_option
@of_collect.row_options
def report_command(
    study: str | None, out: Path | None, ending: str | None, registration: Path | None, workers: Workers, db: Path
) -> None:
    """Write one self-contained HTML page: tables next to the printed ones, figures, warnings, where the data come from.

    The same as a Word, PDF or Quarto document: --format, or a name that ends so. This prints the path of the file.
    """
    out = _named_of_report(out, ending)
    chosen = options.chosen_study(db, study)
    with FitProgress() as progress:
        path = report(db, chosen, out, workers=workers, progress=progress, registration=registration)
    click.echo(path)


def _named_of_report(out: Path | None, ending: str | None) -> Path:
    if out is None:
        return Path(f"report.{ending or 'html'}")
    if ending is None or out.suffix == f".{ending}":
        return out
    if out.suffix:
        raise UsageError(
            f'Can\'t write "{out}" as {ending}: its name must end in .{ending}.',
            f"Leave out --format, or name it {out.with_suffix(f'.{ending}')}.",
        )
    return out.with_suffix(f".{ending}")
