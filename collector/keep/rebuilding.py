"""A damaged database made again from its journals, which are the truth. The damaged file is put aside and stays."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from slant.collector.errors import DatabaseDamagedError, DatabaseError
from slant.collector.keep.database import let_go
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import journal_paths

_R = TypeVar("_R")
DAMAGED = "damaged"


def put_aside(db: Path, called: str = "before-rebuild") -> Path | None:
    """Give the file another name, beside its place (slant.duckdb.CALLED-TIME); None where there is none. Loading the
    journals makes it again.

    DatabaseError where there is no journal: nothing could make it again.
    """
    if not journal_paths(journal_folder(db)):
        raise DatabaseError(f'There is no journal beside "{db}" to make it again from.', "It was left as it is.")
    let_go(db)
    aside = db.with_name(f"{db.name}.{called}-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
    with suppress(FileNotFoundError):
        os.rename(db, aside)
        with suppress(FileNotFoundError):  # what had not reached the file: it belongs to the damaged one
            os.rename(db.with_name(f"{db.name}.wal"), aside.with_name(f"{aside.name}.wal"))
        return aside
    return None


def with_mending(db: Path, read: Callable[[], _R], say: Callable[[str], None]) -> _R:
    """What `read` gives; where the database turns out to be damaged, after it was made again from its journals."""
    try:
        return read()
    except DatabaseDamagedError as error:
        from slant.collector.keep.journal_loader import load_journals

        aside = put_aside(db, DAMAGED)
        load_journals(db)
        say(made_again(error, db, aside))
        return read()


def made_again(error: DatabaseDamagedError, db: Path, aside: Path | None) -> str:
    kept = f"; the damaged file is {aside.name}, with all that `analyze` had kept in it" if aside else ""
    return f"{error.what} {db} was made again from its journal{kept}."
