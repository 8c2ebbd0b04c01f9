"""`make test-faults`: two hundred kills at random moments, and the table of all faults.

python -m tests.support.fault_table [--kills 200] [--seed 1]
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from tests.support.batching import MODELS
from tests.support.fault_cases import FAULTS
from tests.support.fault_run import Suffered, full_disk, held_database, suffer_all, two_collectors
from tests.support.kill_batches import killed_batches
from tests.support.kill_runs import IN_FLIGHT, killed

HEAD = "| case | tries | lost | doubled | asked again |\n|---|---|---|---|---|"


@contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """A file system of 8 MB; None where this user may not mount one."""
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    is_mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    yield folder if is_mounted else None
    if is_mounted:
        subprocess.run(["umount", str(folder)], check=True)


def machine_faults(folder: Path) -> dict[str, Suffered]:
    places = {name: folder / name for name in ("disk", "larger", "held", "two")}
    for name in ("disk", "held", "two"):
        places[name].mkdir()
    found = {}
    with small_disk(places["disk"]) as disk:
        if disk is not None:
            found["disk full in the journal, then on with more room"] = full_disk(disk, places["larger"])
    found["database held by another process for 5 s"] = held_database(places["held"], 5.0)
    found["two collectors on one database"] = two_collectors(places["two"])
    return found


def row(name: str, one: Suffered) -> str:
    return f"| {name} | {one.tries:,} | {one.lost} | {one.doubled} | {one.again} |"


def is_bad(one: Suffered, most_again: int | None = None) -> bool:
    too_often = most_again is not None and one.again > most_again
    return bool(one.lost or one.doubled or one.left or too_often)


def say(text: str) -> None:
    click.echo(text, err=True)


@click.command()
@click.option("--kills", type=int, default=200, show_default=True)
@click.option("--seed", type=int, default=None, help="Repeats the moments of an earlier table.")
def main(kills: int, seed: int | None) -> None:
    """Print the table; exit 1 where anything was lost, doubled or left."""
    chosen = random.randrange(10**6) if seed is None else seed
    say(f"seed {chosen}")
    with tempfile.TemporaryDirectory() as folder:
        places = [Path(folder) / name for name in ("faults", "machine", "kills")]
        for place in places:
            place.mkdir()
        found = suffer_all(FAULTS, places[0]) | machine_faults(places[1])
        bad = [name for name, one in found.items() if is_bad(one)]
        click.echo("\n".join([HEAD, *(row(name, one) for name, one in found.items())]))
        if kills:
            after = killed(places[2], kills, chosen, say)
            click.echo(row(f"kill -9, {kills} times, {IN_FLIGHT} in flight", after))
            bad += ["kill -9"] if is_bad(after, kills * IN_FLIGHT) else []
            for provider in MODELS:
                (place := places[2] / provider).mkdir()
                after = killed_batches(place, provider, kills // 4, chosen, say)
                click.echo(row(f"kill -9 of --batch at {provider}, {kills // 4} times", after))
                bad += [f"kill -9 of --batch at {provider}"] if is_bad(after, 0) else []
    for name in bad:
        say(f"Not as it must be: {name}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
