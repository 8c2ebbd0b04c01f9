"""Indices, levels of chance and comparisons as the database keeps them (sql/migrations/0002_results.sql)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.fitting.store import is_same_versions
from slant.collector.errors import DatabaseError
from slant.collector.keep.database import reading, writing
from slant.collector.keep.frames import frame_of, registered

_S, _I, _F, _T = pl.String, pl.Int64, pl.Float64, pl.Datetime("us")
CHANCE: Mapping[str, Any] = {
    "n_rounds": _I,
    "n_groups": _I,
    "class_sizes": _S,
    "is_balanced": pl.Boolean,
    "n_games": _I,
}
LEVELS: dict[str, Any] = {
    **CHANCE, "index": _S, "level": _F, "level_low": _F, "level_high": _F, "n_cells": _I, "seed": _I, "versions": _S,
    "made_at": _T,
}  # fmt: skip
CELL: Mapping[str, Any] = dict.fromkeys(("source", "study", "study_version", "variant", "model"), _S)
_INTERVALS = ("estimate", "sd", "conf_low", "conf_high", "boot_low", "boot_high")
_RANDOM = ("random_level", "random_low", "random_high")
GAME_INDICES: dict[str, Any] = {
    **CELL, "answer_format": _S, "index": _S, "n_games": _I, "n_incomplete": _I, **dict.fromkeys(_INTERVALS, _F),
    **dict.fromkeys(_RANDOM, _F), "n_boot": _I, "seed": _I, "data_hash": _S, "versions": _S, "made_at": _T,
}  # fmt: skip
_WHOSE = ("source", "study", "study_version", "between", "model", "variant", "answer_format", "condition", "reference")
COMPARISON: Mapping[str, Any] = dict.fromkeys(_WHOSE, _S)
DIFFERENCES: dict[str, Any] = {
    **COMPARISON, "index": _S, "n_games": _I, "n_games_reference": _I, "difference": _F, "boot_low": _F,
    "boot_high": _F, "p_value": _F, "n_comparisons": _I, "p_adjusted": _F, "adjust": _S, "n_draws": _I, "seed": _I,
    "data_hash": _S, "versions": _S, "made_at": _T,
}  # fmt: skip
SCHEMAS = {"random_levels": LEVELS, "game_indices": GAME_INDICES, "game_differences": DIFFERENCES}
KEYS = {"random_levels": tuple(CHANCE), "game_indices": tuple(CELL), "game_differences": (*COMPARISON, "index")}
"""The columns whose rows a new result takes the place of."""

Rows = list[dict[str, Any]]
Kept = dict[tuple[Any, ...], Rows]


def kept(db: str | Path, table: str) -> Kept:
    """The rows of a table by its key; none where an older slant made the file."""
    with reading(db) as connection:
        there = connection.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = ?", [table]).fetchall()
        rows = frame_of(connection.table(table).order("rowid")).to_dicts() if there else []
    found: Kept = {}
    for row in rows:
        found.setdefault(key_of(table, row), []).append(row)
    return found


def key_of(table: str, row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in KEYS[table])


def is_unchanged(rows: Rows, made_by: Mapping[str, str], **wanted: Any) -> bool:
    """Whether kept rows are what the same games, settings, R code and version of R would give again.

    Where R is missing here, `made_by` has no "R", and nothing better could be made.
    """
    if not rows or any(row[name] != value for row in rows for name, value in wanted.items()):
        return False
    then = json.loads(rows[0]["versions"] or "{}")
    is_made_alike = "R" not in made_by or is_same_versions({"R": then.get("R", "")}, {"R": made_by["R"]})
    return is_made_alike and then.get("definition") == made_by["definition"]


def stamp(made_by: Mapping[str, str]) -> dict[str, Any]:
    """The last columns of a new row."""
    return {"versions": json.dumps(dict(made_by)), "made_at": datetime.now(UTC).replace(tzinfo=None)}


def keep(db: str | Path, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> str | None:
    """Write new rows, by table, in one transaction; they take the place of those of the same key.

    Returns why they could not be kept, None where they were: numbers are worth seeing all the same.
    """
    frames = {table: pl.DataFrame(list(its), schema=SCHEMAS[table]) for table, its in rows.items() if its}
    if not frames:
        return None
    try:
        with writing(db) as connection:
            for table, frame in frames.items():
                same = " AND ".join(f"n.{name} IS NOT DISTINCT FROM {table}.{name}" for name in KEYS[table])
                with registered(connection, "new_rows", frame):
                    connection.execute(f"DELETE FROM {table} USING new_rows n WHERE {same}")  # noqa: S608
                    connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM new_rows")  # noqa: S608
    except DatabaseError as error:
        return str(error)
    return None
