"""Check what slant needs and what this machine has (`analyze doctor`). See analysis/doctor.py."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from slant.analysis.cli.options import cluster_option
from slant.collector.commands.options import db_option, output_options
from slant.collector.terminal import print_rows, say


@click.command("doctor", epilog="\b\nExamples:\n  analyze doctor\n  analyze doctor --cluster tcp://scheduler:8786")
@cluster_option()
@db_option
@output_options
def doctor_command(cluster: str | None, db: Path, output_format: str) -> None:
    """Look at Python, R, their packages and the database; say how to install or repair what is missing.

    With --cluster: one row for each of its workers, and how it differs from this machine.

    The exit code is 1 if something that slant needs is missing, or a worker differs.
    """
    if cluster is not None:
        from slant.analysis.doctor import cluster_checks

        workers = cluster_checks(cluster)
        print_rows([asdict(worker) for worker in workers], output_format)
        for worker in workers:
            if worker.problem:
                say(f"The worker {worker.worker} on {worker.host or 'an unknown host'} has {worker.problem}.")
        if any(worker.problem for worker in workers):
            raise click.exceptions.Exit(1)
        return
    from slant.analysis.doctor import checks

    results = checks(db if db.exists() else None)
    print_rows([asdict(check) for check in results], output_format)
    missing = [check for check in results if check.status == "missing"]
    for check in missing:
        say(f"Missing: {check.name}. {check.how_to_fix}")
    if missing:
        raise click.exceptions.Exit(1)
