"""Give DuckDB a name for a database in a folder with a question mark, so that it can write there.

DuckDB 2.0 takes what follows a question mark for the query of an address, also in a path: its write-ahead log of
`what?/a.duckdb` would be `what.wal?/a.duckdb`, in a folder that does not exist, and it follows symbolic links first. So
the file has a second name while it is written: a hard link in the nearest folder above without a question mark, under
which DuckDB locks the same file. Reading needs no log, and uses the file's own name.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slant.collector.errors import DatabaseWriteError
from slant.collector.system.scratch import scratch_near


@contextmanager
def name_without_query(path: Path) -> Iterator[Path]:
    """Yield the path itself, or a second name of the file if the path has a question mark. A new file gets its own
    name when the block ends. Raise DatabaseWriteError if the file can't have a second name."""
    place = path.absolute()
    if "?" not in str(place):
        yield path
        return
    above = next(folder for folder in place.parents if "?" not in str(folder))
    with contextlib.ExitStack() as stack:
        with _in_words(path, above):
            second = stack.enter_context(scratch_near(above / "database")) / "database"
            if path.exists():
                os.link(path, second)
        yield second
        with _in_words(path, above):
            if not path.exists():
                os.link(second, path)


@contextmanager
def _in_words(path: Path, above: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DatabaseWriteError(
            f'Can\'t write the database "{path}": DuckDB cuts its path at the question mark, and a second name for it '
            f'can\'t be made in "{above}" ({error.strerror or error}).',
            "Rename that folder, or name a database elsewhere: --db FILE",
        ) from error
