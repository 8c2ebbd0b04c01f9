"""Write one HTML page of everything a database shows (`analyze report`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from slant.analysis.cli.options import ONE_STUDY, chosen_study, option, registration_option, workers_options
from slant.analysis.cli.progress import FitProgress
from slant.analysis.pages.html_report import report
from slant.collector.commands.options import FILE, db_option, row_options, study_option, verbose_option

if TYPE_CHECKING:
    from slant.analysis.calls.executors import Workers


@click.command("report", epilog="\b\nExample:\n  analyze report --out report.html")
@study_option(ONE_STUDY)
@option("--out", of=FILE, default=Path("report.html"), help="The HTML file to write, or to replace.")
@registration_option
@workers_options
@db_option
@verbose_option
@row_options
def report_command(study: str | None, out: Path, registration: Path | None, workers: Workers, db: Path) -> None:
    """Write one self-contained HTML page: tables next to the printed ones, figures, warnings, where the data come from.

    This prints the path of the page.
    """
    chosen = chosen_study(db, study)
    with FitProgress() as progress:
        path = report(db, chosen, out, workers=workers, progress=progress, registration=registration)
    click.echo(path)
