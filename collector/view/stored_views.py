"""Show any view of the database: its rows page by page, in its own order or by a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
from duckdb import ColumnExpression, ConstantExpression, Expression

from slant.collector.errors import UnknownNameError
from slant.collector.keep.view_heads import known_view, ordered_view, read_view_heads, view_names
from slant.collector.view.paging import Order, Page, between, page_of, read_key, rows_of

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
        trials = _trials_of(connection, head.designs if head else ())
        return _page_of_many(trials, rows, order, query), order, columns
    if not column and not {"after", "before"} & query.keys():
        few = rows_of(ordered_view(connection, name).limit(ON_A_PAGE + 1))
        if len(few) <= ON_A_PAGE:
            return Page(few, None, None), order, columns
    return page_of(rows, order, ON_A_PAGE, query), order, columns


def _trials_of(connection: duckdb.DuckDBPyConnection, designs: tuple[str, ...]) -> duckdb.DuckDBPyRelation:
    """Return the trials that a view about these designs can show: those of their studies, or all if it is about
    none.
    """
    trials = connection.view("trials")
    if not designs:
        return trials
    studies = connection.execute("SELECT DISTINCT study FROM studies WHERE design IN ?", [designs]).fetchall()
    return trials.filter(ColumnExpression("study").isin(*(ConstantExpression(study) for (study,) in studies)))


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
        page = page_of(rows.filter(_any_of(chosen)), order, ON_A_PAGE, query)
        if (page.before if is_backwards else page.after) is not None:
            return page
    return page_of(rows, order, ON_A_PAGE, query)


def _any_of(places: Sequence[Mapping[str, Any]]) -> Expression:
    """Return the condition for these ids, limited to the range of these places."""
    condition = ColumnExpression("trial_id").isin(*(ConstantExpression(place["trial_id"]) for place in places))
    for name in _AS_ASKED:
        if all(place.get(name) is not None for place in places):
            condition &= between(name, places)
    return condition


def _is_number(kind: object) -> bool:
    return str(kind).startswith(("BIGINT", "INTEGER", "DOUBLE", "HUGEINT", "DECIMAL", "FLOAT", "UBIGINT", "SMALLINT"))
