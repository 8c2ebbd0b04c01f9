"""The rows that a permutation test gives to people: each with where it comes from, and what the main fit found."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.fitting.store import FIT_SCHEMA
from slant.analysis.questions.permutation.definition import Test
from slant.analysis.questions.permutation.jobs import Refit
from slant.analysis.questions.permutation.store import as_frames
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of

_CELL = ["model", "domain", "kind", "scale"]
_MAIN: dict[str, Any] = {**dict.fromkeys(_CELL, pl.String), "observed_main_fit": pl.Float64}


def as_tests(db: Path, test: Test, summary: pl.DataFrame) -> pl.DataFrame:
    """What R summed up, beside the difference that the study's own fit of the same rows found (null without one)."""
    main = _main_fit(db, test)
    placed = summary.join(main, on=_CELL, how="left", nulls_equal=True, maintain_order="left")
    names = [name for name in placed.columns if name != "observed_main_fit"]
    names.insert(names.index("observed") + 1, "observed_main_fit")
    return placed.select(*_where(test), *names)


def as_values(test: Test, refits: Iterable[Refit]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One row a refit and cell, and one row a refit."""
    rows, cells = as_frames(refits)
    values = cells.join(rows.select("number", "status"), on="number", how="left", maintain_order="left")
    return values.select(*_where(test), pl.all()), rows.select(*_where(test), pl.all())


def _where(test: Test) -> list[pl.Expr]:
    work = test.work
    columns = {
        "source": work.cell.key["source"], "study": work.study, "study_version": work.cell.key["study_version"],
        "variant": work.cell.key["variant"], "fit": work.definition.name, "engine": test.engine,
    }  # fmt: skip
    return [pl.lit(value).alias(name) for name, value in columns.items()]


def _main_fit(db: Path, test: Test) -> pl.DataFrame:
    """The latest of the study's own fits of these very rows, as the view permutation_main_fits chooses it."""
    table = f"{test.engine}_contrasts"
    with reading(db) as connection:
        there = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        if table not in there:
            return pl.DataFrame(schema=_MAIN)
        fits = frame_of(connection.table("fits")).cast(pl.Schema(FIT_SCHEMA))
        contrasts: pl.DataFrame = frame_of(connection.table(table))
    work = test.work
    its = fits.filter(
        pl.col("fit") == work.definition.name, pl.col("study") == work.study, pl.col("engine") == test.engine,
        pl.col("data_hash") == work.cell.data_hash, *(pl.col(name) == value for name, value in work.cell.key.items()),
    ).join(contrasts.select("fit_id").unique(), on="fit_id", how="semi")  # fmt: skip
    if its.is_empty():
        return pl.DataFrame(schema=_MAIN)
    latest = its.sort("fitted_at", "fit_id")["fit_id"].last()
    found = contrasts.filter(pl.col("fit_id") == latest).rename({"estimate": "observed_main_fit"})
    return found.select(list(_MAIN)).cast(pl.Schema(_MAIN))
