"""Show attributes of a view as separate columns: the view has a map in SQL, for strangers chose their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

import duckdb
import polars as pl

ATTRIBUTES = "attributes"
PARTICIPANT = "participant"
FACTOR_LISTS = "factor_lists"
"""What views read of a trial's factors; files have `factors`, the same as one text."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def with_attributes(
    view: duckdb.DuckDBPyRelation, names: Iterable[str] | None = None
) -> tuple[duckdb.DuckDBPyRelation, frozenset[str]]:
    """Return a view with a column for each of these names (None: for all) that is not its column but a key of its map
    `attributes`; and which these are. A view without such a map is returned unchanged.
    """
    if ATTRIBUTES not in view.columns:
        return view, frozenset()
    wanted = None if names is None else {name for name in names if name not in view.columns}
    if wanted is not None and not wanted:
        return view, frozenset()
    keys = view.project(f"unnest(map_keys({ATTRIBUTES})) AS key").distinct().order("key").fetchall()
    known = [key for (key,) in keys if _NAME.fullmatch(key) and key not in view.columns]
    found = [name for name in known if wanted is None or name in wanted]
    columns = [f"map_extract({ATTRIBUTES}, '{name}')[1] AS \"{name}\"" for name in found]
    return (view.project(", ".join(("*", *columns))) if found else view), frozenset(found)


def with_people(
    connection: duckdb.DuckDBPyConnection, view: duckdb.DuckDBPyRelation, names: Iterable[str]
) -> tuple[duckdb.DuckDBPyRelation, frozenset[str]]:
    """Return a view with attributes of participants as columns, and their names. A column is added for each of these
    names that the view lacks and that participants have as attribute (view `participants`). A view without participants
    comes back as it is.
    """
    wanted = {name for name in names if name not in view.columns and _NAME.fullmatch(name)}
    if not wanted or not {"study", PARTICIPANT} <= set(view.columns):
        return view, frozenset()
    people = connection.view("participants")
    keys = people.project(f"unnest(map_keys({ATTRIBUTES})) AS key").distinct().order("key").fetchall()
    found = [key for (key,) in keys if key in wanted]
    if not found:
        return view, frozenset()
    columns = [f"map_extract({ATTRIBUTES}, '{name}')[1] AS \"{name}\"" for name in found]
    of_people = people.project(", ".join(("study", PARTICIPANT, *columns)))
    return view.join(of_people, f"study, {PARTICIPANT}", how="left"), frozenset(found)


def attributes_apart(view: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Return a view without its maps, which no CSV can hold: with a column for each of its attributes, and without
    the factors that views read.
    """
    spread, _ = with_attributes(view)
    rest = [f'"{name}"' for name in spread.columns if name not in (ATTRIBUTES, FACTOR_LISTS)]
    return spread.project(", ".join(rest)) if len(rest) < len(spread.columns) else view


def with_numbers(frame: pl.DataFrame, names: Collection[str]) -> pl.DataFrame:
    """Return the frame with these text columns as numbers if they hold nothing but numbers."""
    for name in names:
        if name in frame.columns:
            numbers = frame[name].cast(pl.Float64, strict=False)
            if numbers.null_count() == frame[name].null_count() and frame[name].null_count() < frame.height:
                frame = frame.with_columns(numbers.alias(name))
    return frame
