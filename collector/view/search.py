"""Search prompts, reasoning and answers part by part. So it can be watched and stopped, and a collector gets its turn
between two parts. What comes in later is searched on the next look."""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl

from slant.collector.errors import SlantError
from slant.collector.keep.frames import frame_of, registered
from slant.collector.view.guarded import guarded

TABLE = "matches"
ROWS_AT_ONCE = 100_000
HELD_S = 1.0
MAX_MATCHES = 1_000_000
_KEPT = 8  # searches whose matches are remembered
_QUERY = (
    "SELECT attempt_id FROM attempts WHERE is_final AND rowid >= $first AND rowid < $end AND ("
    "answer ILIKE $text ESCAPE '\\' OR reasoning_text ILIKE $text ESCAPE '\\' OR request ILIKE $in_json ESCAPE '\\')"
)


class TextSearch:
    """Find the attempts whose request, reasoning or answer contains a text, in any case, in a separate thread."""

    def __init__(self, db: Path, text: str) -> None:
        self._db = db
        inside = json.dumps(text, ensure_ascii=False)[1:-1]  # as it is in a request
        self._texts = {"text": _pattern(text), "in_json": _pattern(inside)}
        self._parts: list[pl.DataFrame] = []
        self._thread: threading.Thread | None = None
        self.n_read = self.n_rows = self.n_matches = 0
        self.is_stopped = False
        self.error: str | None = None

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @property
    def is_cut(self) -> bool:
        """Return whether there are more matches than are kept."""
        return self.n_matches >= MAX_MATCHES

    def go_on(self, wait_s: float) -> None:
        """Search what has not been searched; return when all is, or after this many seconds."""
        if not self.is_running and not self.is_stopped:
            self.error = None
            self._thread = threading.Thread(target=self._search, daemon=True)
            self._thread.start()
        if self._thread is not None:
            self._thread.join(wait_s)

    def stop(self) -> None:
        self.is_stopped = True

    def restart(self) -> None:
        self.is_stopped = False

    def _search(self) -> None:
        try:
            while self._some() and not self.is_stopped and not self.is_cut:
                time.sleep(0.05)  # a process may be waiting to write
        except SlantError as error:
            self.error = str(error)

    def _some(self) -> bool:
        """Search for a second; return False when there is nothing left."""
        with guarded(self._db, limit_s=60.0, shows_waiting=False) as connection:
            self.n_rows = connection.execute("SELECT max(rowid) + 1 FROM attempts").fetchall()[0][0] or 0
            until = time.monotonic() + HELD_S
            while self.n_read < self.n_rows and time.monotonic() < until and not self.is_stopped and not self.is_cut:
                part = {"first": self.n_read, "end": self.n_read + ROWS_AT_ONCE}
                matches = frame_of(connection.sql(_QUERY, params={**self._texts, **part}))
                if matches.height:
                    self._parts.append(matches)
                self.n_matches += matches.height
                self.n_read = min(part["end"], self.n_rows)
        return self.n_read < self.n_rows

    @contextmanager
    def matches(self, connection: duckdb.DuckDBPyConnection) -> Iterator[str]:
        """Yield the name of a table of the connection that holds the matches so far inside the block."""
        parts = self._parts or [pl.DataFrame(schema={"attempt_id": pl.String})]
        with registered(connection, TABLE, pl.concat(parts)):
            yield TABLE


def _pattern(text: str) -> str:
    for special in "\\%_":
        text = text.replace(special, f"\\{special}")
    return f"%{text}%"


class Searches:
    """Hold a database's latest searches by text."""

    def __init__(self, db: Path) -> None:
        self._db = db
        self._access = threading.Lock()
        self._known: OrderedDict[str, TextSearch] = OrderedDict()

    def of(self, text: str) -> TextSearch:
        with self._access:
            search = self._known.setdefault(text, TextSearch(self._db, text))
            self._known.move_to_end(text)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)[1].stop()
            return search
