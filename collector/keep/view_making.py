"""Make views quickly. DuckDB plans a view when it is made, together with all views below it, down to the tables, which
takes seconds for layers of them. So views that others read are empty tables for the moment in which those are made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import duckdb

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
