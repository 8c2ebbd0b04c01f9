"""`make test-faults`: a thousand faults done to real processes; what servers can do; kills of batch jobs and budgets.

Two tables, by fault and by process.

python -m tests.faults [--number 1000] [--seed 1] [--only "export, kill"]
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import click

from tests.faults.engine import Case, Engine, cases
from tests.faults.faults import FAULTS
from tests.support.batching import MODELS
from tests.support.fault_cases import FAULTS as OF_SERVERS
from tests.support.fault_run import Suffered, suffer_all
from tests.support.kill_batches import killed_batches
from tests.support.kill_budgets import BUDGET_USD, killed_budget

KILLS_OF_BATCHES = 25
BUDGETS, KILLS_OF_EACH = 5, 5


class Table:
    """What was done, what held, and each sentence about what did not, as soon as it is known."""

    def __init__(self, verbose: bool) -> None:
        self.verbose, self.begun = verbose, time.monotonic()
        self.done, self.bad = Counter[str](), Counter[str]()
        self.done_to, self.bad_of = Counter[str](), Counter[str]()

    def add_case(self, case: Case, wrong: list[str]) -> None:
        self.done_to[case.process.name] += 1
        self.bad_of[case.process.name] += bool(wrong)
        self.add(case.fault.name, case, wrong)

    def add(self, kind: str, case: object, wrong: list[str], number: int = 1) -> None:
        self.done[kind] += number
        self.bad[kind] += bool(wrong)
        for sentence in wrong:
            say(f"{case}: {sentence}")
        if self.verbose or self.done.total() % 50 == 0:
            say(f"{self.done.total():,} done, {time.monotonic() - self.begun:.0f} s: {case}")

    def text(self) -> str:
        tables = [("fault", self.done, self.bad), ("process", self.done_to, self.bad_of)]
        return "\n\n".join(_as_text(*table) for table in tables)


def _as_text(kind: str, done: Counter[str], bad: Counter[str]) -> str:
    rows = [f"| {name} | {n:,} | {n - bad[name]:,} |" for name, n in sorted(done.items())]
    together = f"| together | {done.total():,} | {done.total() - bad.total():,} |"
    return "\n".join([f"| {kind} | done | held |", "|---|---|---|", *rows, together])


def say(text: str) -> None:
    click.echo(text, err=True)


def wrong_of(suffered: Suffered) -> list[str]:
    is_bad = suffered.lost or suffered.doubled or suffered.left
    return [f"lost {suffered.lost}, doubled {suffered.doubled}, left {suffered.left}"] if is_bad else []


def of_budgets(folder: Path, table: Table, seed: int) -> None:
    for number in range(BUDGETS):
        (place := folder / f"budget-{number}").mkdir()
        billed = killed_budget(place, KILLS_OF_EACH, seed + number)
        over = [f"${billed.usd:.2f} were billed of ${BUDGET_USD:g}"] if billed.usd > BUDGET_USD else []
        table.add("kill -9 of a run with --budget", number, [*over, *filter(None, [billed.traceback])], KILLS_OF_EACH)


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
    """Print the table, on Ctrl-C that of what was done; exit 1 if anything did not hold."""
    chosen = random.randrange(1000) if seed is None else seed
    words, table = [word.strip() for word in only.split(",")], Table(verbose)
    say(f"seed {chosen}")
    for fault in FAULTS:
        if fault.lacks:
            say(f"{fault.name} is left out: {fault.lacks}")
    # a disk makes each kept answer wait, and no kill or full disk depends on what is below the files
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    place = tempfile.TemporaryDirectory(dir=memory, prefix="slant-faults-")
    with suppress(KeyboardInterrupt), place as folder, Engine(Path(folder)) as engine:  # Ctrl-C prints what was found
        for case in cases(number, chosen):
            if all(word in str(case) for word in words):
                table.add_case(case, engine.suffer(case))
        if not only:
            of_servers_and_batches(Path(folder), table, chosen)
            of_budgets(Path(folder), table, chosen)
    click.echo(table.text())
    sys.exit(1 if table.bad.total() else 0)


if __name__ == "__main__":
    main()
