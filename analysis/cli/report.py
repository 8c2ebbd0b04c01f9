"""Write one HTML page of everything a database shows (`analyze report`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from slant.analysis.cli.options import ONE_STUDY, chosen_study, option, registration_option, workers_options
from slant.analysis.cli.progress import FitProgress
from slant.analysis.pages.html_report import report
from slant.analysis.pages.report_formats import REPORT_FORMATS
from slant.collector.commands.options import FILE, db_option, row_options, study_option, verbose_option
from slant.collector.errors import UsageError

if TYPE_CHECKING:
    from slant.analysis.calls.executors import Workers


@click.command("report", epilog="\b\nExample:\n  analyze report --out report.html")
@study_option(ONE_STUDY)
@option("--out", of=FILE, default=None, help="The file to write, or to replace. Default: report.html, or as --format.")
@option(
    "--format",
    "ending",
    of=REPORT_FORMATS,
    help="The format, where --out does not say it: docx needs pandoc, pdf Chromium, qmd nothing.",
)
@registration_option
@workers_options
@db_option
@verbose_option
@row_options
def report_command(
    study: str | None, out: Path | None, ending: str | None, registration: Path | None, workers: Workers, db: Path
) -> None:
    """Write one self-contained HTML page: tables next to the printed ones, figures, warnings, where the data come from.

    The same as a Word, PDF or Quarto document: --format, or a name that ends so. This prints the path of the file.
    """
    out = _named(out, ending)
    chosen = chosen_study(db, study)
    with FitProgress() as progress:
        path = report(db, chosen, out, workers=workers, progress=progress, registration=registration)
    click.echo(path)


def _named(out: Path | None, ending: str | None) -> Path:
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
