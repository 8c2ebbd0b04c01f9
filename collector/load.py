"""Journals into DuckDB. Twice is once: `loads` says how far each journal has been read, and advances in the same
transaction that inserts its rows. Nothing waits in memory while somebody else holds the database."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_type_hints

import duckdb
import polars as pl

from collector.check_facts import Facts
from collector.journal import journal_folder, utc_now, whole_lines
from collector.records import Attempt, Run
from collector.store import reading, writing

CHUNK_BYTES = 8_000_000
FINALS_AT_ONCE = 200_000
_REQUIRED = ("attempt_id", "run_id", "sequence", "trial_id", "is_final", "source", "study", "model", "outcome")
_KINDS = {int: pl.Int64, bool: pl.Boolean, float: pl.Float64}


def _polars_type(hint: Any) -> Any:
    options = [kind for kind in (int, bool, float) if kind is hint or kind in getattr(hint, "__args__", ())]
    return _KINDS[options[0]] if options else pl.String


SCHEMA = {f.name: _polars_type(get_type_hints(Attempt)[f.name]) for f in fields(Attempt)}
_RUN_COLUMNS = tuple(f.name for f in fields(Run) if f.name not in ("models", "tests"))
_INSERTS = {
    "attempts": "INSERT INTO attempts BY NAME SELECT * FROM new_rows",
    "runs": "INSERT INTO runs BY NAME SELECT * FROM new_rows",
    "run_models": "INSERT INTO run_models BY NAME SELECT * FROM new_rows",
    "run_tests": "INSERT INTO run_tests BY NAME SELECT * FROM new_rows",
    "pace_history": "INSERT INTO pace_history BY NAME SELECT * FROM new_rows",
    "checks": "INSERT INTO checks BY NAME SELECT * FROM new_rows",
}
_RECOUNT = (
    "UPDATE attempts SET reasoning_tokens_recounted = n.tokens, recount_tokenizer = n.tokenizer "
    "FROM new_rows n WHERE attempts.attempt_id = n.attempt_id"
)
_CHECK_COLUMNS = (
    *("provider", "requested_model", "settings", "verdict", "reasons", "answers", "code_version", "checked_at"),
    *(f.name for f in fields(Facts)),
)
# special lines that become rows of a table as they stand: kind -> table and the columns taken from the line
_ROW_KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "check": ("checks", _CHECK_COLUMNS),
    "pace": ("pace_history", ("noted_at", "model", "event", "request_limit", "in_flight", "wait_s", "detail")),
}


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

    def load(self, patience_s: float = 30.0) -> LoadReport:
        """Insert what the journals hold and the database lacks, a chunk a transaction.

        Raises DatabaseBusyError where another process keeps the file; the journals then still hold everything.
        """
        report = LoadReport()
        if self._offsets is None:
            self._offsets = loaded_offsets(self.db, patience_s)
        for path in sorted(journal_folder(self.db).glob("*.jsonl")):
            while self._offsets.get(path.name, 0) < path.stat().st_size and self._chunk(path, patience_s, report):
                pass
        return report

    def _chunk(self, path: Path, patience_s: float, report: LoadReport) -> bool:
        assert self._offsets is not None
        start = self._offsets.get(path.name, 0)
        chunk = next(whole_lines(path, start, CHUNK_BYTES), None)
        if chunk is None:
            return False
        end, data = chunk
        frame, special, bad = parse_lines(data)  # before the database is opened: readers wait for as little as can be
        with writing(self.db, patience_s) as connection:
            began = time.monotonic()
            found = connection.execute("SELECT byte_offset FROM loads WHERE journal = ?", [path.name]).fetchall()
            is_at = found[0][0] if found else 0
            if is_at == start:
                _insert(connection, frame)
                _keep_special(connection, path.stem, special)
                _keep_problems(connection, path, start, bad, report)
                connection.execute("DELETE FROM loads WHERE journal = ?", [path.name])
                connection.execute("INSERT INTO loads VALUES (?, ?, ?)", [path.name, end, utc_now()])
        report.held_s += time.monotonic() - began
        report.rows += frame.height if is_at == start else 0
        self._offsets[path.name] = end if is_at == start else is_at  # `collect load` may have been here, or nobody yet
        return True


def load_journals(db: Path, patience_s: float = 30.0) -> LoadReport:
    """Load everything once; see Loader.load."""
    return Loader(db).load(patience_s)


def loaded_offsets(db: Path, patience_s: float = 30.0) -> dict[str, int]:
    """How far each journal has been loaded, in bytes; empty where there is no database yet."""
    if not db.exists():
        return {}
    with reading(db, patience_s) as connection:
        return dict(connection.execute("SELECT journal, byte_offset FROM loads").fetchall())


def _insert(connection: duckdb.DuckDBPyConnection, frame: pl.DataFrame) -> None:
    if frame.height:
        connection.register("new_rows", frame.to_arrow(compat_level=pl.CompatLevel.newest()))  # without a copy
        connection.execute(_INSERTS["attempts"])
        connection.unregister("new_rows")


def _keep_problems(
    connection: duckdb.DuckDBPyConnection, path: Path, start: int, bad: list[tuple[int, str]], report: LoadReport
) -> None:
    if bad:
        first_line = _line_number(path, start)
        for index, problem in bad:
            holes = [path.name, first_line + index, problem, utc_now()]
            connection.execute("INSERT INTO journal_problems VALUES (?, ?, ?, ?)", holes)
            report.problems.append(f"{path}:{first_line + index}: {problem}")


def parse_lines(data: bytes) -> tuple[pl.DataFrame, list[dict[str, Any]], list[tuple[int, str]]]:
    """Whole lines -> attempts, run and end records, and (line index, reason) of those that can't be read."""
    lines = data.split(b"\n")[:-1]
    special = [index for index, line in enumerate(lines) if line.startswith(b'{"kind":')]
    records: list[dict[str, Any]] = []
    bad: list[tuple[int, str]] = []
    for index in reversed(special):
        line = lines.pop(index)
        try:
            records.insert(0, json.loads(line))
        except ValueError:
            bad.append((index, "not a JSON object"))
    frame = _fast(b"\n".join([*lines, b""])) if lines else pl.DataFrame(schema=SCHEMA)
    if frame is not None and not bad:
        return frame, records, bad
    frame, found = _slow(data)
    return frame, records, found


def _fast(data: bytes) -> pl.DataFrame | None:
    try:
        frame = pl.read_ndjson(io.BytesIO(data), schema=SCHEMA)
    except (pl.exceptions.PolarsError, OSError):
        return None
    complete = frame.height == data.count(b"\n") and not any(frame[name].null_count() for name in _REQUIRED)
    return frame if complete else None


def _slow(data: bytes) -> tuple[pl.DataFrame, list[tuple[int, str]]]:
    """One line at a time, so that a line of garbage costs only itself."""
    rows: list[dict[str, Any]] = []
    bad: list[tuple[int, str]] = []
    for index, line in enumerate(data.split(b"\n")[:-1]):
        try:
            record = json.loads(line)
            if isinstance(record, dict) and "kind" in record:
                continue
            missing = [name for name in _REQUIRED if record.get(name) is None]
            if missing:
                raise ValueError(f"no {', '.join(missing)}")
            rows.append(pl.DataFrame([record], schema=SCHEMA, strict=True).row(0, named=True))
        except (ValueError, TypeError, AttributeError, pl.exceptions.PolarsError) as error:
            reason = str(error).splitlines()[0] if isinstance(error, ValueError) else "not an attempt"
            bad.append((index, f"can't be read ({reason})"))
    return pl.DataFrame(rows, schema=SCHEMA), bad


def _keep_special(connection: duckdb.DuckDBPyConnection, run_id: str, records: list[dict[str, Any]]) -> None:
    """Lines that are no attempts, by their kind; a kind that only a newer slant knows is passed over."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        kind = record.get("kind")
        if kind == "run":
            _keep_run(connection, run_id, record)
        elif kind == "end":
            _keep_end(connection, run_id, record)
        elif kind in _ROW_KINDS:
            table, columns = _ROW_KINDS[kind]
            rows.setdefault(table, []).append({"run_id": run_id} | {name: record.get(name) for name in columns})
    for table, listed in rows.items():
        _insert_rows(connection, table, listed)
    _keep_recounts(connection, [record for record in records if record.get("kind") == "recounts"])


def _keep_recounts(connection: duckdb.DuckDBPyConnection, records: list[dict[str, Any]]) -> None:
    """Second counts of attempts that are there already; of two for one attempt the later stands."""
    counted = {attempt_id: (tokens, one["tokenizer"]) for one in records for attempt_id, tokens in one["rows"]}
    if not counted:
        return
    rows = [{"attempt_id": name, "tokens": tokens, "tokenizer": by} for name, (tokens, by) in counted.items()]
    connection.register("new_rows", pl.DataFrame(rows).to_arrow())
    connection.execute(_RECOUNT)
    connection.unregister("new_rows")


def _keep_end(connection: duckdb.DuckDBPyConnection, run_id: str, record: dict[str, Any]) -> None:
    connection.execute(
        "UPDATE runs SET finished_at = ?, end_reason = ? WHERE run_id = ?",
        [record.get("finished_at"), record.get("end_reason"), run_id],
    )


def _keep_run(connection: duckdb.DuckDBPyConnection, run_id: str, record: dict[str, Any]) -> None:
    _insert_rows(connection, "runs", [{name: record.get(name) for name in _RUN_COLUMNS}])
    for part in ("models", "tests"):
        listed = json.loads(record.get(part) or "[]")
        _insert_rows(connection, f"run_{part}", [_flat(run_id, place, row) for place, row in enumerate(listed, 1)])


def _flat(run_id: str, place: int, row: dict[str, Any]) -> dict[str, Any]:
    """One model or test of a run as a row; what is itself structured (settings) as JSON."""
    texts = {k: json.dumps(v, ensure_ascii=False) if isinstance(v, dict | list) else v for k, v in row.items()}
    return {"run_id": run_id, "place": place} | texts


def _insert_rows(connection: duckdb.DuckDBPyConnection, table: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    connection.register("new_rows", pl.DataFrame(rows, infer_schema_length=None).to_arrow())
    connection.execute(_INSERTS[table])
    connection.unregister("new_rows")


def _line_number(path: Path, offset: int) -> int:
    with path.open("rb") as file:
        return file.read(offset).count(b"\n") + 1


def final_trial_ids(db: Path, study: str, patience_s: float = 30.0) -> set[str]:
    """Ids of all trials of `study` with a final attempt, as a set; for very many of them see collector/finals.py."""
    return {trial_id for batch in final_ids(db, study, patience_s) for trial_id in batch}


def final_ids(db: Path, study: str, patience_s: float = 30.0) -> Iterator[pl.Series]:
    """The same ids in batches, some of them perhaps twice: those in the database, then those that it has not loaded."""
    offsets: dict[str, int] = {}
    if db.exists():
        with reading(db, patience_s) as connection:
            offsets = dict(connection.execute("SELECT journal, byte_offset FROM loads").fetchall())
            query = "SELECT trial_id FROM attempts WHERE is_final AND study = $study"
            for batch in connection.sql(query, params={"study": study}).to_arrow_reader(FINALS_AT_ONCE):
                yield pl.Series(pl.from_arrow(batch.column(0)))
    for path in sorted(journal_folder(db).glob("*.jsonl")):
        for _, data in whole_lines(path, offsets.get(path.name, 0), CHUNK_BYTES):
            yield parse_lines(data)[0].filter(pl.col("is_final") & (pl.col("study") == study))["trial_id"]
