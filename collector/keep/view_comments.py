"""Put what sql/columns.csv and the heads of views say into the file itself, as comments: DuckDB's own shell and every
other program show them (duckdb_columns().comment), and need nothing of slant.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import duckdb

from slant.collector.keep.view_heads import read_header, view_texts
from slant.collector.system.shipped_files import column_meanings, sql_query


def comment_statements(connection: duckdb.DuckDBPyConnection, views: Collection[str] | None = None) -> Iterator[str]:
    """Yield the SQL that comments on what this connection's database has: of columns only those that readers see, not
    those of inner views. `views`: only on these (None: on all tables and views)."""
    heads = {head.name: head for head in map(read_header, view_texts())}
    meanings = column_meanings()
    columns: dict[str, list[str]] = {}
    for name, column in connection.execute(sql_query("columns_to_comment")).fetchall():
        columns.setdefault(name, []).append(column)
    for name, names in columns.items():
        if views is not None and name not in views:
            continue
        if head := heads.get(name):
            inner = "Inner view, read by others: take one of those. " if head.is_inner else ""
            text = f"{inner}{head.purpose.rstrip('.')}. {head.note}"
            yield f'COMMENT ON VIEW "{name}" IS {_quoted(text)}'
            if head.is_inner:
                continue
        for column in names:
            if meaning := meanings.get(column):
                yield f'COMMENT ON COLUMN "{name}"."{column}" IS {_quoted(meaning)}'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
