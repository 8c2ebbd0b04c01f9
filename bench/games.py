"""Games of many rounds: 12 cells of 30 games of 40 rounds, 14,400 calls, against a local server.

    python -m bench.games URL DB CELLS IN_FLIGHT

`IN_FLIGHT` are the games at once in each cell. Prints wall_s and cpu_s of the whole run as JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import click

from bench.measures import Measure, measured, server
from slant.collector import Options, collect

CELLS, GAMES, ROUNDS = 12, 30, 40
LATENCY_S = 1.0


def games(*, quick: bool) -> list[Measure]:
    """Without latency, in seconds; and with one second, beside the least that rounds in order can take."""
    cells = 3 if quick else CELLS
    least_s = ROUNDS * LATENCY_S  # all games are in flight at once
    with server() as url, tempfile.TemporaryDirectory() as folder:
        at_once = measured("games", url, Path(folder) / "a.duckdb", cells, GAMES)
    with server(LATENCY_S) as url, tempfile.TemporaryDirectory() as folder:
        late = measured("games", url, Path(folder) / "a.duckdb", cells, GAMES)
    calls = cells * GAMES * ROUNDS
    return [
        Measure(f"{calls:,} calls of games, no latency", at_once["wall_s"], "s", None, 20 * cells / CELLS, "value"),
        Measure("processor time of one round", 1000 * at_once["cpu_s"] / calls, "ms", None, 1.2, "value"),
        Measure(f"{calls:,} calls of games, 1 s latency", late["wall_s"], "s", least_s, 1.15, "ratio"),
    ]


def run(url: str, db: str, cells: int, in_flight: int) -> dict[str, float]:
    began_s, cpu_s = time.perf_counter(), time.process_time()
    models = [f"local/m{number}" for number in range(cells)]
    report = collect(db, "hiring", models, base_url=url, options=Options(concurrency=in_flight))
    assert report.is_complete
    return {"wall_s": time.perf_counter() - began_s, "cpu_s": time.process_time() - cpu_s}


if __name__ == "__main__":
    click.echo(json.dumps(run(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
