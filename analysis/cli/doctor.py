"""`analyze doctor`: what slant needs and what this machine has. See analysis/doctor.py."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from slant.collector.terminal import db_option, format_option, print_rows, say


@click.command(epilog="\b\nExample:\n  analyze doctor")
@db_option
@format_option
def doctor(db: Path, output_format: str) -> None:
    """Checks Python, R, rpy2, R packages and the database, and says how to mend what is missing.

    Exit code 1 where something that slant needs is missing.
    """
    from slant.analysis.doctor import checks

    found = checks(db if db.exists() else None)
    print_rows([asdict(check) for check in found], output_format)
    missing = [check for check in found if check.status == "missing"]
    for check in missing:
        say(f"Missing: {check.name}. {check.how_to_fix}")
    if missing:
        raise click.exceptions.Exit(1)
