"""Filter and order a reader's trials: the part of an address after the question mark.

Search prompts, reasoning and answers part by part. So it can be watched and stopped, and a collector gets its turn
between two parts. What comes in later is searched on the next look."""

from __future__ import annotations

import json
import threading
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache, reduce
from operator import and_
from pathlib import Path

import duckdb
import polars as pl
from duckdb import ColumnExpression, ConstantExpression, Expression, FunctionExpression, SQLExpression

from slant.collector.errors import SlantError, UsageError, check_known
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of, registered
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import journal_name, journal_paths
from slant.collector.keep.journal_loader import offsets_in
from slant.collector.keep.stored_attempts import unloaded_lines
from slant.collector.system.shipped_files import sql_dir, sql_query
from slant.collector.view.paging import Order

MAX_BYTES = 64_000_000
"""Limit how much of the journals is read for a page, which takes half a second; more waits for the database."""
_LOOK_S, _MOST_WAITS = 0.1, 12
LIMIT_S = 5.0
MEMORY = "2GB"
_VIEWS = ("0_shown_attempts", "1_all_trials", "1_trial_rows", "1_trials")


@contextmanager
def with_waiting(connection: duckdb.DuckDBPyConnection, db: Path) -> Iterator[None]:
    """Add what waits in the journals to `attempts` and `trials` of this connection inside the block."""
    offsets = offsets_in(connection)
    n_bytes = sum(max(0, size - offsets.get(name, 0)) for name, size in journal_sizes(db).items())
    frames = [lines.attempts for lines in unloaded_lines(db, offsets)] if 0 < n_bytes <= MAX_BYTES else []
    if not any(frame.height for frame in frames):
        yield
        return
    name = connection.execute("SELECT current_database()").fetchall()[0][0].replace('"', '""')
    waiting = sql_query("waiting_attempts").replace("typed_rows", sql_query("typed_rows"))
    with registered(connection, "new_rows", pl.concat(frames)):
        connection.execute(waiting.replace("stored_attempts", f'"{name}".main.attempts'))
    for view in _VIEWS:  # their own copies, which read the attempts of above
        text = (sql_dir() / "views" / "1_trials" / f"{view}.sql").read_text("utf-8")
        connection.execute(text.replace("CREATE OR REPLACE VIEW", "CREATE TEMP VIEW"))
    yield


def journal_sizes(db: Path) -> dict[str, int]:
    return {journal_name(path): path.stat().st_size for path in journal_paths(journal_folder(db))}


@contextmanager
def guarded(
    db: Path, limit_s: float = LIMIT_S, folder: Path | None = None, *, shows_waiting: bool = True
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a connection that can read this database and nothing else; files it may write in `folder` only, if anywhere.
    `shows_waiting`: with what a collector has not put into the database yet.

    What takes longer than `limit_s` seconds is interrupted. Raise UsageError for that and for a condition that DuckDB
    can't read, DatabaseError if the file can't be opened. The file is held until the block ends, and a collector waits
    meanwhile: keep it short.
    """
    with (
        reading(db, writes_to=folder, memory_limit=MEMORY) as connection,
        with_waiting(connection, db) if shows_waiting else nullcontext(),
    ):
        is_done = threading.Event()
        threading.Thread(target=_interrupt_after, args=(connection, limit_s, is_done), daemon=True).start()
        try:
            yield connection
        except duckdb.InterruptException as error:
            raise UsageError(
                f"This took longer than {limit_s:g} s and was stopped.", "Narrow it by a filter, or simplify it."
            ) from error
        except duckdb.Error as error:
            raise UsageError(f"DuckDB can't read this: {str(error).splitlines()[0]}") from error
        finally:
            is_done.set()


def _interrupt_after(connection: duckdb.DuckDBPyConnection, limit_s: float, is_done: threading.Event) -> None:
    """Interrupt what has run for `limit_s` seconds by the clock and by the processor: on a busy machine a page of
    slant's own would wait for others, and be stopped. Waiting ends in any case after some times as long."""
    began, used = time.monotonic(), time.process_time()
    while not is_done.wait(_LOOK_S):
        took = time.monotonic() - began
        if took > limit_s and (time.process_time() - used > limit_s or took > _MOST_WAITS * limit_s):
            connection.interrupt()
            return


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


COLUMNS = (
    "source", "study", "study_version", "variant", "model", "test", "condition", "group", "item", "wording", "outcome",
    "run_id", "game", "participant",
)  # fmt: skip
SORTS = {
    "": "as asked", "-done_at": "newest first", "-tokens": "most tokens", "tokens": "fewest tokens",
    "-output_tokens": "longest output", "-latency_s": "slowest", "-cost_usd": "dearest", "item": "by item",
    "model": "by model", "outcome": "by outcome",
}  # fmt: skip
ASKED = (("run_id", False), ("sequence", False))
_WHOLE_NUMBERS = ("wording", "participant")
_LONGEST = 2000  # characters of a condition
_GROWING = {
    *("array_resize", "array_reduce", "bar", "bitstring", "format", "generate_series", "list_reduce", "list_resize"),
    *("lpad", "printf", "range", "reduce", "repeat", "repeat_row", "rpad"),
}
"""List functions that make values of any length: DuckDB can't be stopped in one, nor does it count the memory."""
_SQL_OF_TEXT = {"from_substrait", "from_substrait_json", "json_execute_serialized_sql", "query", "query_table"}
"""List functions that run a text as SQL, which could contain everything that is refused here."""


@dataclass(frozen=True)
class TrialFilter:
    """Hold `values` by column; the rest as the form has it. An empty text asks for nothing."""

    values: Mapping[str, str] = field(default_factory=dict)
    tokens_from: str = ""
    tokens_to: str = ""
    date_from: str = ""
    date_to: str = ""
    text: str = ""
    label: str = ""
    where: str = ""
    sort: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> TrialFilter:
        """Raise UsageError if a number, a date or the condition is invalid."""
        given = {name: query.get(name, "").strip() for name in (*COLUMNS, *_OTHERS)}
        chosen = cls(
            {name: given[name] for name in COLUMNS if given[name]},
            **{name: given[name] for name in _OTHERS},
        )
        check_known("order", chosen.sort, SORTS)
        chosen.conditions()
        return chosen

    def query(self, **changes: str) -> dict[str, str]:
        """Return the filter's query string, with changes."""
        whole = {**self.values, **{name: getattr(self, name) for name in _OTHERS}, **changes}
        return {name: value for name, value in whole.items() if value}

    @property
    def order(self) -> Order:
        column = self.sort.removeprefix("-")
        return Order((((column, self.sort.startswith("-")),) if column else ()) + ASKED)

    def conditions(self) -> list[Expression]:
        """Return a condition for each filter of a column; searched texts and labels of notes are no columns."""
        conditions = [_is(name, value) for name, value in self.values.items()]
        for name, value, parse, compare in (
            ("tokens", self.tokens_from, _whole, Expression.__ge__),
            ("tokens", self.tokens_to, _whole, Expression.__le__),
            ("done_at", self.date_from, _day, Expression.__ge__),
            ("done_at", self.date_to, _day_after, Expression.__lt__),
        ):
            if value:
                conditions.append(compare(ColumnExpression(name), ConstantExpression(parse(name, value))))
        if self.where:
            conditions.append(condition_of(self.where))
        return conditions

    def rows(
        self, connection: duckdb.DuckDBPyConnection, labelled: Collection[str] = (), matches: str = ""
    ) -> duckdb.DuckDBPyRelation:
        """Return the trials under this filter, unordered. `labelled` are the trials with the requested label, `matches`
        the table with the attempts in whose texts something was found."""
        rows, conditions = connection.view("trials"), self.conditions()
        if self.label:
            ids = [ConstantExpression(trial_id) for trial_id in labelled]
            conditions.append(ColumnExpression("trial_id").isin(*ids) if ids else ConstantExpression(False))
        if conditions:  # as one: each step of a relation reads the views again
            rows = rows.filter(reduce(and_, conditions))
        return rows.join(connection.view(matches), "attempt_id", how="semi") if matches else rows


_OTHERS = tuple(name for name in TrialFilter.__dataclass_fields__ if name != "values")


def condition_of(text: str) -> Expression:
    """Return an SQL condition that a person types, as one expression: it can't hold a second statement, nor end the
    query that contains it. Raise UsageError if it is invalid.
    """
    if len(text) > _LONGEST:
        raise UsageError(f"A condition has {_LONGEST:,} characters at most.")
    try:
        expression = SQLExpression(text)
    except duckdb.Error as error:
        raise UsageError(
            f"The condition can't be read: {str(error).splitlines()[0]}",
            "It is what SQL has behind WHERE: tokens > 500",
        ) from error
    used, endless = _functions(text), "it could take all memory, and could not be stopped"
    if growing := sorted(_GROWING & used):
        raise UsageError(f"A condition can't use {growing[0]}(): {endless}.")
    if hidden := sorted(_SQL_OF_TEXT & used):
        raise UsageError(f"A condition can't use {hidden[0]}(): it would run unchecked text as SQL.")
    if "recursive_cte_node" in used:
        raise UsageError(f"A condition can't use WITH RECURSIVE: {endless}.")
    return expression


@lru_cache(64)
def _functions(condition: str) -> frozenset[str]:
    """Return the names of the functions that a condition calls and the kinds of its parts, wherever they
    occur.
    """
    with duckdb.connect(":memory:") as connection:
        parsed = connection.execute("SELECT json_serialize_sql($1)", [f"SELECT 1 WHERE ({condition}\n)"]).fetchall()
    names, parts = set(), [json.loads(parsed[0][0])]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            names |= {str(part.get("function_name", "")).lower(), str(part.get("type", "")).lower()}
            part = list(part.values())
        parts += [inner for inner in part if isinstance(inner, dict | list)]
    return frozenset(names)


def _is(name: str, value: str) -> Expression:
    """Return whether a column has this value. A letter with two spellings in Unicode is the same letter (NFC)."""
    if name in _WHOLE_NUMBERS:
        return ColumnExpression(name) == ConstantExpression(_whole(name, value))
    if value.isascii():
        return ColumnExpression(name) == ConstantExpression(value)
    composed = FunctionExpression("nfc_normalize", ColumnExpression(name))
    return composed == ConstantExpression(unicodedata.normalize("NFC", value))


def _whole(name: str, value: str) -> int:
    if not value.removeprefix("-").isdecimal() or len(value) > 18:
        raise UsageError(f"{name} must be a whole number, but is {value[:40]!r}.")
    return int(value)


def _day(name: str, value: str) -> datetime:
    try:
        return datetime.strptime(value, "%Y-%m-%d")
    except ValueError as error:
        raise UsageError(f"A date must be as in 2026-01-31, but is {value[:40]!r}.") from error


def _day_after(name: str, value: str) -> datetime:
    day = _day(name, value)
    return day + timedelta(days=1) if day.year < datetime.max.year else day
