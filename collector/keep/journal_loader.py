"""Load journals into DuckDB. Loading twice is like loading once: `loads` says how far each journal has been read, and
advances in the transaction that inserts its rows. Nothing waits in memory while another process holds the database.

A damaged database is made again from its journals, which are the truth; the damaged file is put aside and kept.

If two collectors were given the same part of a plan, the first of two answers by time counts. The other is kept, and
its column `is_repeated` says that it does not count. Within one database nothing is asked twice, so that this is
checked when databases are merged, and when a merged one is made again from its journals.
"""

from __future__ import annotations

import json
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import duckdb
import polars as pl

from slant.collector.errors import (
    DatabaseBusyError,
    DatabaseDamagedError,
    DatabaseEmptyError,
    DatabaseError,
    JournalError,
    as_typed,
)
from slant.collector.keep import journal_files
from slant.collector.keep.database import fetched, let_go, reading, writing
from slant.collector.keep.journal import has_collector, journal_folder, utc_now
from slant.collector.keep.journal_lines import UNREADABLE_LINE, Parsed, insert, parse, parse_carefully
from slant.collector.system.files import moved, real_file
from slant.collector.system.shipped_files import sql_query

_R = TypeVar("_R")
DAMAGED = "damaged"
CHUNK_BYTES = 48_000_000  # with each, the last group of rows is written again: on average that takes as long as 15 MB
IDS_AT_ONCE = 1_000_000
_N_FINALS = "SELECT count(*) FROM attempts WHERE is_final"
_SET_ASIDE = "UPDATE attempts SET is_repeated = true FROM repeated_answers r WHERE attempts.attempt_id = r.attempt_id"
_OF = "SELECT attempt_id FROM attempts WHERE is_repeated AND conversation_id IN $ids"


def put_aside(db: Path, called: str = "before-rebuild") -> Path | None:
    """Rename the file to slant.duckdb.CALLED-TIME; None if it does not exist. Loading the
    journals makes it again.

    Raise DatabaseError if there is no journal: nothing could make it again.
    """
    if not journal_files.journal_paths(journal_folder(db)):
        raise DatabaseError(f'There is no journal next to "{db}" to make it again from.', "It was left as it is.")
    db = real_file(db)
    let_go(db)
    aside = db.with_name(f"{db.name}.{called}-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
    with suppress(FileNotFoundError):
        moved(db, aside)
        with suppress(FileNotFoundError):  # its write-ahead log belongs to the damaged file
            moved(db.with_name(f"{db.name}.wal"), aside.with_name(f"{aside.name}.wal"))
        return aside
    return None


def with_mending(db: Path, read: Callable[[], _R], say: Callable[[str], None]) -> _R:
    """Return the result of `read`; if the database turns out to be damaged, rebuild it from its journals first."""
    try:
        return read()
    except DatabaseDamagedError as error:
        aside = put_aside(db, DAMAGED)
        load_journals(db)
        say(made_again(error, db, aside))
        return read()


def made_again(error: DatabaseDamagedError, db: Path, aside: Path | None) -> str:
    kept = f"; the damaged file is {aside.name}, with all that `analyze` had kept in it" if aside else ""
    return f"{error.what.rstrip('.')}. {db} was made again from its journal{kept}."


def left_in_journal(error: DatabaseError, db: Path) -> str:
    """Return the message at the end of a run whose answers could not be loaded: the reason, and the command."""
    if isinstance(error, DatabaseBusyError):
        who = error.details[0].rstrip(".")
        hint = f"When the database is free: collect load --db {as_typed(db)}"
        return f"{error.what} {who}. The answers are safe in the journal. {hint}"
    return f"{' '.join([error.what, *error.details])} The answers are safe in the journal."


log = logging.getLogger(__name__)


@dataclass
class LoadReport:
    """Report one load: rows inserted, seconds that the database was held, lines that could not be read, and other notes
    (a damaged database was made again)."""

    rows: int = 0
    held_s: float = 0.0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    runs: set[str] = field(default_factory=set)
    is_counted: bool = False


@dataclass(frozen=True)
class _Limits:
    """Limit how long the database is waited for (until `give_up`), and how long it is held in all."""

    patience_s: float
    give_up: threading.Event | None
    max_held_s: float
    counts_once: bool = False


class Loader:
    """Load the journals of one database repeatedly, and open the file only when there is something new."""

    def __init__(self, db: Path, on_bytes: Callable[[int], None] = lambda n_bytes: None) -> None:
        self.db = db
        self._on_bytes = on_bytes
        self._offsets: dict[str, int] | None = None
        self._left_out: set[str] = set()  # copies of other journals, and damaged ones

    def load(
        self,
        patience_s: float = 30.0,
        durable: dict[str, int] | None = None,
        give_up: threading.Event | None = None,
        max_held_s: float = math.inf,
        counts_once: bool = False,
    ) -> LoadReport:
        """Insert what the journals hold and the database lacks, one transaction per chunk.

        `counts_once`: with the last chunk of a single journal, also ensure that each attempt is there once
        (`report.is_counted` says whether that was done).

        `durable` says how many bytes of a journal that is being written are safely on disk; no more are loaded. After
        the chunk with which the database has been held for `max_held_s` in all, the rest is left for later. Raise
        DatabaseBusyError if another process holds the file; the journals then still have everything. A damaged database
        is put aside and made again.
        """
        report, limits = LoadReport(), _Limits(patience_s, give_up, max_held_s, counts_once)
        try:
            self._load(report, durable, limits)
        except DatabaseDamagedError as error:
            aside = put_aside(self.db, DAMAGED)
            self._offsets = {}
            report.notes.append(made_again(error, self.db, aside))
            self._load(report, durable, limits)
        if report.rows:
            log.info("%d rows loaded into %s, which was held for %.2f s", report.rows, self.db, report.held_s)
        return report

    def _load(self, report: LoadReport, durable: dict[str, int] | None, limits: _Limits) -> None:
        if self._offsets is None:
            self._offsets = loaded_offsets(self.db, limits.patience_s)
        folder = journal_folder(self.db)
        for sentence in journal_files.left_out_files(folder):
            if sentence not in self._left_out:
                self._left_out.add(sentence)
                report.problems.append(sentence)
        for path in journal_files.journal_paths(folder):
            name = journal_files.journal_name(path)
            try:
                size = durable[path.name] if durable and path.name in durable else journal_files.journal_size(path)
                while self._offsets.get(name, 0) < size and report.held_s < limits.max_held_s:
                    if name in self._left_out or not self._load_one(path, size, report, limits):
                        break
            except JournalError as error:  # a damaged compressed file: what precedes the damage is loaded
                self._left_out.add(name)
                report.problems.append(error.what)

    def _load_one(self, path: Path, size: int, report: LoadReport, limits: _Limits) -> bool:
        """Load one journal by chunks until time is up. Return True if another process has gone ahead meanwhile,
        so that there may be more after what that has loaded."""
        assert self._offsets is not None
        name = journal_files.journal_name(path)
        start = self._offsets.get(name, 0)
        for end, data in journal_files.whole_lines(path, start, CHUNK_BYTES, size):
            if start == 0 and (problem := _not_its_own(path, data)):
                self._left_out.add(name)
                report.problems.append(f"{path}: {problem}")
                return False
            try:
                self._keep(path, start, end, parse(data), report, limits, is_last=end == size)
            except (duckdb.Error, pl.exceptions.PolarsError, *UNREADABLE_LINE):
                self._keep(path, start, end, parse_carefully(data), report, limits, is_last=end == size)
            if self._offsets[name] != end:
                return True
            self._on_bytes(end - start)
            start = end
            if report.held_s >= limits.max_held_s:
                break
        return False

    def _keep(
        self, path: Path, start: int, end: int, parsed: Parsed, report: LoadReport, limits: _Limits, *, is_last: bool
    ) -> None:
        assert self._offsets is not None
        name = journal_files.journal_name(path)
        with writing(self.db, limits.patience_s, limits.give_up) as connection:
            began = time.monotonic()
            offsets = connection.execute("SELECT byte_offset FROM loads WHERE journal = ?", [name]).fetchall()
            stored = offsets[0][0] if offsets else 0
            if stored != start:  # another process has loaded meanwhile: continue where it stopped
                self._offsets[name] = stored
                return
            insert(connection, journal_files.journal_run(path), parsed)
            # a run that counts again may have trials that another one has answered meanwhile
            if any(record["kind"] in ("merge", "set_aside") for record in parsed.special):
                set_repeated_aside(connection)
            problems = _with_line_numbers(path, start, parsed)
            for line, text in problems:
                holes = [name, line, text, utc_now()]
                connection.execute("INSERT INTO journal_problems VALUES (?, ?, ?, ?)", holes)
            connection.execute("DELETE FROM loads WHERE journal = ?", [name])
            connection.execute("INSERT INTO loads VALUES (?, ?, ?)", [name, end, utc_now()])
            runs = parsed.runs
            report.is_counted = limits.counts_once and is_last and report.runs <= runs
            counted = _counted_once(connection, runs) if report.is_counted and runs else (0, 0)
        report.held_s += time.monotonic() - began
        self._offsets[name] = end
        report.rows += parsed.n_attempts
        report.runs |= runs
        _note_counted(report, *counted)
        report.problems += [f"{path}:{line}: {text}" for line, text in problems]


def load_journals(db: Path, patience_s: float = 30.0) -> LoadReport:
    """Load everything once; see Loader.load."""
    report = Loader(db).load(patience_s, counts_once=True)
    if report.rows and not report.is_counted:
        with writing(db, patience_s) as connection:
            counted = _counted_once(connection, report.runs)
        _note_counted(report, *counted)
    return report


def _note_counted(report: LoadReport, n_doubled: int, n_repeated: int) -> None:
    report.rows -= n_doubled
    if n_doubled:
        report.notes.append(f"Attempts that stood twice in the journals count once: {n_doubled:,} lines left out.")
    if n_repeated:
        report.notes.append(
            f"Several collectors answered the same trials: the first answer counts, and {n_repeated:,} attempts don't."
        )


def _counted_once(connection: duckdb.DuckDBPyConnection, runs: set[str]) -> tuple[int, int]:
    """Ensure that each loaded attempt is there once, and that one final answer of a trial counts: a journal may have
    the same lines twice, and another collector's journal may be in the folder. Return the numbers of rows that came
    twice, and of attempts that don't count."""
    of_runs = {"runs": sorted(runs)}
    n_doubled, n_again = connection.execute(sql_query("doubled_attempts"), of_runs).fetchall()[0]
    if n_doubled:
        connection.execute(sql_query("without_doubles"), of_runs)
        _, n_again = connection.execute(sql_query("doubled_attempts"), of_runs).fetchall()[0]
    return n_doubled, set_repeated_aside(connection) if n_again else 0


def loaded_offsets(db: Path, patience_s: float = 30.0) -> dict[str, int]:
    """Return the loaded bytes of each journal; empty if there is no database yet, or nothing in it."""
    if db.exists():
        with suppress(DatabaseEmptyError), reading(db, patience_s) as connection:
            return offsets_in(connection)
    return {}


def offsets_in(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Return the same for an open database."""
    return dict(connection.execute("SELECT journal, byte_offset FROM loads").fetchall())


def waiting_bytes(db: Path) -> int:
    """Return the number of bytes in the journals that the database has not loaded yet."""
    offsets = loaded_offsets(db)
    waiting = 0
    for path in journal_files.journal_paths(journal_folder(db)):
        with suppress(JournalError):  # a damaged one is reported when it is loaded
            waiting += max(0, journal_files.journal_size(path) - offsets.get(journal_files.journal_name(path), 0))
    return waiting


def unreadable_journals(db: Path) -> list[str]:
    """Return a sentence about each journal of which the database lacks something that can't be read."""
    offsets, sentences = loaded_offsets(db), []
    for path in journal_files.journal_paths(journal_folder(db)):
        loaded = offsets.get(journal_files.journal_name(path), 0)
        try:
            if journal_files.journal_size(path) > loaded:
                deque(journal_files.whole_lines(path, loaded, CHUNK_BYTES), maxlen=0)
        except JournalError as error:
            sentences.append(error.what)
    return sentences


def nothing_yet(db: Path) -> str:
    """Say that a database holds no trials, and how much waits in its journal."""
    waiting = waiting_bytes(db)
    if waiting and has_collector(db):
        return f'"{db}" holds no trials yet: a collector is at work, and {waiting:,} bytes are still in its journal.'
    if waiting:
        return f'"{db}" holds no trials yet, but its journal has {waiting:,} bytes: collect load --db {as_typed(db)}'
    return f'"{db}" holds no trials yet.'


def _not_its_own(path: Path, data: bytes) -> str | None:
    """Return a sentence if a journal is not its run's own: it is named after its run, and a copy under another name
    would double every answer.
    """
    try:
        line = data[: data.find(b"\n") % (len(data) + 1)]
        if not journal_files.is_sound(line):
            return None
        run_id = json.loads(line)["run_id"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None  # a damaged first line is reported like any other
    if run_id == journal_files.journal_run(path):
        return None
    return f"skipped: it holds the run {run_id}, so it is a copy of another journal"


def _with_line_numbers(path: Path, start: int, parsed: Parsed) -> list[tuple[int, str]]:
    if not parsed.bad:
        return []
    with journal_files.opened_journal(path) as file:
        first = 1
        while start > 0 and (block := file.read(min(start, CHUNK_BYTES))):
            first, start = first + block.count(b"\n"), start - len(block)
    return [(first + index, reason) for index, reason in parsed.bad]


def set_repeated_aside(connection: duckdb.DuckDBPyConnection) -> int:
    """Determine in a transaction what does not count; return how many attempts. It takes the ids in parts,
    so that memory does not grow with the database."""
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
    """Return the attempts of these conversations that don't count; none if there is no database yet."""
    with suppress(DatabaseEmptyError):
        if db.exists():
            return {attempt_id for (attempt_id,) in fetched(db, _OF, {"ids": list(conversation_ids)})}
    return set()
