"""Permutation tests as the database keeps them (sql/migrations/0002_results.sql)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.analysis.questions.permutation.definition import BLOCK, Test
from slant.analysis.questions.permutation.jobs import Refit
from slant.collector.keep.database import reading, writing
from slant.collector.keep.frames import frame_of, registered

_S, _I, _F, _B = pl.String, pl.Int64, pl.Float64, pl.Boolean
REFITS: Mapping[str, Any] = {
    "number": _I, "seed": _I, "status": _S, "n_divergent": _I, "n_max_treedepth": _I, "is_singular": _B,
    "messages": _S, "seconds": _F,
}  # fmt: skip
_KINDS = [f"{kind}{end}" for kind in ("delta_p", "delta_p_items", "s") for end in ("", "_sd", "_mcse")]
CELLS: Mapping[str, Any] = {
    "number": _I, "model": _S, "domain": _S, **dict.fromkeys(_KINDS, _F), "rhat": _F, "ess_bulk": _F,
    "is_separated": _B,
}  # fmt: skip
_COUNTS = ("n", "n_failed", "n_divergent", "n_unconverged", "n_warned", "n_separated", "n_as_large")
_NULL = ("observed", "null_mean", "null_sd", "null_low", "null_median", "null_high")
_P = ("p_one_sided", "p_low", "p_high", "p_two_sided", "p_two_sided_low", "p_two_sided_high", "p_if_failed_large")
SUMMARY: dict[str, Any] = {
    **dict.fromkeys(("model", "domain", "kind", "scale"), _S), **dict.fromkeys(_NULL, _F), **dict.fromkeys(_COUNTS, _I),
    **dict.fromkeys(_P, _F), "noise_share": _F,
}  # fmt: skip
_TABLES = ("permutations", "permutation_refits", "permutation_draws", "permutation_cells")


def as_frames(refits: Iterable[Refit]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Refits as two frames in the order of their numbers: one row a refit, one row a refit and cell."""
    ordered = sorted(refits, key=lambda one: one["number"])
    rows = [
        {**dict.fromkeys(REFITS), **one["refit"], "messages": "\n".join(one["messages"]), "seconds": one["seconds"]}
        for one in ordered
    ]
    cells = [{**dict.fromkeys(CELLS), **cell} for one in ordered for cell in one["cells"]]
    return pl.DataFrame(rows, schema=dict(REFITS)), pl.DataFrame(cells, schema=dict(CELLS))


def stored_refits(db: str | Path, permutation_id: str) -> dict[int, Refit]:
    """What the database keeps of this test, by number; nothing where an older slant made the file."""
    with reading(db) as connection:
        if not _has_tables(connection):
            return {}
        refits, cells = (
            frame_of(connection.table(table).filter(f"permutation_id = '{permutation_id}'")).drop("permutation_id")
            for table in ("permutation_refits", "permutation_draws")
        )
    of_number = cells.sort("number", maintain_order=True).partition_by("number", as_dict=True)
    return {row["number"]: _as_refit(row, of_number.get((row["number"],), cells.clear())) for row in refits.to_dicts()}


def _as_refit(row: dict[str, Any], cells: pl.DataFrame) -> Refit:
    messages = row.pop("messages") or ""
    return {
        "number": row["number"], "seconds": row.pop("seconds"), "messages": messages.splitlines(), "refit": row,
        "cells": cells.to_dicts(),
    }  # fmt: skip


def _has_tables(connection: duckdb.DuckDBPyConnection) -> bool:
    there = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    return set(_TABLES) <= there


def keep(db: str | Path, test: Test, refits: Mapping[int, Refit], tests: pl.DataFrame) -> None:
    """Write one test in one transaction. It takes its own place, and that of the same test of earlier rows or code."""
    row = _run_row(test, refits)
    rows, cells = as_frames(refits.values())
    frames = dict(zip(_TABLES, (pl.DataFrame([row]), rows, cells, tests), strict=True))
    names = ("study", "fit", "engine", "source", "study_version", "variant", "seed", "settings")
    same = " AND ".join(f"{name} IS NOT DISTINCT FROM ?" for name in names)
    with writing(db) as connection:
        found = connection.execute(
            f"SELECT permutation_id FROM permutations WHERE {same}",  # noqa: S608
            [row[name] for name in names],
        ).fetchall()
        for table, frame in frames.items():
            connection.executemany(
                f"DELETE FROM {table} WHERE permutation_id = ?",  # noqa: S608
                [[test.id], *([old] for (old,) in found)],
            )
            named = frame.with_columns(pl.lit(test.id).alias("permutation_id"))
            with registered(connection, "new_rows", named):
                connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM new_rows")  # noqa: S608


def _run_row(test: Test, refits: Mapping[int, Refit]) -> dict[str, Any]:
    work = test.work
    return {
        "study": work.study, **{name: work.cell.key[name] for name in ("study_version", "source", "variant")},
        "fit": work.definition.name, "engine": test.engine, "formula": work.definition.formula, "block": BLOCK,
        "unit": test.unit, "within": ", ".join(test.within), "seed": test.seed, "n_permutations": len(refits) - 1,
        "settings": json.dumps(dict(test.settings), sort_keys=True), **test.counts(),
        "data_hash": work.cell.data_hash, "versions": json.dumps(test.versions),
        "seconds": sum(one["seconds"] for one in refits.values()),
        "finished_at": datetime.now(UTC).replace(tzinfo=None),
    }  # fmt: skip
