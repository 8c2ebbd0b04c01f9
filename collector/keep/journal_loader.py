"""Journals into DuckDB. Twice is once: `loads` says how far each journal has been read, and advances in the same
transaction that inserts its rows. Nothing waits in memory while somebody else holds the database."""

from __future__ import annotations

import json
import logging
import math
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import polars as pl

from slant.collector.errors import DatabaseEmptyError
from slant.collector.keep.database import reading, writing
from slant.collector.keep.journal import journal_folder, utc_now, whole_lines
from slant.collector.keep.journal_lines import Parsed, insert, parse, parse_carefully

log = logging.getLogger(__name__)
CHUNK_BYTES = 32_000_000  # opening and closing the database takes as long as the rows of some 8 MB


@dataclass
class LoadReport:
    """What one load did: rows inserted, seconds that the database was held for it, and lines that could not be read."""

    rows: int = 0
    held_s: float = 0.0
    problems: list[str] = field(default_factory=list)


class Loader:
    """Loads the journals of one database again and again, and opens the file only when there is something new."""

    def __init__(self, db: Path) -> None:
        self.db = db
        self._offsets: dict[str, int] | None = None
        self._foreign: set[str] = set()

    def load(
        self,
        patience_s: float = 30.0,
        durable: dict[str, int] | None = None,
        give_up: threading.Event | None = None,
        most_held_s: float = math.inf,
    ) -> LoadReport:
        """Insert what the journals hold and the database lacks, a chunk a transaction.

        `durable` says how many bytes of a journal that is being written are safely on disk; no more are loaded. After
        the chunk with which the database has been held for `most_held_s` in all, the rest is left for later. Raises
        DatabaseBusyError where another process keeps the file; the journals then still hold everything.
        """
        report = LoadReport()
        if self._offsets is None:
            self._offsets = loaded_offsets(self.db, patience_s)
        for path in sorted(journal_folder(self.db).glob("*.jsonl")):
            size = (durable or {}).get(path.name, path.stat().st_size)
            while self._offsets.get(path.name, 0) < size and path.name not in self._foreign:
                if report.held_s >= most_held_s or not self._chunk(path, size, patience_s, give_up, report):
                    break
        if report.rows:
            log.info("%d rows loaded into %s, which was held for %.2f s", report.rows, self.db, report.held_s)
        return report

    def _chunk(
        self, path: Path, size: int, patience_s: float, give_up: threading.Event | None, report: LoadReport
    ) -> bool:
        """Load the next chunk of one journal; False when it holds no further whole line."""
        assert self._offsets is not None
        chunk = next(whole_lines(path, self._offsets.get(path.name, 0), CHUNK_BYTES, size), None)
        if chunk is None:
            return False
        end, data = chunk
        start = end - len(data)
        if start == 0 and (problem := _not_its_own(path, data)):
            self._foreign.add(path.name)
            report.problems.append(f"{path}: {problem}")
            return False
        parsed = parse(data)
        try:
            self._keep(path, start, end, parsed, patience_s, give_up, report)
        except (duckdb.Error, ValueError, TypeError, AttributeError, RecursionError, pl.exceptions.PolarsError):
            self._keep(path, start, end, parse_carefully(data), patience_s, give_up, report)
        return True

    def _keep(
        self,
        path: Path,
        start: int,
        end: int,
        parsed: Parsed,
        patience_s: float,
        give_up: threading.Event | None,
        report: LoadReport,
    ) -> None:
        assert self._offsets is not None
        with writing(self.db, patience_s, give_up) as connection:
            began = time.monotonic()
            offsets = connection.execute("SELECT byte_offset FROM loads WHERE journal = ?", [path.name]).fetchall()
            stored = offsets[0][0] if offsets else 0
            if stored != start:  # another process has loaded meanwhile: go on from where it stopped
                self._offsets[path.name] = stored
                return
            insert(connection, path.stem, parsed)
            problems = [(line, text) for line, text in _with_line_numbers(path, start, parsed)]
            for line, text in problems:
                holes = [path.name, line, text, utc_now()]
                connection.execute("INSERT INTO journal_problems VALUES (?, ?, ?, ?)", holes)
            connection.execute("DELETE FROM loads WHERE journal = ?", [path.name])
            connection.execute("INSERT INTO loads VALUES (?, ?, ?)", [path.name, end, utc_now()])
        report.held_s += time.monotonic() - began
        self._offsets[path.name] = end
        report.rows += parsed.attempts.height
        report.problems += [f"{path}:{line}: {text}" for line, text in problems]


def load_journals(db: Path, patience_s: float = 30.0) -> LoadReport:
    """Load everything once; see Loader.load."""
    return Loader(db).load(patience_s)


def loaded_offsets(db: Path, patience_s: float = 30.0) -> dict[str, int]:
    """How far each journal has been loaded, in bytes; empty where there is no database yet, or nothing in it."""
    if not db.exists():
        return {}
    try:
        with reading(db, patience_s) as connection:
            return offsets_in(connection)
    except DatabaseEmptyError:
        return {}


def offsets_in(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """The same of a database that is open."""
    return dict(connection.execute("SELECT journal, byte_offset FROM loads").fetchall())


def _not_its_own(path: Path, data: bytes) -> str | None:
    """A journal is named by its run. A copy under another name would double every answer."""
    try:
        run_id = json.loads(data.split(b"\n", 1)[0])["run_id"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None  # a damaged first line is reported like any other
    return None if run_id == path.stem else f"left out: it holds the run {run_id}, so it is a copy of another journal"


def _with_line_numbers(path: Path, start: int, parsed: Parsed) -> list[tuple[int, str]]:
    if not parsed.bad:
        return []
    with path.open("rb") as file:
        first = file.read(start).count(b"\n") + 1
    return [(first + index, reason) for index, reason in parsed.bad]
