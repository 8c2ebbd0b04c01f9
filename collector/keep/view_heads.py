"""Read the heads of the views' files: what each view shows, what a row is, its sources, and what to know about it.

Make views quickly. DuckDB plans a view when it is made, together with all views below it, down to the tables, which
takes seconds for layers of them. So views that others read are empty tables for the moment in which those are made."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from io import StringIO

import duckdb

from slant.collector.designs import third_party_designs
from slant.collector.errors import DesignError, check_known
from slant.collector.keep.frames import quoted_text
from slant.collector.system.shipped_files import column_meanings, sql_dir, sql_query

_NAME = re.compile(r"^CREATE OR REPLACE VIEW (\w+)", re.MULTILINE)
_COMMENT = re.compile(r"^--.*$", re.MULTILINE)
_STAND_IN = "view_in_the_making"


def make_views(connection: duckdb.DuckDBPyConnection, texts: Sequence[str]) -> None:
    """Make these views, each after those that it reads; in a transaction, or in a database that nobody else sees."""
    by_name = {_name(text): _COMMENT.sub("", text) for text in texts}
    words = {name: set(re.findall(r"\w+", text)) - {name} for name, text in by_name.items()}
    read_by_others = set().union(*words.values()) & by_name.keys()
    stand_ins = []
    for name, text in by_name.items():
        connection.execute(text)
        if name in read_by_others:
            connection.execute(f"CREATE TABLE {_STAND_IN} AS FROM {name} LIMIT 0")
            connection.execute(f"DROP VIEW {name}")
            connection.execute(f"ALTER TABLE {_STAND_IN} RENAME TO {name}")
            stand_ins.append(name)
    for name in reversed(stand_ins):  # those below are still tables
        connection.execute(f"DROP TABLE {name}")
        connection.execute(by_name[name])


def _name(text: str) -> str:
    match = _NAME.search(text)
    assert match is not None
    return match[1]


_KEY = re.compile(r"^-- (\w+): +(.+)$")
_MORE = re.compile(r"^-- {8}(.+)$")
_READ = re.compile(r"(?<!DISTINCT )\b(?:FROM|JOIN)\s+(\w+)\b(?![(.])")
_OWN = re.compile(r"\b(\w+)(?: ?\([\w, ]*\))? AS (?:(?:NOT )?MATERIALIZED )?\(")
_DECLARED = re.compile(r"\b(models|tests|conditions)\.\w+_no\b[^,]*, (\w+)")
_SORTED = "sorted by "
_PLACED = ("model", "test", "condition")
ORDERS = "view_orders"


@dataclass(frozen=True)
class TableInfo:
    """Hold what the head of a view's file says. `grain` names the columns that make a row unique.

    `order` is what sorts its rows when they are shown, in SQL: its own columns, and the place of a model, test or
    condition in the study (`tests.test_no, domain`: of the column that follows); empty for a view that sorts itself.
    Of a grain that begins with "sorted by" it is the grain; of numbers that papers print all columns, one by one.
    A table belongs to its `designs`, with all of their studies; one for every study has none. For numbers that papers
    print (sql/views/3_paper): the quantities that it `gives`, the kept `fits` that they come from (as
    analysis/paper/numbers.py reads them), and what a number `lacks` if some answers are missing: those of its "cell",
    of its "game" (the view itself says which), or of the whole "study". `is_inner` (`-- inner: yes`): made for other
    views to read, not for people.
    """

    name: str
    purpose: str
    grain: tuple[str, ...]
    note: str
    paper: str | None = None
    designs: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    fits: tuple[str, ...] = ()
    lacks: str | None = None
    order: str = ""
    is_inner: bool = False
    text: str = field(default="", repr=False)

    @property
    def reads(self) -> frozenset[str]:
        """Return the tables and views that its SQL names, but those that it defines itself."""
        sql = _COMMENT.sub("", self.text)
        return frozenset(_READ.findall(sql)) - frozenset(_OWN.findall(sql))

    def is_about(self, design: str | None) -> bool:
        """Return whether this table shows studies of this design."""
        return not self.designs or design in self.designs

    def title(self, *, is_printed: bool) -> str:
        """Return a caption: the name and the purpose; also the paper's table, if the study's numbers are printed and it
        is not your own.
        """
        paper = f" ({self.paper})" if self.paper and is_printed else ""
        return f"{self.name}{paper}: {self.purpose}"


@functools.cache
def read_header(text: str) -> TableInfo:
    """Return the comment lines at the top of a view's file. Unknown keys are ignored.
    Raise ValueError if a required one is missing.
    """
    fields: list[list[str]] = []
    for line in StringIO(text):  # the rest of the file is not split
        if key := _KEY.match(line):
            fields.append([key[1], key[2]])
        elif (continuation := _MORE.match(line)) and fields:
            fields[-1][1] += " " + continuation[1].strip()
        else:
            break
    if not fields:
        raise ValueError("the file does not begin with -- name: purpose")
    (name, purpose), *rest = fields
    header = dict(rest)
    if missing := {"grain", "note"} - header.keys():
        raise ValueError(f"the view {name} has no {' and no '.join(f'-- {key}:' for key in sorted(missing))}")
    grain = _names(header["grain"].removeprefix(_SORTED))
    order = "ALL" if "gives" in header else ""
    if header["grain"].startswith(_SORTED):  # models, tests and conditions have their places in the study
        order = ", ".join(f"{name}s.{name}_no, {name}" if name in _PLACED else name for name in grain)
    paper_fields = {"gives": _names(header.get("gives", "")), "fits": _names(header.get("fits", ""), ";")}
    return TableInfo(
        name,
        purpose,
        grain,
        header["note"],
        header.get("paper"),
        _names(header.get("design", "")),
        **paper_fields,
        lacks=header.get("lacks"),
        order=header.get("order", order),
        is_inner=header.get("inner") == "yes",
        text=text,
    )


def _names(text: str, separator: str = ",") -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(separator) if name.strip())


def view_names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the views that a database has, by name."""
    rows = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal AND NOT temporary ORDER BY 1")
    return [name for (name,) in rows.fetchall()]


def known_view(connection: duckdb.DuckDBPyConnection, name: str) -> duckdb.DuckDBPyRelation:
    """Raise UnknownNameError if the database has no view of this name."""
    names = view_names(connection)
    check_known("view", name, names)
    return connection.view(name)


def ordered_view(
    connection: duckdb.DuckDBPyConnection, name: str, known: Collection[str] | None = None
) -> duckdb.DuckDBPyRelation:
    """Return a view with its rows in the order in which they are shown; DuckDB's own error if there is no such view.
    `known`: the names of all views, if the caller has looked them up."""
    # Without ORDERS it is an older slant's file, whose views sort themselves. The query is never read from the file,
    # which may come from a stranger.
    query = ordered_queries().get(name) if ORDERS in (known or view_names(connection)) else None
    return connection.sql(query) if query else connection.view(name)


@functools.cache
def view_texts() -> tuple[str, ...]:
    """Return the SQL of slant's views, in the order of making them, and of the one that says how they are ordered."""
    texts = [file.read_text("utf-8") for file in sorted((sql_dir() / "views").glob("*/*.sql"))]
    heads = map(read_header, texts)
    queries = {head.name: quoted_text(_ordered_query(head)) for head in heads if head.order}
    rows = ",\n    ".join(f"('{name}', {query})" for name, query in queries.items())
    return (*texts, sql_query(ORDERS).replace("$rows", rows))


@functools.cache
def trial_views() -> frozenset[str]:
    """Return the views that show trials, one observation a row."""
    texts = [file.read_text("utf-8") for file in (sql_dir() / "views" / "1_trials").glob("*.sql")]
    return frozenset(head.name for head in map(read_header, texts))


@functools.cache
def ordered_queries() -> dict[str, str]:
    """Return the query that shows a view's rows in their order, by the view, of slant's views that don't sort
    themselves."""
    return {head.name: _ordered_query(head) for head in map(read_header, view_texts()) if head.order}


def _ordered_query(head: TableInfo) -> str:
    """Return the query of a view in its order, with a join for each place that the view lacks."""
    joins = [
        f" LEFT JOIN {table} ON {table}.study = shown.study AND {table}.study_version = shown.study_version"
        f" AND {table}.{table[:-1]} = shown.{column}"
        for table, column in _DECLARED.findall(head.order)
    ]
    return f"SELECT shown.* FROM {head.name} AS shown{''.join(joins)} ORDER BY {head.order}"  # noqa: S608


def read_view_heads() -> dict[str, TableInfo]:
    """Return the heads of all views that slant and other packages' designs make, by name, in the order of making."""
    heads = [read_header(text) for text in view_texts()]
    for design in third_party_designs():
        try:
            heads += map(read_header, design.analyses.views.values())
        except ValueError as error:
            raise DesignError(f"The design {design.name} is of another slant: {error}.") from error
    return {head.name: head for head in heads}


def comment_statements(connection: duckdb.DuckDBPyConnection, views: Collection[str] | None = None) -> Iterator[str]:
    """Yield the SQL that comments on what this connection's database has: of columns only those that readers see, not
    those of inner views. `views`: only on these (None: on all tables and views)."""
    heads = {head.name: head for head in map(read_header, view_texts())}
    meanings = column_meanings("result_columns") | column_meanings()
    columns: dict[str, list[str]] = {}
    for name, column, alike in connection.execute(sql_query("columns_to_comment")).fetchall():
        columns.setdefault(name, []).extend([column] if alike else [])
    for name, names in columns.items():
        if views is not None and name not in views:
            continue
        if head := heads.get(name):
            inner = "Inner view, read by others: take one of those. " if head.is_inner else ""
            text = f"{inner}{head.purpose.rstrip('.')}. {head.note}"
            yield f'COMMENT ON VIEW "{name}" IS {quoted_text(text)}'
            if head.is_inner:
                continue
        for column in names:
            if meaning := meanings.get(column):
                yield f'COMMENT ON COLUMN "{name}"."{column}" IS {quoted_text(meaning)}'
