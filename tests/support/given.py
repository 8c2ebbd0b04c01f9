"""Databases for tests: rows of `attempts` and `runs` in which only what matters to the test is written down."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.collector.keep.database import writing
from slant.collector.keep.frames import registered
from slant.collector.keep.schema import migration_texts
from slant.collector.keep.view_heads import make_views, view_texts
from slant.collector.records import Attempt
from slant.collector.system.shipped_files import sql_query

Row = Mapping[str, Any]
_USUAL = {
    "run_id": "r1", "conversation_id": "c", "turn": 1, "try_no": 1, "is_final": True, "source": "simulated",
    "study": "rmiat", "study_version": "v1", "variant": "base", "model": "o3-mini", "provider": "simulated",
    "requested_model": "o3-mini", "repetition": 1, "test": "flowers_insects", "condition": "compatible",
    "item": "aster", "group": "Flowers", "wording": 1, "option_a": "Pleasant", "option_b": "Unpleasant",
    "expected": "Pleasant", "outcome": "answered", "answer": "Pleasant", "choice": "Pleasant", "tokens": 64,
    "token_source": "usage",
}  # fmt: skip
_columns: dict[str, tuple[str, ...]] = {}  # of views that read a variable; asking for them takes a while
COLUMNS = tuple(Attempt.__dataclass_fields__)
_CONDITIONS = {
    "association": ("compatible", "incompatible"),
    "forced_choice": ("congruent", "incongruent"),
    "pairing": ("replication", "sorting"),
    "decision": ("colleagues", "alone"),
    "factorial": ("plain", "formal"),
    "coding": ("agreement", "undecided"),
    "observed": (),
}
_PARTS = ("models", "tests", "conditions")
_DESIGNS = {
    "rmiat": "association",
    "interference": "forced_choice",
    "word_association": "pairing",
    "workshops": "decision",
    "shops": "factorial",
    "decision": "decision",
    "workshops_coding": "coding",
    "contests": "observed",
}


def attempt(number: int, row: Row) -> dict[str, Any]:
    """A whole row of `attempts`: the usual one, with what `row` says instead."""
    own = {"attempt_id": f"a{number}", "sequence": number, "trial_id": f"t{number}", "position": number}
    whole = {**dict.fromkeys(COLUMNS), **_USUAL, **own, **row}
    assert set(whole) == set(COLUMNS), f"no such column: {set(whole) - set(COLUMNS)}"
    return whole


def insert(
    connection: duckdb.DuckDBPyConnection, attempts: Iterable[Row], runs: Iterable[Row] = (), checks: Iterable[Row] = ()
) -> None:
    """Rows into `attempts`, and runs with the lists `models`, `tests`, `conditions` and `pace` into their tables.

    A run that nobody gives is made for each study and version of the attempts: views want to know the design.
    """
    tables: dict[str, list[dict[str, Any]]] = {name: [] for name in ("runs", *(f"run_{part}" for part in _PARTS))}
    tables["pace_history"] = []
    tables["checks"] = [dict(check) for check in checks]
    rows = [attempt(n, row) for n, row in enumerate(attempts, 1)]
    for run in _with_designs(list(runs), rows):
        tables["runs"].append({key: value for key, value in run.items() if key not in (*_PARTS, "pace")})
        tables["pace_history"] += [{"run_id": run["run_id"], **row} for row in run.get("pace") or []]
        for part in _PARTS:
            listed = enumerate(run.get(part) or [], 1)
            tables[f"run_{part}"] += [{"run_id": run["run_id"], "place": place, **row} for place, row in listed]
    tables["attempts"] = rows
    for table, rows in tables.items():
        fill(connection, table, rows)


def _with_designs(runs: list[Row], attempts: list[dict[str, Any]]) -> list[Row]:
    taken = {run["run_id"] for run in runs}
    known = {(run.get("study"), run.get("study_version")) for run in runs}
    for row in attempts:
        its = {name: row[name] for name in ("study", "study_version", "source")}
        if (its["study"], its["study_version"]) not in known:
            known.add((its["study"], its["study_version"]))
            is_free = row["run_id"] not in taken
            run_id = row["run_id"] if is_free else f"{row['run_id']}-{its['study']}-{its['study_version']}"
            taken.add(run_id)
            runs.append({"run_id": run_id, **its})
    found: list[Row] = []
    for run in runs:
        design = run.get("design") or _DESIGNS.get(run.get("study", "rmiat"), "allocation")
        conditions = [{"condition": one} for one in _CONDITIONS.get(design, ())]
        rule = "exact_label" if run.get("study", "rmiat") == "rmiat" else "outcome"
        found.append({"design": design, "conditions": conditions, "refusal_rule": rule, **run})
    return found


def fill(connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Row]) -> None:
    texts = [{key: _text(value) for key, value in row.items() if value is not None} for row in rows]
    if texts:  # no column has a default: what no row has is NULL
        frame = pl.DataFrame(texts, schema=dict.fromkeys(chain.from_iterable(texts), pl.String))
        rows_query = sql_query("typed_rows") if "factors" in frame.columns else "FROM new_rows"
        with registered(connection, "new_rows", frame):
            connection.execute(f"INSERT INTO {table} BY NAME {rows_query}")


def fill_variable(connection: duckdb.DuckDBPyConnection, name: str, rows: Iterable[Row]) -> None:
    """The variable that the view `name` reads (a study's print, its plan) is set to these rows."""
    columns = _columns_of(connection, name)
    texts = [{column: _text(row.get(column)) for column in columns} for row in rows]
    with registered(connection, "given_rows", pl.DataFrame(texts, schema=dict.fromkeys(columns, pl.String))):
        connection.execute(f"SET VARIABLE {name} = (SELECT list(given) FROM given_rows given)")  # noqa: S608


def _columns_of(connection: duckdb.DuckDBPyConnection, name: str) -> tuple[str, ...]:
    if name not in _columns:
        _columns[name] = tuple(column for column in connection.view(name).columns if column != "name")
    return _columns[name]


def fill_result(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Row], call_id: str = "c1", **call: Any
) -> None:
    """Rows of a table of results, and the call that they are of."""
    fill(connection, table, [{"call_id": call_id, **row} for row in rows])
    fill(connection, "calls", [{"call_id": call_id, **call}])


def _text(value: Any) -> str | None:
    return json.dumps(value) if isinstance(value, (dict, list)) else None if value is None else str(value)


def database(path: Path, attempts: Iterable[Row], runs: Iterable[Row] = ()) -> Path:
    """A database file with these rows, made as the collector makes it."""
    with writing(path) as connection:
        insert(connection, attempts, runs)
    return path


@contextmanager
def in_memory() -> Iterator[duckdb.DuckDBPyConnection]:
    """The tables and views alone, made once: whoever asks gets them empty, and what it puts into them goes with it."""
    connection = _tables_and_views().cursor()
    try:
        connection.begin()
        yield connection
    finally:
        connection.close()  # rolls back


@cache
def _tables_and_views() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config={"threads": 1})
    for text in migration_texts():
        connection.execute(text)
    make_views(connection, view_texts())
    return connection


def read_rows(file: Path) -> list[dict[str, str | None]]:
    """Rows of a case: an empty cell is the usual value (left out), NULL is null, '' is an empty text."""
    if not file.exists():
        return []
    special: dict[str, str | None] = {"NULL": None, "''": ""}
    with file.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(line for line in lines if not line.startswith("#"))
        return [{key: special.get(cell, cell) for key, cell in row.items() if cell != ""} for row in rows]
