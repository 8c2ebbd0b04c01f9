"""Which of two answers to one trial counts, where two collectors were given the same part of a plan: the first by time.

The other is kept, and its column `is_repeated` says that it does not count. Within one database nothing is asked
twice, so that this is looked at when databases are merged, and when a merged one is made again from its journals.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import duckdb

from slant.collector.errors import DatabaseEmptyError
from slant.collector.keep.database import reading
from slant.collector.system.shipped_files import sql_query

IDS_AT_ONCE = 1_000_000
_N_FINALS = "SELECT count(*) FROM attempts WHERE is_final"
_SET_ASIDE = "UPDATE attempts SET is_repeated = true FROM repeated_answers r WHERE attempts.attempt_id = r.attempt_id"
_OF = "SELECT attempt_id FROM attempts WHERE is_repeated AND conversation_id IN $ids"


def set_repeated_aside(connection: duckdb.DuckDBPyConnection) -> int:
    """Find out anew what does not count, in an open transaction; returns how many attempts. Takes the ids in parts, so
    that memory does not grow with the database."""
    connection.execute("CREATE OR REPLACE TEMP TABLE repeated_conversations (conversation_id TEXT)")
    n_parts = 1 + connection.execute(_N_FINALS).fetchall()[0][0] // IDS_AT_ONCE
    for part in range(n_parts):
        connection.execute(sql_query("repeated_conversations"), {"parts": n_parts, "part": part})
    connection.execute("UPDATE attempts SET is_repeated = NULL WHERE is_repeated")
    connection.execute(f"CREATE OR REPLACE TEMP TABLE repeated_answers AS {sql_query('repeated_answers')}")
    connection.execute(_SET_ASIDE)
    n_repeated = connection.execute("SELECT count(*) FROM repeated_answers").fetchall()[0][0]
    connection.execute("DROP TABLE repeated_answers")
    connection.execute("DROP TABLE repeated_conversations")
    return int(n_repeated)


def repeated_of(db: Path, conversation_ids: Sequence[str]) -> set[str]:
    """The attempts of these conversations that don't count; none where there is no database yet."""
    with suppress(DatabaseEmptyError):
        if db.exists():
            with reading(db) as connection:
                rows = connection.execute(_OF, {"ids": list(conversation_ids)}).fetchall()
            return {attempt_id for (attempt_id,) in rows}
    return set()
