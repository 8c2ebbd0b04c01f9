"""`make test-faults`: a thousand faults done to real processes; what servers can do; kills of batch jobs. As a table.

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
from tests.support.batching import MODELS
from tests.support.fault_cases import FAULTS as OF_SERVERS
from tests.support.fault_run import Suffered, suffer_all
from tests.support.kill_batches import killed_batches

HEAD = "| fault | done | held |\n|---|---|---|"
KILLS_OF_BATCHES = 25


class Table:
    """What was done, what held, and each sentence about what did not, as soon as it is known."""

    def __init__(self, verbose: bool) -> None:
        self.verbose, self.begun = verbose, time.monotonic()
        self.done, self.bad = Counter[str](), Counter[str]()

    def add(self, kind: str, case: object, wrong: list[str], number: int = 1) -> None:
        self.done[kind] += number
        self.bad[kind] += bool(wrong)
        for sentence in wrong:
            say(f"{case}: {sentence}")
        if self.verbose or self.done.total() % 50 == 0:
            say(f"{self.done.total():,} done, {time.monotonic() - self.begun:.0f} s: {case}")

    def text(self) -> str:
        rows = [f"| {kind} | {n:,} | {n - self.bad[kind]:,} |" for kind, n in sorted(self.done.items())]
        n, n_bad = self.done.total(), self.bad.total()
        return "\n".join([HEAD, *rows, f"| together | {n:,} | {n - n_bad:,} |"])


def say(text: str) -> None:
    click.echo(text, err=True)


def wrong_of(suffered: Suffered) -> list[str]:
    is_bad = suffered.lost or suffered.doubled or suffered.left
    return [f"lost {suffered.lost}, doubled {suffered.doubled}, left {suffered.left}"] if is_bad else []


def of_servers_and_batches(folder: Path, table: Table, seed: int) -> None:
    for name, suffered in suffer_all(OF_SERVERS, folder / "servers").items():
        table.add("a server or a network", name, wrong_of(suffered))
    for provider in MODELS:
        (place := folder / provider).mkdir()
        suffered = killed_batches(place, provider, KILLS_OF_BATCHES, seed)
        again = [f"{suffered.again} requests were bought twice"] if suffered.again else []
        table.add(f"kill -9 of --batch at {provider}", "", [*wrong_of(suffered), *again], KILLS_OF_BATCHES)


@click.command()
@click.option("--number", type=int, default=1000, show_default=True)
@click.option("--seed", type=int, default=None, help="Repeats the cases of an earlier table.")
@click.option("--only", default="", metavar="WORDS", help="Cases that hold all of these, separated by commas.")
@click.option("--verbose", is_flag=True, help="A line for each case.")
def main(number: int, seed: int | None, only: str, verbose: bool) -> None:
    """Print the table; exit 1 where anything did not hold."""
    chosen = random.randrange(1000) if seed is None else seed
    words, table = [word.strip() for word in only.split(",")], Table(verbose)
    say(f"seed {chosen}")
    for fault in FAULTS:
        if fault.lacks:
            say(f"{fault.name} is left out: {fault.lacks}")
    with tempfile.TemporaryDirectory() as folder, Engine(Path(folder)) as engine:
        for case in cases(number, chosen):
            if all(word in str(case) for word in words):
                table.add(case.fault.name, case, engine.suffer(case))
        if not only:
            of_servers_and_batches(Path(folder), table, chosen)
    click.echo(table.text())
    sys.exit(1 if table.bad.total() else 0)


if __name__ == "__main__":
    main()
