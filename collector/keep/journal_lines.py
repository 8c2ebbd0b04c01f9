"""Parse lines of a journal into rows: fast if all is well; otherwise only the bad lines are lost."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache
from typing import Any, get_type_hints

import duckdb
import polars as pl

from slant.collector.check_facts import CheckFacts
from slant.collector.keep.frames import registered
from slant.collector.keep.journal_files import checked_lines, divided
from slant.collector.keep.schema import READ_AGAIN_STORED, migration_texts
from slant.collector.records import OWN, READ_AGAIN, Attempt, Run
from slant.collector.system.json_text import decoded
from slant.collector.system.shipped_files import sql_query

_REQUIRED = ("attempt_id", "run_id", "sequence", "trial_id", "is_final", "source", "study", "model", "outcome")
_SPECIAL = b'{"kind":'
_NULL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")  # escaped as such: after an even number of backslashes
UNREADABLE_LINE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)  # with PolarsError


@cache
def attempt_schema() -> dict[str, Any]:
    """Columns of attempts and their types in Polars."""
    kinds = {int: pl.Int64, bool: pl.Boolean, float: pl.Float64}
    hints = get_type_hints(Attempt)
    options = {f.name: (hints[f.name], *getattr(hints[f.name], "__args__", ())) for f in fields(Attempt)}
    return {name: next((kinds[kind] for kind in kinds if kind in of_it), pl.String) for name, of_it in options.items()}


_RUN_COLUMNS = tuple(f.name for f in fields(Run) if f.name not in ("models", "tests", "conditions"))
_RECOUNT = (
    "UPDATE attempts SET reasoning_tokens_recounted = n.tokens, recount_tokenizer = n.tokenizer "
    "FROM new_rows n WHERE attempts.attempt_id = n.attempt_id"
)
_REREAD = (
    f"UPDATE attempts SET {', '.join(f'{name} = n.{name}' for name in READ_AGAIN_STORED)}, "  # noqa: S608
    "read_again_at = n.read_again_at::TIMESTAMP FROM ({typed}) n WHERE attempts.attempt_id = n.attempt_id"
)
_PARTICIPANTS = "INSERT INTO run_participants SELECT run_id, participant, map(names, levels) FROM new_rows"
_SAMPLE_COLUMNS = ("study", "drawn_by", "drawn_at")
_MERGE_COLUMNS = ("lineage", "source", "merged_at")
_REGISTRATION_COLUMNS = ("sha256", "study", "text", "kept_at")
_STUDY_COLUMNS = ("study", "study_version", "text_id", "kept_at")
_LOOK_COLUMNS = (
    *("plan", "study", "study_version", "variant", "source", "model", "seed", "until_width", "looks"),
    *("most_repetitions", "look_no", "repetitions", "fit", "outcome", "looked_at"),
)
_WIDTH_COLUMNS = ("test", "half_width", "least_half_width", "status", "n_trials", "width_margin")
_CHECK_COLUMNS = (
    *("provider", "requested_model", "settings", "verdict", "reasons", "answers", "code_version", "checked_at"),
    *(f.name for f in fields(CheckFacts)),
)
# special lines that become rows of a table unchanged: kind -> table and the columns taken from the line
_ROW_KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "check": ("checks", _CHECK_COLUMNS),
    "set_aside": ("set_aside", ("of_run", "study", "reason", "is_back", "noted_at", "note_no")),
    "pace": ("pace_history", ("noted_at", "model", "event", "request_limit", "in_flight", "wait_s", "detail")),
}
# what special lines must hold: kind, the type of which keys, and the message if one is missing or wrong
_NEEDED: tuple[tuple[str, type, tuple[str, ...], str], ...] = (
    ("run", str, ("run_id", "source", "study"), "a run without its name"),
    ("study", str, _STUDY_COLUMNS, "a study without its name, version or text"),
    ("study", list, ("files", "contents"), "a study without its files"),
    ("registration", str, _REGISTRATION_COLUMNS, "a registration without its hash or text"),
    ("look", str, ("plan",), "a look without its plan or its widths"),
    ("look", list, ("widths",), "a look without its plan or its widths"),
    ("readings", str, ("read_at",), "readings without their time"),
    ("readings", list, ("rows",), "readings without their rows"),
    ("set_aside", str, ("of_run", "study", "reason", "noted_at"), "a run set aside without its name or reason"),
    ("set_aside", bool, ("is_back",), "a run set aside without its name or reason"),
    ("sample", str, _SAMPLE_COLUMNS, "a sample without its study"),
    ("sample", list, ("rows",), "a sample without its texts"),
    ("merge", str, _MERGE_COLUMNS, "a merge without its source"),
    ("merge", list, ("runs",), "a merge without its runs"),
    ("participants", list, ("rows",), "participants without their rows"),
    ("answers", list, ("shared",), "answers without what they share"),
    ("answers", dict, ("rows",), "answers without their rows"),
)


@dataclass
class Parsed:
    """Hold what a chunk of a journal holds; `bad` has (line index, reason) of the lines that can't be read."""

    attempts: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=attempt_schema()))
    special: list[dict[str, Any]] = field(default_factory=list)
    bad: list[tuple[int, str]] = field(default_factory=list)

    @property
    def runs(self) -> set[str]:
        """Return the runs whose attempts are here."""
        shared = {row["run_id"] for line in self._answers for row in line["shared"][:1]}
        return shared | set(self.attempts["run_id"].unique())

    @property
    def n_attempts(self) -> int:
        return self.attempts.height + sum(len(line["rows"]["shared_no"]) for line in self._answers)

    @property
    def _answers(self) -> list[dict[str, Any]]:
        return [record for record in self.special if record["kind"] == "answers"]


def parse(data: bytes) -> Parsed:
    """Parse complete lines into attempts, run and end records, and the lines that are neither.

    A null character, which R can't hold in a text, becomes \ufffd: one of them in one answer would close the whole view
    to R. The raw response has it as JSON escapes it, and so has the journal.
    """
    parts = None if rb"\u0000" in data else divided(data, _SPECIAL)
    if parts is not None and (parsed_at_once := _all_at_once(*parts)) is not None:
        return parsed_at_once
    places, lines, bad = _sound_lines(data)
    parsed = _parsed(lines)
    parsed.bad = sorted([*bad.items(), *((places[index], reason) for index, reason in parsed.bad)])
    return parsed


def _sound_lines(data: bytes) -> tuple[list[int], list[bytes], dict[int, str]]:
    """Return the lines that are as they were written, each with its index, and what is wrong with the others."""
    checked, bad = checked_lines(data.split(b"\n")[:-1])
    sound = [(index, line) for index, line in enumerate(checked) if line is not None]
    return [index for index, _ in sound], [line for _, line in sound], bad


def _parsed(lines: list[bytes]) -> Parsed:
    """Parse lines without their sums."""
    lines = [_NULL.sub(rb"\1\\ufffd", line) if rb"\u0000" in line else line for line in lines]
    attempts = b"".join(line + b"\n" for line in lines if not line.startswith(_SPECIAL))
    parsed = _all_at_once(attempts, [line for line in lines if line.startswith(_SPECIAL)])
    return _one_by_one(lines) if parsed is None else parsed


def parse_carefully(data: bytes) -> Parsed:
    """Parse as parse() does, but leave out also what DuckDB itself will not take (a malformed time or number)."""
    places, lines, bad = _sound_lines(data)
    with duckdb.connect(":memory:") as scratch:
        for migration in migration_texts():
            scratch.execute(migration)
        refused = dict(_refused(scratch, lines, 0))
    kept = [index for index in range(len(lines)) if index not in refused]
    parsed = _parsed([lines[index] for index in kept])
    refused |= {kept[place]: reason for place, reason in parsed.bad}  # bad among others, but good alone
    bad |= {places[index]: reason for index, reason in refused.items()}
    parsed.bad = sorted(bad.items())
    return parsed


def _refused(scratch: duckdb.DuckDBPyConnection, lines: list[bytes], first: int) -> list[tuple[int, str]]:
    """Find the lines that can't be inserted: one bad line in a chunk takes about as long as the
    chunk.
    """
    reason = _why_not(scratch, lines)
    if reason is None:
        return []
    if len(lines) == 1:
        return [(first, reason)]
    half = len(lines) // 2
    return _refused(scratch, lines[:half], first) + _refused(scratch, lines[half:], first + half)


def _why_not(scratch: duckdb.DuckDBPyConnection, lines: list[bytes]) -> str | None:
    parsed = _parsed(lines)
    if parsed.bad:
        return parsed.bad[0][1]
    scratch.execute("BEGIN")
    try:
        insert(scratch, "run", parsed)
    except (duckdb.Error, pl.exceptions.PolarsError, *UNREADABLE_LINE) as error:
        return f"can't be read ({str(error).splitlines()[0]})"
    finally:
        scratch.execute("ROLLBACK")
    return None


def _all_at_once(attempts: bytes, special: list[bytes]) -> Parsed | None:
    """Parse lines of attempts, one text, and special ones; None if one of them is neither. Keys that no attempt has are
    left out."""
    try:
        schema = attempt_schema()
        frame = pl.read_ndjson(io.BytesIO(attempts), schema=schema) if attempts else pl.DataFrame(schema=schema)
        is_whole = frame.height == attempts.count(b"\n") and not any(frame[name].null_count() for name in _REQUIRED)
        return Parsed(frame, [_special(decoded(str(line, "utf-8"))) for line in special]) if is_whole else None
    except (OSError, pl.exceptions.PolarsError, *UNREADABLE_LINE):
        return None


def _one_by_one(lines: list[bytes]) -> Parsed:
    parsed, rows = Parsed(), []
    for index, line in enumerate(lines):
        try:
            record = json.loads(line)
            if isinstance(record, dict) and "kind" in record:
                parsed.special.append(_special(record))
            else:
                rows.append(_attempt(record))
        except (pl.exceptions.PolarsError, *UNREADABLE_LINE) as error:
            reason = str(error).splitlines()[0] if isinstance(error, ValueError) else "not an attempt"
            parsed.bad.append((index, f"can't be read ({reason})"))
    parsed.attempts = pl.DataFrame(rows, schema=attempt_schema())
    return parsed


def _attempt(record: Any) -> dict[str, Any]:
    # a question mark for each half of a surrogate pair, which no column can hold
    record = {n: v.encode("utf-8", "replace").decode() if isinstance(v, str) else v for n, v in record.items()}
    missing = [name for name in _REQUIRED if record.get(name) is None]
    if missing:
        raise ValueError(f"no {', '.join(missing)}")
    return pl.DataFrame([record], schema=attempt_schema(), strict=True).row(0, named=True)


def _special(record: dict[str, Any]) -> dict[str, Any]:
    if record["kind"] not in ("end", "recounts", "readings", "participants", "answers", *_INSERTED_BY, *_ROW_KINDS):
        raise ValueError(f"no such kind of line: {str(record['kind'])[:40]}")
    for kind, type_, names, reason in _NEEDED:
        if record["kind"] == kind and not all(isinstance(record.get(name), type_) for name in names):
            raise ValueError(reason)
    shared = record["shared"] if record["kind"] == "answers" else []
    if not all(isinstance(run, str) for run in (*record.get("runs", ()), *(row["run_id"] for row in shared))):
        raise ValueError("runs without names")
    if record["kind"] == "end":
        datetime.fromisoformat(record["finished_at"])  # an update of a missing run would not check it
    return record


def insert(connection: duckdb.DuckDBPyConnection, run_id: str, parsed: Parsed) -> None:
    """Put what was parsed into the tables; `run_id` is the journal's, which identifies its end record."""
    if parsed.attempts.height:
        with registered(connection, "new_rows", parsed.attempts):
            connection.execute(f"INSERT INTO attempts BY NAME {sql_query('typed_rows')}")
    noted: dict[str, list[dict[str, Any]]] = {}
    for record in parsed.special:
        if record["kind"] in _INSERTED_BY:
            _INSERTED_BY[record["kind"]](connection, record)
        elif record["kind"] in _ROW_KINDS:
            table, columns = _ROW_KINDS[record["kind"]]
            noted.setdefault(table, []).append({"run_id": run_id} | {name: record.get(name) for name in columns})
        elif record["kind"] == "end":
            connection.execute(
                "UPDATE runs SET finished_at = ?, end_reason = ? WHERE run_id = ?",
                [record.get("finished_at"), record.get("end_reason"), run_id],
            )
        elif record["kind"] == "participants":
            _insert_participants(connection, run_id, record)
        elif record["kind"] == "answers":
            _insert_answers(connection, record)
    for table, rows in noted.items():
        _insert_rows(connection, table, pl.DataFrame(rows, infer_schema_length=None))
    _keep_recounts(connection, [record for record in parsed.special if record["kind"] == "recounts"])
    for record in parsed.special:
        if record["kind"] == "readings":
            _keep_readings(connection, record)


def _keep_recounts(connection: duckdb.DuckDBPyConnection, records: list[dict[str, Any]]) -> None:
    """Store second counts of existing attempts; of two for one attempt the later one counts."""
    counted = {attempt_id: (tokens, record["tokenizer"]) for record in records for attempt_id, tokens in record["rows"]}
    if not counted:
        return
    rows = [{"attempt_id": name, "tokens": tokens, "tokenizer": by} for name, (tokens, by) in counted.items()]
    with registered(connection, "new_rows", pl.DataFrame(rows)):
        connection.execute(_RECOUNT)


def _keep_readings(connection: duckdb.DuckDBPyConnection, record: dict[str, Any]) -> None:
    """Store what a later reading made of existing attempts."""
    names = ("attempt_id", *READ_AGAIN)
    rows = [{name: row.get(name) for name in names} | {"read_again_at": record["read_at"]} for row in record["rows"]]
    schema = {name: attempt_schema()[name] for name in names} | {"read_again_at": pl.String}
    if rows:
        with registered(connection, "new_rows", pl.DataFrame(rows, schema=schema)):
            connection.execute(_REREAD.format(typed=sql_query("typed_rows")))


def _insert_run(connection: duckdb.DuckDBPyConnection, record: dict[str, Any]) -> None:
    _insert_rows(connection, "runs", pl.DataFrame([{name: record.get(name) for name in _RUN_COLUMNS}]))
    for part in ("models", "tests", "conditions"):
        listed = [  # nested values (settings) become JSON
            {"run_id": record["run_id"], "place": place}
            | {k: json.dumps(v, ensure_ascii=False) if isinstance(v, dict | list) else v for k, v in row.items()}
            for place, row in enumerate(json.loads(record.get(part) or "[]"), 1)
        ]
        if listed:
            _insert_rows(connection, f"run_{part}", pl.DataFrame(listed, infer_schema_length=None))


def _insert_study(connection: duckdb.DuckDBPyConnection, record: dict[str, Any]) -> None:
    """Insert each text once, with the time when it was used last: every journal has the text of its study."""
    of_text = {name: record[name] for name in _STUDY_COLUMNS}
    known = [of_text["study"], of_text["study_version"]]
    newer = "SELECT count(*) FROM study_files WHERE study = ? AND study_version = ? AND text_id = ? AND kept_at > ?"
    if connection.execute(newer, [*known, of_text["text_id"], of_text["kept_at"]]).fetchall()[0][0]:
        return  # an older journal came later
    connection.execute("DELETE FROM study_contents WHERE study = ? AND study_version = ?", known)
    connection.execute(
        "DELETE FROM study_files WHERE study = ? AND study_version = ? AND text_id = ?", [*known, of_text["text_id"]]
    )
    files = [
        of_text | {"file_no": no, "file": name, "text": text} for no, (name, text) in enumerate(record["files"], 1)
    ]
    of_version = {name: of_text[name] for name in ("study", "study_version", "kept_at")}
    contents = [of_version | {"content": content} for content in record["contents"]]
    for table, rows in (("study_files", files), ("study_contents", contents)):
        if rows:
            _insert_rows(connection, table, pl.DataFrame(rows))


def _insert_registration(connection: duckdb.DuckDBPyConnection, record: dict[str, Any]) -> None:
    """Insert each registration once, with the time of its first run: every journal of a registered study has it."""
    known = connection.execute("SELECT count(*) FROM registrations WHERE sha256 = ?", [record["sha256"]]).fetchall()
    if not known[0][0]:
        _insert_rows(connection, "registrations", pl.DataFrame([{n: record[n] for n in _REGISTRATION_COLUMNS}]))


def _insert_look(connection: duckdb.DuckDBPyConnection, record: dict[str, Any]) -> None:
    """Insert one row for each test; a look at nothing has none."""
    of_look = {name: record.get(name) for name in _LOOK_COLUMNS}
    rows = [
        of_look | {"place": place} | {name: width.get(name) for name in _WIDTH_COLUMNS}
        for place, width in enumerate(record["widths"], 1)
    ]
    if rows:
        _insert_rows(connection, "precision_looks", pl.DataFrame(rows, infer_schema_length=None))


def _insert_participants(connection: duckdb.DuckDBPyConnection, run_id: str, record: dict[str, Any]) -> None:
    """Insert each person once: a line is `[number, {name: value}]` for some of them."""
    texts = pl.List(pl.String)
    kinds: Any = {"run_id": pl.String, "participant": pl.Int32, "names": texts, "levels": texts}
    rows = [
        (run_id, number, list(attributes), list(map(str, attributes.values()))) for number, attributes in record["rows"]
    ]
    with registered(connection, "new_rows", pl.DataFrame(rows, schema=kinds, orient="row")):
        connection.execute(_PARTICIPANTS)


def _insert_answers(connection: duckdb.DuckDBPyConnection, record: dict[str, Any]) -> None:
    """Insert answers that share attempts: a row each, with what is its own (see importing/)."""
    schema = attempt_schema()
    shared = pl.DataFrame(record["shared"], schema=schema)
    # what a row has by itself, as lists of the same length; all other columns are shared
    own: dict[str, Any] = {"shared_no": pl.UInt32} | {name: schema[name] for name in OWN}
    rows = pl.DataFrame({name: record["rows"].get(name) for name in own}, schema=own)
    if (rows["shared_no"] >= shared.height).any():
        raise ValueError("answers that share what is not there")
    completed = [name for name in OWN if name not in ("trial_id", "position")]  # of people these are the plan's
    rows = rows.with_columns(pl.coalesce(name, shared[name].gather(rows["shared_no"])) for name in completed)
    shared = shared.rename({"trial_id": "shared_trial_id"}).drop(n for n in OWN if n != "trial_id")
    shared = shared.with_row_index("shared_no")
    with registered(connection, "new_rows", shared), registered(connection, "new_answers", rows):
        connection.execute(f"CREATE OR REPLACE TEMP TABLE new_shared AS {sql_query('typed_rows')}")
        connection.execute(sql_query("insert_answers"))
        connection.execute("DROP TABLE new_shared")


def _insert_merge(connection: duckdb.DuckDBPyConnection, record: dict[str, Any]) -> None:
    """Insert each lineage once: a merge of merged databases brings it again."""
    of_merge = {name: record[name] for name in _MERGE_COLUMNS}
    connection.execute("DELETE FROM merged_runs WHERE lineage = ?", [record["lineage"]])
    _insert_rows(connection, "merged_runs", pl.DataFrame([of_merge | {"run_id": run_id} for run_id in record["runs"]]))


def _insert_sample(connection: duckdb.DuckDBPyConnection, record: dict[str, Any]) -> None:
    """Insert the texts of a sample: a line is `[item, probability, whether it is drawn]` for each of them."""
    shared = {name: record.get(name) for name in ("run_id", "sample_no", "seed", *_SAMPLE_COLUMNS)}
    columns = {"item": pl.String, "probability": pl.Float64, "is_drawn": pl.Boolean}
    rows = pl.DataFrame(record["rows"], schema=columns, orient="row")
    _insert_rows(connection, "text_samples", rows.with_columns(pl.lit(value).alias(n) for n, value in shared.items()))


_INSERTED_BY: dict[str, Callable[[duckdb.DuckDBPyConnection, dict[str, Any]], None]] = {
    "run": _insert_run,
    "study": _insert_study,
    "registration": _insert_registration,
    "look": _insert_look,
    "merge": _insert_merge,
    "sample": _insert_sample,
}


def _insert_rows(connection: duckdb.DuckDBPyConnection, table: str, rows: pl.DataFrame) -> None:
    with registered(connection, "new_rows", rows):
        connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM new_rows")  # noqa: S608 - one of our tables
