"""Keep results of R calls in the database: one row of the table `calls` each, and the data frames that R returned.

`results()` takes what is kept and unchanged, computes the rest, and keeps each as it ends. result_rows.py has the rows.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.analysis.bridge.r_home import version_numbers
from slant.analysis.bridge.r_packages import r_code_hash
from slant.analysis.bridge.worker import versions_now
from slant.analysis.calls import result_rows
from slant.analysis.calls.call import SAY, Answer, Call, answered, computed
from slant.analysis.calls.executors import MixedVersions, Workers, worker_count
from slant.analysis.calls.in_worker import R_CODE
from slant.analysis.calls.result_rows import ID, Frames, model_folder, plain, table_schema
from slant.collector.errors import DatabaseError, RError
from slant.collector.keep.database import reading, writing
from slant.collector.keep.frames import frame_of, registered
from slant.collector.system.files import regular_files, remove
from slant.collector.system.shipped_files import sql_query
from slant.collector.terminal import count_text

Progress = Callable[[int, int], None]
"""Receive how many calls are done and how many there are. It may also have `watch(path, name)`, a file in which a long
call writes what it is doing, and `note(text)`, what to say at once.
"""
MACHINE = "machine"
"""Name the machine that made a result, where versions may be mixed (and R_CODE there), next to its versions."""
_KEEP_EVERY_S = 2.0
_KEEPING = 0.1  # the share of time that keeping may take, if a disk is slow
_PATIENCE_S = 0.5  # with another process that holds the database while calls go on: they are tried again with the next
_LAST_PATIENCE_S = 30.0
_log = logging.getLogger("slant.analysis.results")
_reasons_not_kept: dict[str, None] = {}


@dataclass(frozen=True)
class Results:
    """Hold what calls gave, in the order of the request.

    calls: one row per call, in the columns of the table `calls`. frames: by the name of its table, each data frame that
    they returned, all calls below each other, distinguished by call_id. computed: the ids of those that were computed
    now. not_kept: why these could not be written to the database; None if they were.
    """

    calls: pl.DataFrame
    frames: Mapping[str, pl.DataFrame]
    computed: frozenset[str] = frozenset()
    not_kept: str | None = None

    def of(self, calls: Sequence[Call]) -> Results:
        """Return the results of these calls, in their order."""
        order = pl.DataFrame({ID: [call.id for call in calls]}, schema={ID: pl.String})
        return Results(
            _in_order(order, self.calls),
            {name: _in_order(order, frame) for name, frame in self.frames.items()},
            self.computed & set(order[ID]),
            self.not_kept,
        )

    def check_none_failed(self) -> None:
        """Raise RError, with its reason, for the first call that failed."""
        failed = self.calls.filter(pl.col("status") == "failed")
        if failed.height:
            row = failed.row(0, named=True)
            raise RError(f"R could not finish {row['function']}() of {row['about']}.", row["messages"])


def results(
    db: str | Path,
    calls: Sequence[Call],
    *,
    refit: bool = False,
    workers: Workers = None,
    progress: Progress | None = None,
    raises: bool = True,
    beside: Mapping[str, pl.DataFrame] | None = None,
) -> Results:
    """Return the result of each call: stored (with the same rows, arguments, R code, versions of packages) or computed
    now.

    Each is kept as it ends; for a failed call its reason is kept, and it is tried again. `refit` computes all again.
    `workers` R processes (default: the cores), or any `concurrent.futures.Executor`; versions of R and packages are
    those of this machine, except with `mixed_versions(executor)`, which accepts any. Without R, kept results are still
    returned. `raises`: an error of R (RError) ends everything; else it is a failed call, as one whose process died
    always is. `beside`: rows of other tables, written with the last results. Raise RError if R or a package is missing.
    """
    kept = _Kept(db, calls)
    is_mixed = isinstance(workers, MixedVersions)
    unchanged = set() if refit else kept.unchanged(calls, any_versions=is_mixed)
    todo = list({call.id: call for call in calls if call.id not in unchanged}.values())
    store = _Store(Path(db), kept.relabelled([call for call in calls if call.id in unchanged]), names_machine=is_mixed)
    total = len({call.id for call in calls})
    done = total - len(todo)
    if progress and done:
        progress(done, total)
    try:
        with closing(computed(_with_asides(db, todo, workers, progress), workers)) as answers:
            for number, answer in answers:
                if raises and not answer.has_died:
                    answer.raise_error()
                done += 1
                store.add(todo[number], answer, is_last=done == total)
                if progress:
                    progress(done, total)
        store.beside = dict(beside or {})
    finally:
        store.flush()
        if store.not_kept:
            _reasons_not_kept[store.not_kept] = None
    parts = [kept.of(calls, unchanged), *store.parts]
    tables = {name: _stacked(parts, name) for name in dict.fromkeys(t for call in calls for t in call.tables.values())}
    every = Results(_stacked(parts, "calls"), tables, frozenset(call.id for call in todo), store.not_kept)
    return every.of(calls)


def take_reasons_not_kept() -> list[str]:
    """Return the distinct reasons why results of this process were not written to their database, and forget them."""
    reasons = list(_reasons_not_kept)
    _reasons_not_kept.clear()
    return reasons


def not_kept_yet(db: str | Path, calls: Sequence[Call]) -> list[Call]:
    """Return the calls that `results()` would compute."""
    unchanged = _Kept(db, calls).unchanged(calls)
    return [call for call in calls if call.id not in unchanged]


def unchanged_ids(calls: Sequence[Call], rows: pl.DataFrame, versions: Mapping[str, str] | None) -> list[str]:
    """Return the ids of calls that `rows` (call_id, status, versions) hold, made by these versions (None: any)."""
    then = {row[ID]: row for row in rows.to_dicts() if row["status"] != "failed"}
    return [call.id for call in calls if call.id in then and _is_made_alike(then[call.id]["versions"], versions)]


class _Kept:
    """Read what is kept of these calls, by table."""

    def __init__(self, db: str | Path, calls: Sequence[Call]) -> None:
        self.frames: Frames = {}
        ids = pl.DataFrame({ID: [call.id for call in calls]}, schema={ID: pl.String})
        if not Path(db).exists():
            return
        with reading(db) as connection, registered(connection, "asked", ids):
            for table in ("calls", *dict.fromkeys(t for call in calls for t in call.tables.values())):
                rows = f"SELECT t.* FROM {table} t WHERE {ID} IN (SELECT {ID} FROM asked) ORDER BY rowid"  # noqa: S608
                self.frames[table] = frame_of(connection.sql(rows)).cast(table_schema(table))

    def unchanged(self, calls: Sequence[Call], *, any_versions: bool = False) -> set[str]:
        """Return the ids of calls that need not be made again. Without R, that is all kept ones."""
        rows = {row[ID]: row for row in self.frames["calls"].to_dicts()} if "calls" in self.frames else {}
        known = [call for call in calls if call.id in rows and rows[call.id]["status"] != "failed"]
        if any_versions:
            return {call.id for call in known}
        versions = _versions({call.packages for call in known})
        return {call.id for call in known if _is_made_alike(rows[call.id]["versions"], versions[call.packages])}

    def relabelled(self, calls: Sequence[Call]) -> dict[str, pl.DataFrame]:
        """Return the rows whose further columns these calls now give differently, with the new values; here, too."""
        changed: dict[str, pl.DataFrame] = {}
        by_first_table: dict[str, list[Call]] = {}
        for call in calls:
            if call.columns and call.tables:
                by_first_table.setdefault(next(iter(call.tables.values())), []).append(call)
        for table, of_table in by_first_table.items():
            names = [name for name in table_schema(table) if any(name in call.columns for call in of_table)]
            if not names or table not in self.frames:
                continue
            schema: dict[str, Any] = {ID: pl.String, **{name: table_schema(table)[name] for name in names}}
            now = pl.DataFrame(
                [{ID: c.id, **{n: plain(c.columns.get(n)) for n in names}} for c in of_table], schema=pl.Schema(schema)
            )
            before = self.frames[table].filter(pl.col(ID).is_in(now[ID].to_list()))
            after = before.drop(names).join(now, on=ID, how="left", maintain_order="left").select(before.columns)
            is_other = pl.Series([a != b for a, b in zip(before.rows(), after.rows(), strict=True)], dtype=pl.Boolean)
            ids = after.filter(is_other)[ID].unique().to_list()
            if ids:
                changed[table] = after.filter(pl.col(ID).is_in(ids))
                rest = self.frames[table].filter(~pl.col(ID).is_in(ids))
                self.frames[table] = pl.concat([rest, changed[table]])
        return changed

    def of(self, calls: Sequence[Call], ids: set[str]) -> Frames:
        return {table: frame.filter(pl.col(ID).is_in(list(ids))) for table, frame in self.frames.items()}


class _Store:
    """Write results into the database as they end, a few at once. What could not be written is tried again with the
    next, and at the end; numbers that can't be kept are still worth seeing.
    """

    def __init__(self, db: Path, relabelled: Frames, *, names_machine: bool) -> None:
        self._db = db
        self._relabelled = relabelled
        self._names_machine = names_machine
        self._ended: list[tuple[Call, Answer]] = []
        self._waiting: list[Frames] = []
        self._written_at = time.monotonic()
        self._every_s = _KEEP_EVERY_S
        self.parts: list[Frames] = []
        self.beside: Frames = {}
        self.not_kept: str | None = None

    def add(self, call: Call, answer: Answer, *, is_last: bool) -> None:
        self._ended.append((call, self._with_machine(answer)))
        _log.info("%s of %s: %s, %.2f s", call.function, call.place, answer.error or "has ended", answer.seconds)
        if not is_last and time.monotonic() - self._written_at > self._every_s:
            self.flush(_PATIENCE_S)

    def flush(self, patience_s: float = _LAST_PATIENCE_S) -> None:
        began = time.monotonic()
        if self._ended:
            frames = result_rows.rows_of_calls(self._ended)
            self._ended = []
            self.parts.append(frames)
            self._waiting.append(frames)
        if not self._waiting and not self._relabelled and not self.beside:
            return
        tables = dict.fromkeys(name for part in self._waiting for name in part)
        try:
            frames = {name: _stacked(self._waiting, name) for name in tables}
            replaced = _write(self._db, frames, self._relabelled, self.beside, patience_s)
        except DatabaseError as error:
            self.not_kept = str(error)
        else:
            self.not_kept, self._waiting, self._relabelled, self.beside = None, [], {}, {}
            for old in replaced:  # the models of results that others have replaced
                for file in regular_files(model_folder(self._db), f"{old}.*") if old.isalnum() else ():
                    with suppress(OSError):
                        remove(file)
        self._written_at = time.monotonic()
        self._every_s = max(_KEEP_EVERY_S, (self._written_at - began) / _KEEPING)

    def _with_machine(self, answer: Answer) -> Answer:
        if not self._names_machine or not answer.versions:
            return answer
        return replace(answer, versions={**answer.versions, MACHINE: answer.machine, R_CODE: answer.r_code})


def _write(db: Path, frames: Frames, relabelled: Frames, beside: Frames, patience_s: float) -> set[str]:
    """Write in one transaction; each result replaces the earlier one about the same, whose ids are returned."""
    with writing(db, patience_s) as connection:
        replaced: set[str] = set()
        if frames:
            with registered(connection, "new_calls", frames["calls"].select(ID, "function", "about")):
                replaced = {row[0] for row in connection.execute(sql_query("replaced_calls")).fetchall()}
            _replace(connection, frames, replaced)
        for table, frame in relabelled.items():
            _replace(connection, {table: frame}, frame[ID].unique().to_list())
        for table, frame in beside.items():
            _insert(connection, table, frame)
    return replaced - set(frames["calls"][ID]) if frames else set()


def _replace(connection: duckdb.DuckDBPyConnection, frames: Frames, ids: Iterable[str]) -> None:
    gone = pl.DataFrame({ID: list(ids)}, schema={ID: pl.String})
    with registered(connection, "gone", gone):
        for table, frame in frames.items():
            if gone.height:
                connection.execute(f"DELETE FROM {table} WHERE {ID} IN (SELECT {ID} FROM gone)")  # noqa: S608
            _insert(connection, table, frame)


def _insert(connection: duckdb.DuckDBPyConnection, table: str, frame: pl.DataFrame) -> None:
    with registered(connection, "new_rows", frame):
        connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM new_rows")  # noqa: S608


def _with_asides(db: str | Path, calls: Sequence[Call], workers: Workers, progress: Progress | None) -> list[Call]:
    """Add what changes no number: where models go, and where a long call writes what it does."""
    made: list[Call] = []
    watch, note = getattr(progress, "watch", None), getattr(progress, "note", None)
    for call in calls:
        writes = {name: result_rows.model_file(db, call.id, ending) for name, ending in call.keeps.items()}
        if (call.keeps or call.says) and not os.access(result_rows.made_model_folder(db), os.W_OK):
            writes = writes if not isinstance(workers, Executor) else {}  # R says why; elsewhere this would be lost
        asides = dict(call.asides)
        if call.cores == "all" and note and (duration := expected_duration(call, workers)):
            note(f"{call.says}: {duration}")
        if call.says and watch and not isinstance(workers, Executor):
            status_file = model_folder(db) / f"{call.id}.says"
            remove(status_file)
            watch(status_file, call.says)
            asides[SAY] = str(status_file)
        made.append(replace(call, writes=writes, asides=asides))
    return made


def _versions(wanted: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], dict[str, str] | None]:
    """Return the versions that calls with these packages would be made with now; R is asked once if it has all of
    them.
    """
    groups = list(wanted)
    every = tuple(dict.fromkeys(name for packages in groups for name in packages))
    if len(groups) > 1 and (now := versions_now(every)):
        return {packages: {name: now[name] for name in ("R", *packages)} for packages in groups}
    return {packages: versions_now(packages) for packages in groups}


def _is_made_alike(then: str | None, now: Mapping[str, str] | None) -> bool:
    """Return whether a result was made with the present versions, as far as known (a call of different R code has a
    different id, unless versions are mixed): R writes one version in two ways, 1.1-31 and 1.1.31.
    """
    made_with = json.loads(then or "{}")
    if now is not None and made_with.get(R_CODE, r_code_hash()) != r_code_hash():
        return False
    shared = [name for name in now or {} if name in made_with]
    return all(version_numbers(made_with[name]) == version_numbers((now or {})[name]) for name in shared)


def _stacked(parts: Sequence[Mapping[str, pl.DataFrame]], table: str) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema=table_schema(table)), *(part[table] for part in parts if table in part)])


def _in_order(order: pl.DataFrame, frame: pl.DataFrame) -> pl.DataFrame:
    return order.join(frame, on=ID, how="inner", maintain_order="left_right")


_MANY_ROWS = 10_000  # below, a fit takes minutes at most, and R need not be asked
_LONG_S = 600
_NEEDED = ("chains", "iterations")


def expected_duration(call: Call, workers: Workers = None) -> str | None:
    """Return a sentence if R's own estimate is ten minutes or more; R itself refuses what takes more than an hour."""
    arguments, rows = call.arguments.get(call.nested, {}) if call.nested else call.arguments, call.rows
    if rows is None or rows.height < _MANY_ROWS or not set(_NEEDED) <= arguments.keys():
        return None
    cores = 1 if isinstance(workers, Executor) else worker_count(workers)
    settings = {**{name: arguments[name] for name in _NEEDED}, "cores": cores}
    try:
        seconds = float(answered(Call("expected_s", arguments={"n": rows.height, "settings": settings}), workers)[0])
    except RError:
        return None
    if seconds < _LONG_S:
        return None
    return f"{count_text(rows.height, 'row')} will take about {seconds / 60:,.0f} minutes, if they are fitted."
