"""`analyze doctor`: what slant needs and what this machine has. See analysis/doctor.py."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from slant.collector.commands.options import db_option, output_options
from slant.collector.terminal import print_rows, say


@click.command("doctor", epilog="\b\nExample:\n  analyze doctor")
@db_option
@output_options
def doctor_command(db: Path, output_format: str) -> None:
    """Look at Python, R, rpy2, R packages and the database; say how to install or repair what is missing.

    Exit code 1 where something that slant needs is missing.
    """
    from slant.analysis.doctor import checks

    results = checks(db if db.exists() else None)
    print_rows([asdict(check) for check in results], output_format)
    missing = [check for check in results if check.status == "missing"]
    for check in missing:
        say(f"Missing: {check.name}. {check.how_to_fix}")
    if missing:
        raise click.exceptions.Exit(1)
