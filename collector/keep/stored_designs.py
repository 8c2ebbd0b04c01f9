"""Find which studies a database holds trials of, and the view that shows them."""

from __future__ import annotations

import duckdb

from slant.collector.keep.view_heads import read_view_heads, view_names

TRIALS = ("trials", "rounds")
"""End the name of a design's view of trials with this."""
_NAMES = "SELECT DISTINCT study FROM attempts WHERE is_final ORDER BY study"
_COUNTS = (
    "SELECT count(*) FILTER (is_round), count(*) FILTER (NOT is_round) FROM (SELECT coalesce(test = 'rounds' AND game "
    "IS NOT NULL, false) AS is_round FROM trials WHERE list_contains(?::VARCHAR[], study))"
)


def designs_in(connection: duckdb.DuckDBPyConnection) -> dict[str, str | None]:
    """Return the studies that a database holds trials of, by name, each with its design (None if no run says it)."""
    designs = dict(connection.execute("SELECT study, design FROM studies ORDER BY study, study_version").fetchall())
    return {name: designs.get(name) for (name,) in connection.execute(_NAMES).fetchall()}


def trials_view(connection: duckdb.DuckDBPyConnection, study: str | None = None) -> str:
    """Return the view of the trials that a database holds (of `study`, if one is named): that of their design, for
    games their rounds; `trials` if there are several designs, no trials yet, or games without a played round.
    """
    present = designs_in(connection)
    designs = {present[study]} if study in present else set(present.values())
    if len(designs) != 1:
        return "trials"
    views, design = view_names(connection), designs.pop()
    view = next((f"{design}_{ending}" for ending in TRIALS if f"{design}_{ending}" in views), "trials")
    return view if not view.endswith("_rounds") or _rounds_and_others(connection, study)[0] else "trials"


def has_more_than_rounds(connection: duckdb.DuckDBPyConnection, study: str | None = None) -> bool:
    """Return whether games (of `study`, or all) have questions besides rounds, which a view of rounds does not show."""
    return _rounds_and_others(connection, study)[1] > 0


def has_parts(connection: duckdb.DuckDBPyConnection, view: str, study: str | None = None) -> bool:
    """Return whether a view of trials has several rows for one trial (of `study`, or all): answers given
    together.
    """
    head = read_view_heads().get(view)
    if head is None or head.grain[:1] != ("trial_id",) or len(head.grain) == 1:
        return False
    rows = connection.view(view)
    rows = rows if study is None else rows.filter(duckdb.ColumnExpression("study") == duckdb.ConstantExpression(study))
    n, n_trials = rows.aggregate("count(*), count(DISTINCT trial_id)").fetchall()[0]
    return int(n) > int(n_trials)


def _rounds_and_others(connection: duckdb.DuckDBPyConnection, study: str | None) -> tuple[int, int]:
    names = list(designs_in(connection)) if study is None else [study]
    rounds, others = connection.execute(_COUNTS, [names]).fetchall()[0]
    return int(rounds), int(others)
