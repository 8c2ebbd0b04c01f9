"""Pass rows between DuckDB and Polars, over Arrow's C interface, which needs no pyarrow; and write them so that other
tools read them right: times with their zone, exact whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
    """Return the rows of a relation, in its order. Raise duckdb.Error if the query fails."""
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


SAFE_MARK = "is_spreadsheet_safe"
"""Name the column by which a CSV says that texts have an apostrophe, and by which an import removes it."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Mark UTF-8 for spreadsheets, which otherwise show é as Ã©."""
_FORMULA = r"^'*[=+\-@\t\r\n]"
_FORMULA_SIGNS = "=+-@\t\r\n"
_ISO = "%Y-%m-%dT%H:%M:%S%.6fZ"
INSTANT = "TIMESTAMP WITH TIME ZONE"


def portable_values(relation: duckdb.DuckDBPyRelation, *, is_flat: bool = False) -> duckdb.DuckDBPyRelation:
    """Return the same rows: times as instants, and DuckDB's widest integers (sums) as decimals, for it would write them
    to Parquet as floats; `is_flat`: maps as DuckDB writes them, for readers of Parquet without nested columns.
    """
    kinds = zip(map(quoted_name, relation.columns), map(str, relation.types), strict=True)
    return relation.project(", ".join(_portable(name, kind, is_flat) for name, kind in kinds))


def _portable(name: str, kind: str, is_flat: bool) -> str:
    if kind == "HUGEINT":
        return f"{name}::DECIMAL(38, 0) AS {name}"
    if is_flat and kind.startswith("MAP"):
        return f"{name}::VARCHAR AS {name}"
    return f"make_timestamptz(epoch_us({name})) AS {name}" if kind == "TIMESTAMP" else name


def database_values(columns: Iterable[tuple[str, str]], maps: Mapping[str, str]) -> str:
    """Return a REPLACE clause of SQL that turns portable values of these columns (name, type) into the database's:
    instants into times, whatever zone the session has, and texts into `maps` (name, type); empty if there are none.
    """
    replaced = [
        f"make_timestamp(epoch_us({quoted_name(name)})) AS {quoted_name(name)}"
        if kind == INSTANT
        else f"{quoted_name(name)}::{maps[name]} AS {quoted_name(name)}"
        for name, kind in columns
        if kind == INSTANT or name in maps
    ]
    return f"REPLACE ({', '.join(replaced)})" if replaced else ""


def quoted_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def times_as_text(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Return instants as ISO 8601 in UTC: 2026-11-26T09:30:00.123456Z."""
    import polars as pl  # here: opening a database needs only the rest of this file

    names = [name for name, kind in frame.collect_schema().items() if isinstance(kind, pl.Datetime) and kind.time_zone]
    return frame.with_columns(pl.col(names).dt.convert_time_zone("UTC").dt.strftime(_ISO)) if names else frame


def safe_for_spreadsheets(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Put an apostrophe before each text that a spreadsheet would run as a formula, and add a column that says so."""
    import polars as pl

    text = pl.col(pl.String)
    marked = pl.when(text.str.contains(_FORMULA)).then("'" + text).otherwise(text).name.keep()
    return frame.with_columns(marked).with_columns(pl.lit(value=True).alias(SAFE_MARK))


def as_given(cells: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the cells of a row that `safe_for_spreadsheets` may have written, without its column and its
    apostrophes.
    """
    if SAFE_MARK not in cells:
        return cells
    rest = {name: cell for name, cell in cells.items() if name != SAFE_MARK}
    if str(cells[SAFE_MARK]).strip().lower() not in ("true", "1", "1.0"):
        return rest
    return {name: _without_apostrophe(cell) for name, cell in rest.items()}


def _without_apostrophe(cell: Any) -> Any:
    if isinstance(cell, str) and cell.startswith("'") and cell.lstrip("'")[:1] in tuple(_FORMULA_SIGNS):
        return cell[1:]
    return cell
