"""Everything that the database knows about one run and the earlier ones that it goes on from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from collector.errors import DatabaseError, UnknownNameError
from collector.store import reading

Row = Mapping[str, Any]
_SAME = ("source", "study", "study_version", "variant", "seed", "repetitions")


@dataclass(frozen=True)
class RunHistory:
    """`runs` are those that took part in the answers, oldest first, `run` is the last of them. `provenance` has a row
    for each of them and model; `outcomes` counts the trials; `n_failed` the attempts that ended none."""

    run: Row
    runs: Sequence[Row]
    models: Sequence[Row]
    tests: Sequence[Row]
    provenance: Sequence[Row]
    outcomes: Mapping[str, int]
    n_failed: int


def run_history(db: Path, name: str) -> RunHistory:
    """The run with this id ("latest": the last one). UnknownNameError for one that there is not."""
    with reading(db) as connection:
        try:
            return _read(connection, db, name)
        except (duckdb.CatalogException, duckdb.BinderException):
            hint = "Let go of it elsewhere, and see that it may be written: reading then brings it up to date."
            raise DatabaseError(f'"{db}" was made by an older slant and lacks what this needs.', hint) from None


def _read(connection: duckdb.DuckDBPyConnection, db: Path, name: str) -> RunHistory:
    runs = _rows(connection, "SELECT * FROM runs ORDER BY started_at, run_id", [])
    if not runs:
        raise DatabaseError(f'"{db}" holds no run yet.')
    known = {run["run_id"]: run for run in runs}
    run = runs[-1] if name == "latest" else known.get(name)
    if run is None:
        raise UnknownNameError("run", name, known, 'The last one is called "latest".')
    models = _rows(connection, "SELECT * FROM run_models WHERE run_id = ? ORDER BY place", [run["run_id"]])
    tests = _rows(connection, "SELECT * FROM run_tests WHERE run_id = ? ORDER BY place", [run["run_id"]])
    earlier = [r for r in runs if _is_same(r, run) and r["started_at"] <= run["started_at"]]
    holes = [[r["run_id"] for r in earlier], [model["model"] for model in models]]
    of_these = "list_contains(?, run_id) AND list_contains(?, model)"
    provenance = _rows(connection, f"SELECT * FROM run_provenance WHERE {of_these}", holes)  # noqa: S608
    counted = f"SELECT outcome, is_final, count(*) AS n FROM attempts WHERE {of_these} GROUP BY ALL"  # noqa: S608
    counts = _rows(connection, counted, holes)
    took_part = {row["run_id"] for row in provenance} | {run["run_id"]}
    return RunHistory(
        run, [r for r in earlier if r["run_id"] in took_part], models, tests, provenance,
        {row["outcome"]: row["n"] for row in counts if row["is_final"]},
        sum(row["n"] for row in counts if not row["is_final"]),
    )  # fmt: skip


def _is_same(one: Row, other: Row) -> bool:
    return all(one[key] == other[key] for key in _SAME)


def _rows(connection: duckdb.DuckDBPyConnection, query: str, holes: list[Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = connection.sql(query, params=holes or None).pl().to_dicts()
    return rows
