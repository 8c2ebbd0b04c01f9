"""`make bench`: measure, print the table, write bench/results.json. About 25 minutes; --quick takes three.

python -m bench [--quick | --long] [--only NAME …]

Groups, and about how long each takes on two idle cores (--quick): speed 2 min, starts seconds, memory 1 min, resume,
slow, full_speed and while_read 1 min each, games 2 min, histories seconds (all of these together: 3 min); compare
1 min (20 s) and nothing 3 min (20 s) and growth 3 min (50 s) need R and ../shared/data; stopping 5 min (10 s) needs R;
executing 20 min (3 min) needs Dask; rows 2 min (20 s);
bridge 1 min (10 s) wants pandas for its baseline; profiles 2 min (20 s) needs R; view_pages 1
min (20 s); processes 2 min (30 s), merge 6 min (30 s), lake 20 min (1 min); views 10 min, most of it to make ten
million trials (20 s); bayes 15 min (5 min) needs brms and a compiler; truth 5 min (1 min; --long 80 min, brms
and rstan) needs R, and ends with exit code 1 where a claim does not hold.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable
from pathlib import Path

import click

from bench.bayes import bayes
from bench.collecting import full_speed, games, histories, memory, resume, slow, speed, starts, while_read
from bench.fitting import bridge, compare, growth, topics
from bench.imports import people, rows
from bench.many import executing, lake, merging, processes
from bench.measures import Measure, table
from bench.questions import nothing, stopping, words
from bench.tables import game_tables, profile_tables, view_pages, views, word_lists
from bench.truth import truth

RESULTS = Path(__file__).parent / "results.json"
NOISE = (
    "Rates and CPU times of one machine at one moment: other programs on it slow both sides, and not alike. "
    "What counts are the ratios of runs that took turns; repeat on a quiet machine before believing a NO."
)


def plan(*, quick: bool, long: bool) -> dict[str, Callable[[], list[Measure]]]:
    seconds = 12 if quick else 60
    rounds = 1 if quick else 5
    return {
        "speed": lambda: speed(rounds),
        "starts": lambda: starts(3 * rounds),
        "memory": lambda: memory(1 if quick else 3, whole=long),
        "resume": resume,
        "slow": lambda: slow(seconds),
        "full_speed": lambda: full_speed(seconds),
        "while_read": lambda: while_read(seconds),
        "games": lambda: games(quick=quick),
        "histories": histories,
        "game_tables": lambda: game_tables(1_000 if quick else 10_000),
        "profiles": lambda: profile_tables(100_000 if quick else 1_000_000),
        "topics": topics,
        "bayes": lambda: bayes(*((1, 10, 2) if quick else (3, 100, 6)), compiles=not quick),
        "compare": lambda: compare(rounds),
        "words": lambda: words(20 if quick else 1_000),
        "stopping": lambda: stopping(20 if quick else 500),
        "nothing": lambda: nothing(1_000, 50 if quick else 2_000),
        "truth": lambda: truth(50 if quick else 2_000 if long else 400, long=long),
        "growth": lambda: growth(1 if quick else 3),
        "executing": lambda: executing(*((1, 100, 20, 1_000) if quick else (3, 500, 100, 10_000))),
        "bridge": lambda: bridge(100_000 if quick else 1_000_000),
        "view_pages": lambda: view_pages(100_000 if quick else 1_000_000, 3 if quick else 7),
        "processes": lambda: processes(1 if quick else 3, 2 if quick else 8),
        "merge": lambda: merging(2_000 if quick else 125_000),
        "lake": lambda: lake(100_000 if quick else 10_000_000),
        "people": lambda: people(2_000 if quick else 100_000),
        "rows": lambda: rows(20_000 if quick else 1_000_000),
        "word_lists": lambda: word_lists(20_000 if quick else 1_000_000),
        "views": lambda: views(100_000 if quick else 10_000_000),
    }


@click.command()
@click.option("--quick", is_flag=True, help="Short runs, each once: to see that the measures work.")
@click.option(
    "--long",
    is_flag=True,
    help="Ask all of the million trials for the measure of memory (a quarter hour); 2,000 data sets for truth, and "
    "Bayesian ratings and learners of games of a hundred.",
)
@click.option(
    "--only",
    multiple=True,
    type=click.Choice([*plan(quick=True, long=False)]),
    help="Only this group of measures; may be given more than once.",
)
def main(quick: bool, long: bool, only: tuple[str, ...]) -> None:
    """Measure speed and memory against a bare loop or an ideal, next to a local server."""
    groups = plan(quick=quick, long=long)
    measures: list[Measure] = []
    for name in only or groups:
        click.echo(f"{name} …", err=True)
        measures += groups[name]()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    click.echo(table(measures))
    click.echo(
        f"\n{NOISE}\n{os.cpu_count()} cores, Python {platform.python_version()}, load average at the end {load}."
    )
    RESULTS.write_text(json.dumps([measure.row() for measure in measures], indent=1) + "\n", encoding="utf-8")
    if wrong := [measure.name for measure in measures if measure.error is not None and not measure.met]:
        raise SystemExit("Claims that do not hold, by more than two Monte Carlo errors: " + "; ".join(wrong))


if __name__ == "__main__":
    main()
