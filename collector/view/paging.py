"""Page by key: rows in an order, and those beyond one of them, whatever has come in between."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
from duckdb import ColumnExpression, ConstantExpression, Expression

from slant.collector.errors import UsageError


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
    try:
        key = json.loads(text)
    except (ValueError, RecursionError):
        key = None
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
