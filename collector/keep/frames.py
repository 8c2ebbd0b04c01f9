"""Pass rows between DuckDB and Polars, over Arrow's C interface: neither needs pyarrow for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import duckdb

if TYPE_CHECKING:
    import polars as pl


class _Stream:
    """Offer what Arrow's C interface wants of a source, and nothing else. DuckDB would ask for pyarrow if it saw a
    Polars frame; Polars keeps the class of each source for good, and DuckDB complains at exit if its own is kept."""

    __slots__ = ("source",)

    def __init__(self, source: Any) -> None:
        self.source = source

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        return self.source.__arrow_c_stream__(requested_schema)


def frame_of(relation: duckdb.DuckDBPyRelation) -> pl.DataFrame:
    """Return all rows of a relation, in its order. Raise duckdb.Error if the query fails."""
    import polars as pl

    try:
        return pl.DataFrame(_Stream(relation))
    except pl.exceptions.ComputeError as error:  # the query failed on its way
        raise duckdb.DataError(str(error)) from error


@contextmanager
def registered(connection: duckdb.DuckDBPyConnection, name: str, frame: pl.DataFrame) -> Iterator[None]:
    """Let SQL on this connection read the frame, without a copy, as the table `name` inside the block.

    A column that holds nothing, and so has no type, becomes text: DuckDB refuses such Polars columns.
    """
    import polars as pl

    connection.register(name, _Stream(frame.with_columns(pl.col(pl.Null).cast(pl.String))))
    try:
        yield
    finally:
        with suppress(duckdb.Error):  # a failed transaction accepts nothing more; the failure itself should be reported
            connection.unregister(name)
