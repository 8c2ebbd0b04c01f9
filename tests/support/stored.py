"""What a database has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from slant.collector.keep.database import reading


def rows_in(db: str | Path, query: str, *given: Any) -> list[tuple[Any, ...]]:
    """The rows that a query gives, which may have parameters, when the database is opened for it alone."""
    with reading(db) as connection:
        return connection.execute(query, *given).fetchall()
