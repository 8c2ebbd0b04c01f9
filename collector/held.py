"""Which studies a database holds trials of, and the view that shows these."""

from __future__ import annotations

import duckdb

TRIALS = ("trials", "rounds")
"""How the view of a design's trials ends, after the name of the design."""
_NAMES = "SELECT DISTINCT study FROM attempts WHERE is_final ORDER BY study"
_ALL_ROUNDS = "SELECT bool_and(test = 'rounds' AND game IS NOT NULL) FROM trials"


def designs_in(connection: duckdb.DuckDBPyConnection) -> dict[str, str | None]:
    """The studies that a database holds trials of, by name, each with its design (None: no run says it)."""
    designs = dict(connection.execute("SELECT study, design FROM studies").fetchall())
    return {name: designs.get(name) for (name,) in connection.execute(_NAMES).fetchall()}


def trials_view(connection: duckdb.DuckDBPyConnection) -> str:
    """The view of the trials that a database holds: that of their design; `trials` where there are several designs, no
    trials yet, or games with questions outside of their rounds."""
    designs = set(designs_in(connection).values())
    if len(designs) != 1:
        return "trials"
    views = [name for (name,) in connection.execute("SELECT view_name FROM duckdb_views()").fetchall()]
    design = designs.pop()
    found = next((f"{design}_{ending}" for ending in TRIALS if f"{design}_{ending}" in views), "trials")
    if not found.endswith("_rounds"):
        return found
    return found if connection.execute(_ALL_ROUNDS).fetchone() == (True,) else "trials"
