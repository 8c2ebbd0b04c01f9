"""Each table of sql/views/2_tables over ten million trials that trials.sql makes: how long it takes and what memory.

Making them takes minutes and 3 GB of disk. Name a file in the variable SLANT_BENCH_TRIALS to keep it for the next time.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from bench.measures import Measure, measured
from slant.analysis.rows.descriptive_tables import table_info
from slant.collector.keep.database import writing

TRIALS_SQL = Path(__file__).parent / "trials.sql"
LONGEST_S = 3.0
MOST_MB = 2000.0


def views(trials: int) -> list[Measure]:
    with tempfile.TemporaryDirectory() as folder:
        db = Path(os.environ.get("SLANT_BENCH_TRIALS") or Path(folder) / "trials.duckdb")
        if not db.exists():
            make(db, trials)
        with writing(db):
            pass  # views as they are now
        found = {name: measured("table", db, name)[name] for name in table_info()}
    size = f"{trials:,} trials"
    peak = max(found, key=lambda name: float(found[name]["peak_mb"]))
    return [
        *(Measure(f"{name}, {size}", row["wall_s"], "s", None, LONGEST_S, "value") for name, row in found.items()),
        Measure(f"most memory of a table ({peak})", found[peak]["peak_mb"], "MB", None, MOST_MB, "value"),
    ]


def make(db: Path, trials: int) -> None:
    with writing(db) as connection:
        connection.execute("SET threads = 2")
        connection.execute("SET VARIABLE trials = ?", [trials])
        connection.execute(TRIALS_SQL.read_text(encoding="utf-8"))
