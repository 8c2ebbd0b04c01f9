"""Read the attempts of a database and those in its journals that it has not loaded yet, as one.

Find which studies a database holds trials of, and the view that shows them.

Show attributes of a view as separate columns: the view has a map in SQL, for strangers chose their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.collector.errors import DatabaseEmptyError, JournalError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of, registered
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import journal_name, journal_paths, journal_size, whole_lines
from slant.collector.keep.journal_lines import Parsed, parse
from slant.collector.keep.journal_loader import CHUNK_BYTES, offsets_in
from slant.collector.keep.view_heads import read_view_heads, view_names

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
    if not keys and not view.limit(1).fetchall():  # without a row no name can be told from a wrong one
        keys = [(name,) for name in sorted(wanted or ())]
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


TRIALS = ("trials", "rounds")
"""End the name of a design's view of trials with this."""
_NAMES = "SELECT DISTINCT study FROM attempts WHERE is_final ORDER BY study"
_COUNTS = (
    "SELECT count(*) FILTER (is_round), count(*) FILTER (NOT is_round) FROM (SELECT coalesce(test = 'rounds' AND game "
    "IS NOT NULL, false) AS is_round FROM trials WHERE list_contains(?::VARCHAR[], study))"
)


def designs_in(connection: duckdb.DuckDBPyConnection) -> dict[str, str | None]:
    """Return the studies that a database holds trials of, by name, each with its design (None if no run says it)."""
    designs = dict(connection.execute("SELECT study, design FROM studies ORDER BY study, study_version").fetchall())
    return {name: designs.get(name) for (name,) in connection.execute(_NAMES).fetchall()}


def trials_view(connection: duckdb.DuckDBPyConnection, study: str | None = None) -> str:
    """Return the view of the trials that a database holds (of `study`, if one is named): that of their design, for
    games their rounds; `trials` if there are several designs, no trials yet, or games without a played round.
    """
    present = designs_in(connection)
    designs = {present[study]} if study in present else set(present.values())
    if len(designs) != 1:
        return "trials"
    views, design = view_names(connection), designs.pop()
    view = next((f"{design}_{ending}" for ending in TRIALS if f"{design}_{ending}" in views), "trials")
    return view if not view.endswith("_rounds") or _rounds_and_others(connection, study)[0] else "trials"


def has_more_than_rounds(connection: duckdb.DuckDBPyConnection, study: str | None = None) -> bool:
    """Return whether games (of `study`, or all) have questions besides rounds, which a view of rounds does not show."""
    return _rounds_and_others(connection, study)[1] > 0


def has_parts(connection: duckdb.DuckDBPyConnection, view: str, study: str | None = None) -> bool:
    """Return whether a view of trials has several rows for one trial (of `study`, or all): answers given
    together.
    """
    head = read_view_heads().get(view)
    if head is None or head.grain[:1] != ("trial_id",) or len(head.grain) == 1:
        return False
    rows = connection.view(view)
    rows = rows if study is None else rows.filter(duckdb.ColumnExpression("study") == duckdb.ConstantExpression(study))
    n, n_trials = rows.aggregate("count(*), count(DISTINCT trial_id)").fetchall()[0]
    return int(n) > int(n_trials)


def _rounds_and_others(connection: duckdb.DuckDBPyConnection, study: str | None) -> tuple[int, int]:
    names = list(designs_in(connection)) if study is None else [study]
    rounds, others = connection.execute(_COUNTS, [names]).fetchall()[0]
    return int(rounds), int(others)


ROWS_AT_ONCE = 200_000


def attempts_where(db: Path, condition: str, values: Mapping[str, Any], columns: str) -> Iterator[pl.DataFrame]:
    """Yield `columns` (as in SELECT, including sums) of the attempts under an SQL condition with its `values`, in
    parts: those in the database, then those that it has not loaded. Counts and sums must be added up over the parts."""
    query = f"SELECT {columns} FROM attempts WHERE ({condition})"  # noqa: S608 - both are texts of the callers' own
    offsets: Mapping[str, int] = {}
    if db.exists():
        with suppress(DatabaseEmptyError), reading(db) as connection:
            offsets = offsets_in(connection)
            n_rows = connection.execute("SELECT max(rowid) + 1 FROM attempts").fetchall()[0][0] or 0
            for first in range(0, n_rows, ROWS_AT_ONCE):
                part = {**values, "first": first, "end": first + ROWS_AT_ONCE}
                yield frame_of(connection.sql(f"{query} AND rowid >= $first AND rowid < $end", params=part))
    for lines in unloaded_lines(db, offsets):
        with duckdb.connect(":memory:") as scratch, registered(scratch, "attempts", lines.attempts):
            yield frame_of(scratch.sql(query, params=dict(values)))


def unloaded_lines(db: Path, offsets: Mapping[str, int]) -> Iterator[Parsed]:
    """Yield the lines that the journals hold after these offsets (see `offsets_in`). Damage is reported when a journal
    is loaded."""
    for path in journal_paths(journal_folder(db)):
        offset = offsets.get(journal_name(path), 0)
        with suppress(JournalError):
            for _, data in whole_lines(path, offset, CHUNK_BYTES) if journal_size(path) > offset else ():
                yield parse(data)
