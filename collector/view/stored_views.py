"""Any view of the database: its rows page by page, in its own order or by a column."""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
from duckdb import ColumnExpression, ConstantExpression, Expression

from slant.collector.errors import UnknownNameError
from slant.collector.keep.view_heads import read_view_heads
from slant.collector.view.order import Order, Page, page_of, read_key, rows_of

ON_A_PAGE = 200
_FEW_TRIALS = 20_000  # so many are quickly ordered as the view has them


def view_names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    rows = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal AND NOT temporary ORDER BY 1")
    return [name for (name,) in rows.fetchall()]


def view_groups(connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """The views of the database: those about every study first, then by design; unknown ones at the end."""
    heads, groups = read_view_heads(), dict[str, list[str]]()
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
    head = read_view_heads().get(name)
    grain = [part for part in (head.grain if head else rows.columns) if part in rows.columns and part != column]
    order = Order(tuple([(column, sort.startswith("-"))] if column else []) + tuple((part, False) for part in grain))
    shown: list[Expression] = [ColumnExpression(part) for part in rows.columns]
    if order.names == ["trial_id"] and _n_trials(connection) > _FEW_TRIALS:
        return _page_of_many(connection, rows, order, shown, query), order, columns
    if not column and not {"after", "before"} & query.keys():
        few = rows_of(rows.limit(ON_A_PAGE + 1))
        if len(few) <= ON_A_PAGE:
            return Page(few, None, None), order, columns
    return page_of(rows, order, shown, ON_A_PAGE, query), order, columns


def _page_of_many(
    connection: duckdb.DuckDBPyConnection,
    rows: duckdb.DuckDBPyRelation,
    order: Order,
    shown: list[Expression],
    query: Mapping[str, str],
) -> Page:
    """A page of a view of trials, by trial id. Such a view joins and orders all of its rows before it gives any: it is
    asked for a range of ids alone, and for a wider one where that holds too few of its rows."""
    is_backwards = "before" in query
    key = query.get("before") or query.get("after")
    ids = connection.view("trials").select("trial_id")
    ids = order.beyond(ids, read_key(key), is_backwards=is_backwards) if key else ids
    for n_ids in (ON_A_PAGE * factor for factor in (2, 20, 200)):
        bounds = order.sorted(ids, is_backwards=is_backwards).limit(n_ids).fetchall()
        if len(bounds) < n_ids:
            break
        trial_id, bound = ColumnExpression("trial_id"), ConstantExpression(bounds[-1][0])
        within = rows.filter(trial_id >= bound if is_backwards else trial_id <= bound)
        page = page_of(within, order, shown, ON_A_PAGE, query)
        if (page.before if is_backwards else page.after) is not None:
            return page
    return page_of(rows, order, shown, ON_A_PAGE, query)


def _n_trials(connection: duckdb.DuckDBPyConnection) -> int:
    return int(connection.execute("SELECT count(*) FROM attempts").fetchall()[0][0])


def _is_number(kind: object) -> bool:
    return str(kind).startswith(("BIGINT", "INTEGER", "DOUBLE", "HUGEINT", "DECIMAL", "FLOAT", "UBIGINT", "SMALLINT"))
