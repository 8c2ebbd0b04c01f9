"""`make test-faults`: a thousand faults done to real processes, and all that servers can do, as a table.

python -m tests.faults [--number 1000] [--seed 1] [--only "export, kill"]
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import click

from tests.faults.engine import Engine, cases
from tests.faults.faults import FAULTS

HEAD = "| fault | done | held |\n|---|---|---|"


@click.command()
@click.option("--number", type=int, default=1000, show_default=True)
@click.option("--seed", type=int, default=None, help="Repeats the cases of an earlier table.")
@click.option(
    "--only", default="", metavar="WORDS", help="Only cases that these words (separated by commas) are all in."
)
@click.option("--verbose", is_flag=True, help="A line for each case.")
def main(number: int, seed: int | None, only: str, verbose: bool) -> None:
    """Print the table; exit 1 where anything did not hold."""
    chosen = random.randrange(1000) if seed is None else seed
    words, begun, done, bad = (
        [word.strip() for word in only.split(",")],
        time.monotonic(),
        Counter[str](),
        Counter[str](),
    )
    click.echo(f"seed {chosen}", err=True)
    for fault in FAULTS:
        if fault.lacks:
            click.echo(f"{fault.name} is left out: {fault.lacks}", err=True)
    with tempfile.TemporaryDirectory() as folder, Engine(Path(folder)) as engine:
        for case in cases(number, chosen):
            if not all(word in str(case) for word in words):
                continue
            wrong = engine.suffer(case)
            done[case.fault.name] += 1
            bad[case.fault.name] += bool(wrong)
            for sentence in wrong:
                click.echo(f"{case}: {sentence}", err=True)
            if verbose or done.total() % 50 == 0:
                click.echo(f"{done.total():,} done, {time.monotonic() - begun:.0f} s: {case}", err=True)
    rows = [f"| {name} | {n:,} | {n - bad[name]:,} |" for name, n in done.items()]
    click.echo("\n".join([HEAD, *sorted(rows), f"| together | {done.total():,} | {done.total() - bad.total():,} |"]))
    sys.exit(1 if bad.total() else 0)


if __name__ == "__main__":
    main()
