"""Keep looks at results for good: after how many trials each analysis of a cell was made.

Newer results replace older ones; a registration says how often one may look, so looks are kept next to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from slant.collector.errors import DatabaseError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of, registered
from slant.collector.system.shipped_files import sql_query


@dataclass(frozen=True)
class Look:
    """Hold one analysis of one cell, at `n_trials` trials, including those that it left out."""

    study: str
    source: str
    variant: str
    analysis: str
    model: str | None
    test: str | None
    n_trials: int


def new_looks(db: str | Path, looks: Iterable[Look]) -> dict[str, pl.DataFrame]:
    """Return the rows of the table `looks` that it lacks, by its name: `results(…, beside=)` writes them together with
    the results."""
    schema = {field.name: pl.Int64 if field.name == "n_trials" else pl.String for field in fields(Look)}
    rows = pl.DataFrame([asdict(look) for look in dict.fromkeys(looks)], schema=pl.Schema(schema))
    if rows.is_empty():
        return {}
    with (
        suppress(DatabaseError),
        reading(db) as connection,
        registered(connection, "looked_at", rows),
    ):
        new = frame_of(connection.sql(sql_query("new_looks")))
        now = datetime.now(UTC).replace(tzinfo=None)
        return {"looks": new.with_columns(looked_at=pl.lit(now))} if new.height else {}
    return {}
