"""Rows between DuckDB and Polars, over Arrow's C interface: neither needs pyarrow for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import duckdb
import polars as pl


class _Stream:
    """What Arrow's C interface wants of a source, and nothing else. DuckDB would ask for pyarrow if it saw a frame of
    Polars; Polars keeps the class of each source for good, and DuckDB complains at the end about its own being kept."""

    __slots__ = ("source",)

    def __init__(self, source: Any) -> None:
        self.source = source

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        return self.source.__arrow_c_stream__(requested_schema)


def frame_of(relation: duckdb.DuckDBPyRelation) -> pl.DataFrame:
    """All rows of a relation, in its order. Raises duckdb.Error where the query fails."""
    try:
        return pl.DataFrame(_Stream(relation))
    except pl.exceptions.ComputeError as error:  # the query failed on its way
        raise duckdb.DataError(str(error)) from error


@contextmanager
def registered(connection: duckdb.DuckDBPyConnection, name: str, frame: pl.DataFrame) -> Iterator[None]:
    """Meanwhile SQL on this connection can read the frame, without a copy, as the table `name`.

    A column without a type, for it holds nothing, is one of text: DuckDB refuses such columns of Polars.
    """
    connection.register(name, _Stream(frame.with_columns(pl.col(pl.Null).cast(pl.String))))
    try:
        yield
    finally:
        with suppress(duckdb.Error):  # in a transaction that has failed nothing goes any more; say what failed it
            connection.unregister(name)
