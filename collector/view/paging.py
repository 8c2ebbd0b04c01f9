"""Page by key: rows in an order, and those beyond one of them, whatever has come in between.

Any view of the database is shown so, in its own order or by a column.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
from duckdb import ColumnExpression, ConstantExpression, Expression

from slant.collector.errors import UnknownNameError, UsageError
from slant.collector.keep.view_heads import known_view, ordered_view, read_view_heads, view_names
from slant.collector.system.json_text import json_or


@dataclass(frozen=True)
class Order:
    """Order by columns, each with whether it falls; the last ones make a row unique. Unknown values always come
    last."""

    columns: tuple[tuple[str, bool], ...]

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.columns]

    def sorted(self, rows: duckdb.DuckDBPyRelation, *, is_backwards: bool = False) -> duckdb.DuckDBPyRelation:
        """Return the rows in this or reverse order."""
        keys = []
        for name, falls in self.columns:
            column = ColumnExpression(name)
            key = column.desc() if falls != is_backwards else column.asc()
            keys.append(key.nulls_first() if is_backwards else key.nulls_last())
        return rows.sort(*keys)

    def beyond(
        self,
        rows: duckdb.DuckDBPyRelation,
        key: Sequence[str | None],
        *,
        is_backwards: bool = False,
        with_itself: bool = False,
    ) -> duckdb.DuckDBPyRelation:
        """Return the rows after the one with this key, or before it. `key` has one text per column, as `key_of` returns
        it.
        """
        if len(key) != len(self.columns):
            raise UsageError(f"A place in this list has {len(self.columns)} parts, not {len(key)}.")
        types = dict(zip(rows.columns, rows.types, strict=True))
        condition = ConstantExpression(with_itself)
        for (name, falls), value in reversed(list(zip(self.columns, key, strict=True))):
            column = ColumnExpression(name)
            known = ConstantExpression(value).cast(types[name])
            if value is None:
                farther, level = (column.isnotnull() if is_backwards else ConstantExpression(False)), column.isnull()
            else:
                farther, level = (column < known if falls != is_backwards else column > known), column == known
                farther = farther if is_backwards else farther | column.isnull()
            condition = farther | (level & condition)
        return rows.filter(condition)

    def key_of(self, row: Mapping[str, Any]) -> str:
        """Return the place of a row in this order, as an address holds it."""
        values = [row[name] for name in self.names]
        return json.dumps([None if value is None else str(value) for value in values], separators=(",", ":"))


def read_key(text: str) -> list[str | None]:
    """Return the key in an address; UsageError if it is not one."""
    key = json_or(text)
    if not isinstance(key, list) or not all(part is None or isinstance(part, str) for part in key):
        raise UsageError("The address names a place in the list that can't be read.", "Go back to the first page.")
    return key


@dataclass(frozen=True)
class Page:
    """Hold some rows of a list, and the keys for finding those before and after; None if there are none."""

    rows: list[dict[str, Any]]
    before: str | None
    after: str | None


def page_of(
    rows: duckdb.DuckDBPyRelation,
    order: Order,
    size: int,
    query: Mapping[str, str],
    shown: Sequence[Expression] | None = None,
) -> Page:
    """Return the page that an address asks for: `after` or `before` a key, else the first. `shown` has the order's
    columns; None shows all columns.
    """
    is_backwards = "before" in query
    key = query.get("before") or query.get("after")
    part = order.beyond(rows, read_key(key), is_backwards=is_backwards) if key else rows
    of_page = order.sorted(part, is_backwards=is_backwards).limit(size + 1)
    chosen = rows_of(of_page if shown is None else of_page.select(*shown))
    has_more, chosen = len(chosen) > size, chosen[:size]
    if is_backwards:
        chosen.reverse()
    if not chosen:
        return Page([], None, None)
    has_before = has_more if is_backwards else key is not None
    has_after = has_more or is_backwards
    return Page(
        chosen, order.key_of(chosen[0]) if has_before else None, order.key_of(chosen[-1]) if has_after else None
    )


def between(name: str, rows: Sequence[Mapping[str, Any]]) -> Expression:
    """Return the condition that a column lies between the minimum and the maximum of these rows. DuckDB knows both for
    each part of a table, and skips parts without such rows; with a list of values it would read every column of every
    row first.
    """
    values, column = [row[name] for row in rows], ColumnExpression(name)
    return (column >= ConstantExpression(min(values))) & (column <= ConstantExpression(max(values)))


def rows_of(relation: duckdb.DuckDBPyRelation) -> list[dict[str, Any]]:
    names = relation.columns
    return [dict(zip(names, row, strict=True)) for row in relation.fetchall()]


ON_A_PAGE = 200
_FEW_TRIALS = 20_000  # up to this many are quickly ordered as the view has them
_AS_ASKED = ("run_id", "position")


def view_groups(connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """Return the views of the database: those about every study first, then by design; unknown ones at the end."""
    heads, groups = read_view_heads(), dict[str, list[str]]()
    for name in view_names(connection):
        design = next(iter(heads[name].designs), "every study") if name in heads else "not slant's"
        groups.setdefault(design, []).append(name)
    return dict(sorted(groups.items(), key=lambda group: (group[0] != "every study", group[0] == "not slant's", group)))


def page_of_view(
    connection: duckdb.DuckDBPyConnection, name: str, query: Mapping[str, str]
) -> tuple[Page, Order, list[tuple[str, bool]]]:
    """Return the rows, the order that they are in, and the columns, each with whether it holds numbers. A view that
    fits one page is in its own order, unless a column is chosen; a longer one goes by its grain.
    """
    rows = known_view(connection, name)
    columns = list(zip(rows.columns, map(_is_number, rows.types), strict=True))
    sort = query.get("sort", "")
    column = sort.removeprefix("-")
    if column and column not in rows.columns:
        raise UnknownNameError("column", column, rows.columns)
    head = read_view_heads().get(name)
    grain = [part for part in (head.grain if head else rows.columns) if part in rows.columns and part != column]
    order = Order(tuple([(column, sort.startswith("-"))] if column else []) + tuple((part, False) for part in grain))
    n_attempts = connection.execute("SELECT count(*) FROM attempts").fetchall()[0][0]
    if order.names == ["trial_id"] and n_attempts > _FEW_TRIALS:
        order = Order(tuple((part, False) for part in (*_AS_ASKED, "trial_id") if part in rows.columns))
        trials = connection.view("trials")
        if designs := head.designs if head else ():  # a view about these shows trials of their studies only
            studies = connection.execute("SELECT DISTINCT study FROM studies WHERE design IN ?", [designs]).fetchall()
            trials = trials.filter(ColumnExpression("study").isin(*(ConstantExpression(study) for (study,) in studies)))
        return _page_of_many(trials, rows, order, query), order, columns
    if not column and not {"after", "before"} & query.keys():
        few = rows_of(ordered_view(connection, name).limit(ON_A_PAGE + 1))
        if len(few) <= ON_A_PAGE:
            return Page(few, None, None), order, columns
    return page_of(rows, order, ON_A_PAGE, query), order, columns


def _page_of_many(
    trials: duckdb.DuckDBPyRelation, rows: duckdb.DuckDBPyRelation, order: Order, query: Mapping[str, str]
) -> Page:
    """Return a page of a view of trials, in the order of asking: such rows lie together. The view joins and orders all
    its rows before it gives any: so it is asked for some trials by their ids only, and for more if it shows too few of
    those.
    """
    is_backwards = "before" in query
    key = query.get("before") or query.get("after")
    places = trials.select(*order.names)
    places = order.beyond(places, read_key(key), is_backwards=is_backwards) if key else places
    places = order.sorted(places, is_backwards=is_backwards)
    for n_places in (ON_A_PAGE * factor for factor in (2, 20, 200)):
        chosen = rows_of(places.limit(n_places))
        if len(chosen) < n_places:
            break
        condition = ColumnExpression("trial_id").isin(*(ConstantExpression(place["trial_id"]) for place in chosen))
        for name in _AS_ASKED:  # limited to the range of these places
            if all(place.get(name) is not None for place in chosen):
                condition &= between(name, chosen)
        page = page_of(rows.filter(condition), order, ON_A_PAGE, query)
        if (page.before if is_backwards else page.after) is not None:
            return page
    return page_of(rows, order, ON_A_PAGE, query)


def _is_number(kind: object) -> bool:
    return str(kind).startswith(("BIGINT", "INTEGER", "DOUBLE", "HUGEINT", "DECIMAL", "FLOAT", "UBIGINT", "SMALLINT"))
