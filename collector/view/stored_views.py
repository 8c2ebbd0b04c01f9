"""Any view of the database: its rows page by page, in its own order or by a column."""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
from duckdb import ColumnExpression, Expression

from slant.collector.errors import UnknownNameError
from slant.collector.keep.view_heads import view_heads
from slant.collector.view.order import Order, Page, page_of, rows_of

ON_A_PAGE = 200


def view_names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    rows = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal AND NOT temporary ORDER BY 1")
    return [name for (name,) in rows.fetchall()]


def view_groups(connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """The views of the database: those about every study first, then by design; unknown ones at the end."""
    heads, groups = view_heads(), dict[str, list[str]]()
    for name in view_names(connection):
        design = (heads[name].design or "every study") if name in heads else "not slant's"
        groups.setdefault(design, []).append(name)
    return dict(sorted(groups.items(), key=lambda group: (group[0] != "every study", group[0] == "not slant's", group)))


def known_view(connection: duckdb.DuckDBPyConnection, name: str) -> duckdb.DuckDBPyRelation:
    """UnknownNameError where the database has no view of this name."""
    names = view_names(connection)
    if name not in names:
        raise UnknownNameError("view", name, names)
    return connection.view(name)


def page_of_view(
    connection: duckdb.DuckDBPyConnection, name: str, query: Mapping[str, str]
) -> tuple[Page, Order, list[tuple[str, bool]]]:
    """The rows, the order that they are in, and the columns, each with whether it holds numbers. A view that fits one
    page is in its own order, unless a column is chosen; a longer one goes by its grain."""
    rows = known_view(connection, name)
    columns = list(zip(rows.columns, map(_is_number, rows.types), strict=True))
    sort = query.get("sort", "")
    column = sort.removeprefix("-")
    if column and column not in rows.columns:
        raise UnknownNameError("column", column, rows.columns)
    head = view_heads().get(name)
    grain = [part for part in (head.grain if head else rows.columns) if part in rows.columns and part != column]
    order = Order(tuple([(column, sort.startswith("-"))] if column else []) + tuple((part, False) for part in grain))
    if not column and not {"after", "before"} & query.keys():
        few = rows_of(rows.limit(ON_A_PAGE + 1))
        if len(few) <= ON_A_PAGE:
            return Page(few, None, None), order, columns
    shown: list[Expression] = [ColumnExpression(part) for part in rows.columns]
    return page_of(rows, order, shown, ON_A_PAGE, query), order, columns


def _is_number(kind: object) -> bool:
    return str(kind).startswith(("BIGINT", "INTEGER", "DOUBLE", "HUGEINT", "DECIMAL", "FLOAT", "UBIGINT", "SMALLINT"))
