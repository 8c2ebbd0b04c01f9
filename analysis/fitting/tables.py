"""The tables that an engine keeps beside estimates and variances. The engine's row names them; here is what is done
with them, the same for every engine: they come from R, are joined by `fit_id`, and lie in the database as PREFIX_….
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import duckdb
import polars as pl

from slant.collector.keep.frames import frame_of

Frames = Mapping[str, pl.DataFrame]


@dataclass(frozen=True)
class KeptTables:
    """By name, the columns of each table beside `fit_id`; in the database it is called `prefix`_name.

    `named` gives our name for a table where R's is another one. `are_of_cells`: a row that names no model or domain is
    of those of its fit, rather than of all together.
    """

    prefix: str = ""
    schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    are_of_cells: bool = True
    named: Mapping[str, str] = field(default_factory=lambda: {"model": "models"})

    def in_database(self, name: str) -> str:
        return f"{self.prefix}_{name}"

    def empty(self) -> dict[str, pl.DataFrame]:
        return {name: pl.DataFrame(schema={"fit_id": pl.String, **schema}) for name, schema in self.schemas.items()}

    def of_fit(self, fit_id: str, found: Frames, alike: Mapping[str, str]) -> dict[str, pl.DataFrame]:
        """What an R function returned as `tables`, with the id of its fit and the types of the database.

        A factor that is no part of the model has no column: `alike` says which value all rows had, where they did.
        """
        named = {self.named.get(name, name): frame for name, frame in found.items()}
        return {
            name: named[name]
            .with_columns(pl.lit(alike.get(c)).alias(c) for c in schema if c not in named[name].columns)
            .select(pl.lit(fit_id).alias("fit_id"), *(pl.col(c).cast(t) for c, t in schema.items()))
            for name, schema in self.schemas.items()
        }

    def stacked(self, parts: Iterable[Frames]) -> dict[str, pl.DataFrame]:
        frames = [self.empty(), *parts]
        return {name: pl.concat([part[name] for part in frames]) for name in self.schemas}

    def read(self, connection: duckdb.DuckDBPyConnection) -> dict[str, pl.DataFrame]:
        """All that a database keeps, in the order in which it was kept; nothing where an older slant made the file."""
        there = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
        if not {self.in_database(name) for name in self.schemas} <= there:
            return self.empty()
        frames = {name: frame_of(connection.table(self.in_database(name)).order("rowid")) for name in self.schemas}
        kinds = {name: pl.Schema({"fit_id": pl.String, **schema}) for name, schema in self.schemas.items()}
        return {name: frame.cast(kinds[name]) for name, frame in frames.items()}


def chosen(frames: Frames, order: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The rows of these fits, in this order of `fit_id`."""
    return {
        name: order.join(frame, on="fit_id", how="inner", maintain_order="left_right")
        for name, frame in frames.items()
    }  # fmt: skip
