"""The tables of games over the rounds that game_rounds.sql makes: how long each takes, all indices among them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.measures import Measure, measured
from slant.analysis.rows.descriptive_tables import table_info
from slant.collector.keep.database import writing

ROUNDS_SQL = Path(__file__).parent / "game_rounds.sql"
LONGEST_S = 2.0


def game_tables(games: int) -> list[Measure]:
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "games.duckdb"
        with writing(db) as connection:
            connection.execute("SET VARIABLE games = ?", [games])
            connection.execute(ROUNDS_SQL.read_text(encoding="utf-8"))
        names = [name for name in table_info() if name.startswith("hiring_")]
        found = {name: measured("table", db, name) for name in names}
    return [
        Measure(f"{name}, {games:,} games", row["wall_s"], "s", None, LONGEST_S, "value") for name, row in found.items()
    ]
