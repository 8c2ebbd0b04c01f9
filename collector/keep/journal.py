"""Write the journal: append-only JSON lines next to the database, one file per run. The database is made from it.

NAME.duckdb.journal/
├── RUN_ID.jsonl   the run, the text of its study, one line per attempt, last (if the run ended in order) its end;
│                  when it is finished RUN_ID.jsonl.zst (keep/journal_files.py)
├── KIND-….jsonl  what is not a run: second counts, the text of a study that no run needed
├── collector.lock held (flock) while a process writes; names that process
└── reserve        space that is given up when the disk is full, so that paid answers in flight still fit
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from slant.collector.errors import JournalError
from slant.collector.keep.anonymous import typed_command
from slant.collector.keep.journal_files import LONGEST_LINE, compress_finished, with_sum
from slant.collector.records import Attempt, Run
from slant.collector.system import files, operating_system
from slant.collector.system.json_text import encoded, json_or

RESERVE_BYTES = 4_000_000
_FULL = {errno.ENOSPC, errno.EDQUOT}
_ATTEMPT_FIELDS = tuple(field.name for field in fields(Attempt))
_attempt_values = attrgetter(*_ATTEMPT_FIELDS)


def utc_now() -> str:
    """Return the time now as the journal writes it: ISO 8601, microseconds, UTC without a suffix."""
    return utc_at(time.time_ns())


def utc_at(since_1970_ns: int) -> str:
    seconds, microseconds = divmod(since_1970_ns // 1000, 1_000_000)
    return f"{_second(seconds)}.{microseconds:06d}"


class Clock:
    """Give the moments of one exchange: the time of day at its start, then times that ignore changes of the clock."""

    __slots__ = ("_ahead_ns",)

    def __init__(self) -> None:
        self._ahead_ns = time.time_ns() - time.monotonic_ns()

    def now(self) -> str:
        return utc_at(time.monotonic_ns() + self._ahead_ns)


@lru_cache(maxsize=4)  # four times per trial are recorded, and thousands of them share a second
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def journal_folder(db: Path) -> Path:
    """Return the folder next to the database itself, also if `db` is a link to it: one database has one journal."""
    db = files.real_file(db)
    return db.with_name(db.name + ".journal")


def encode(record: Attempt | Mapping[str, Any]) -> bytes:
    """Return the line of an attempt, or of a special record ({"kind": …, …}), with its checksum; unknown values (None)
    are omitted."""
    values: Iterable[tuple[str, Any]]
    if isinstance(record, Attempt):
        values = zip(_ATTEMPT_FIELDS, _attempt_values(record), strict=True)
    else:
        values = record.items()
    return with_sum(encoded({name: value for name, value in values if value is not None}))


def journal_for(kind: str) -> str:
    """Return the name of a new journal that is not a run's. It sorts behind those of runs: a database made again from
    its journals has the answers first."""
    return f"{kind}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


def check_only_name(folder: Path) -> None:
    """Raise JournalError if a database has a second name (a hard link) that its journal does not follow. The journal
    must be next to this name, and no other name may have one: what is asked now would be in a journal that the other
    name does not know."""
    db = folder.with_name(folder.name.removesuffix(".journal"))
    with contextlib.suppress(OSError):
        about = db.stat()
        if about.st_nlink < 2 or about.st_size == 0:
            return
        if not folder.exists():
            raise JournalError(
                f'"{db}" is a second name (a hard link) of a database, and its journal is not next to it.',
                "Nothing was asked. Use the name that has the journal next to it, or a copy of the file in its place.",
            )
        # other names of the file in its folder: names elsewhere can't be found
        entries = [entry for entry in os.scandir(db.absolute().parent) if entry.inode() == about.st_ino]
        for other in sorted(db.with_name(entry.name) for entry in entries if entry.name != db.name):
            if files.regular_files(journal_folder(other), "*.jsonl", "*.jsonl.zst"):
                raise JournalError(
                    f'"{db}" and "{other}" are one file (a hard link), and each of them has a journal next to it.',
                    f"Nothing was asked. Put a copy in place of one: cp {other.name} copy && mv copy {other.name}",
                    f"Or put the answers of both together: collect merge --db all.duckdb {db.name} {other.name}",
                )


class FolderLock:
    """Lock the folder, so that a second collector on the same database learns which process is there."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "collector.lock"
        try:
            check_only_name(folder)
            files.made_folder(folder)
            self._file = files.opened_descriptor(self.path, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            what = f'Can\'t write the journal "{folder}": {error.strerror}.'
            raise JournalError(what, "To use another place: --db OTHER.duckdb") from error
        try:
            is_ours = operating_system.try_lock(self._file)
        except OSError as error:  # for example on a file system without locks
            os.close(self._file)
            raise JournalError(f'Can\'t lock the journal "{folder}": {error.strerror}.') from error
        if not is_ours:
            holder = os.read(self._file, 2000).decode("utf-8", "replace")
            os.close(self._file)
            raise JournalError(
                f'Another collector is writing to "{folder.name.removesuffix(".journal")}".',
                f"It is {holder or 'a process that has just started'}.",
                "Wait until it ends, stop it, or use another file: --db OTHER.duckdb",
            )
        os.ftruncate(self._file, 0)
        who = f"process {os.getpid()} since {utc_now()[:19]} UTC: {typed_command(folder)[:500]}"
        with contextlib.suppress(OSError):  # a full disk must not hide the lock itself
            os.write(self._file, who.encode("utf-8", "replace"))

    def release(self) -> None:
        """Release the lock. Releasing it twice is harmless."""
        if self._file < 0:
            return
        with contextlib.suppress(OSError):
            os.ftruncate(self._file, 0)
        os.close(self._file)
        self._file = -1

    def fileno(self) -> int:
        """Return the number of the lock's file: a child process that is given it keeps the folder locked while it
        lives, even when this process is killed.
        """
        return self._file


def has_collector(path: Path) -> bool:
    """Return whether a process is collecting into this database now, on this machine.

    It reads which process wrote itself into the lock file and checks whether that lives: trying the lock itself might
    turn away a collector that starts at this moment.
    """
    try:
        holder = files.contents(journal_folder(path) / "collector.lock").decode("utf-8", "replace")
    except OSError:
        return False
    return operating_system.is_alive(holder.removeprefix("process ").partition(" ")[0])


def pack_journals(db: Path) -> None:
    """Compress what is finished. If another process is collecting by now, that one will do it."""
    try:
        lock = FolderLock(journal_folder(db))
    except JournalError:
        return
    try:
        compress_finished(journal_folder(db))
    finally:
        lock.release()


def mend_tails(folder: Path) -> list[str]:
    """Cut off half-written last lines, and report it. Call this while holding the lock."""
    cut = []
    for path in sorted(files.regular_files(folder, "*.jsonl")):
        if path.stat().st_nlink > 1:  # a backup by hard links shares the file: a separate copy is mended
            part = files.part_of(path)
            files.copied(path, part)
            files.moved(part, path)
        with files.opened(path, "rb+") as file:
            size = file.seek(0, os.SEEK_END)
            tail_start = _last_line_start(file, size)
            if tail_start == size:
                continue
            file.seek(tail_start)
            tail = file.read() if size - tail_start <= LONGEST_LINE else b""
            if isinstance(json_or(tail), dict):
                file.write(b"\n")  # complete except for its line end
            else:
                file.truncate(tail_start)
                cut.append(f"{path.name}: a half-written last line of {size - tail_start} bytes was cut off")
            operating_system.flush_onto_disk(file)
    return cut


def _last_line_start(file: Any, size: int) -> int:
    """Return the offset after the last line end (0 if there is none), read backwards in blocks."""
    end = size
    while end > 0:
        start = max(0, end - 65_536)
        file.seek(start)
        line_end = file.read(end - start).rfind(b"\n")
        if line_end >= 0:
            return int(start + line_end + 1)
        end = start
    return 0


class Journal:
    """Write one run's journal. What `append_many` has returned from survives a power cut.

    It takes the folder's lock, or takes over one that is held already, and releases it when closed. `texts` are lines
    with the texts of what is asked (collector/studies/stored_texts.py); they follow that of the run. `is_part`: other
    processes also write journals here, under the lock of their starter (collector/run/processes.py).
    """

    def __init__(
        self,
        db: Path,
        run: Run,
        texts: Iterable[Mapping[str, Any]] = (),
        *,
        lock: FolderLock | None = None,
        is_part: bool = False,
    ) -> None:
        self.folder = journal_folder(db)
        self._lock = None if is_part else lock or FolderLock(self.folder)
        self._reserved = self.folder / (f"reserve.{run.run_id}" if is_part else "reserve")
        self.is_full = False
        self._file = -1
        self.mended: list[str] = []
        try:
            self.mended = [] if is_part else mend_tails(self.folder)
            self.path = self.folder / f"{run.run_id}.jsonl"
            self._file = files.opened_descriptor(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            self._size = 0
            files.remove(self._reserved)
            file = files.opened_descriptor(self._reserved, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            try:
                operating_system.keep_room(file, RESERVE_BYTES)
            finally:
                os.close(file)
            begin = encode({"kind": "run"} | {f.name: getattr(run, f.name) for f in fields(Run)})
            self._write(begin + b"".join(map(encode, texts)))
            operating_system.sync_folder(self.folder)
        except OSError as error:
            if self._file >= 0:  # a journal that could not be begun leaves nothing behind
                os.close(self._file)
                files.remove(self.path)
            self._let_go()
            raise JournalError(
                f'Can\'t write the journal "{self.folder}": {error.strerror}.',
                "Nothing was asked. Make room or use another place: --db OTHER.duckdb",
            ) from error

    @property
    def durable_bytes(self) -> int:
        """Return the number of bytes of the file that have been fsynced."""
        return self._size

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close("finished" if kind is None else "stopped by an error")

    def append_many(self, attempts: Iterable[Attempt | Mapping[str, Any]]) -> None:
        """Write and fsync; when this returns the answers are kept. On a full disk the reserve is given up once."""
        data = b"".join(map(encode, attempts))
        try:
            self._write(data)
        except OSError as error:
            if error.errno not in _FULL:
                raise self._failed(error) from error
            self.is_full = True
            files.remove(self._reserved)
            try:
                self._write(data)
            except OSError as still_full:
                raise self._failed(still_full) from still_full

    def note(self, record: Mapping[str, Any]) -> None:
        """Write and fsync a line that is no attempt, by its `kind`."""
        try:
            self._write(encode(record))
        except OSError as error:
            raise self._failed(error) from error

    def close(self, reason: str) -> None:
        """Write the run's end and release the lock. Closing it twice is harmless."""
        if self._file < 0:
            return
        with contextlib.suppress(OSError):
            self._write(encode({"kind": "end", "finished_at": utc_now(), "end_reason": reason}))
        os.close(self._file)
        self._file = -1
        self._let_go()

    def _let_go(self) -> None:
        files.remove(self._reserved)
        if self._lock is not None:
            self._lock.release()

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view) :]
            operating_system.onto_disk(self._file)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._size)
                os.lseek(self._file, self._size, os.SEEK_SET)
            raise
        self._size += len(data)

    def _failed(self, error: OSError) -> JournalError:
        return JournalError(
            f'Can\'t write the journal "{self.path}": {error.strerror}.',
            "Every answer acknowledged before is kept. Make room, then run the same command again.",
        )


class SideJournal:
    """Write a journal that is not a run's, named by its `kind`: each line is fsynced. It holds the folder's lock."""

    def __init__(self, db: Path, kind: str) -> None:
        folder = journal_folder(db)
        self._lock = FolderLock(folder)
        mend_tails(folder)
        self.path = folder / f"{journal_for(kind)}.jsonl"

    def __enter__(self) -> SideJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def append(self, record: Mapping[str, Any]) -> None:
        try:
            with files.opened(self.path, "ab") as file:
                file.write(encode(record))
                operating_system.flush_onto_disk(file)
        except OSError as error:
            raise JournalError(f'Can\'t write the journal "{self.path}": {error.strerror}.') from error


def write_whole(folder: Path, name: str, data: bytes) -> None:
    """Write a journal that appears complete or not at all, so that it needs no lock."""
    try:
        files.made_folder(folder)
        files.replace_on_disk(folder / name, data)
    except OSError as error:
        raise JournalError(f'Can\'t write the journal "{folder / name}": {error.strerror}.') from error
