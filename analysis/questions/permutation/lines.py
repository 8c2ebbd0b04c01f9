"""Refits on disk as soon as they are made: JSON lines beside the database, one file a test, one line a permutation.

NAME.duckdb.permutations/ID.jsonl holds what the database has not taken yet. A process that is killed leaves whole
lines and at most half a one, which the next reader cuts off. Who writes holds the file's lock.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from types import TracebackType

from slant.analysis.questions.permutation.jobs import Refit
from slant.collector.errors import DatabaseBusyError, DatabaseError
from slant.collector.system.operating_system import onto_disk, try_lock


class RefitLines:
    """The file of one test, locked. `found` holds what it held when it was opened, by number.

    Raises DatabaseBusyError where another process is at the same test, DatabaseError where nothing can be written.
    """

    def __init__(self, db: str | Path, permutation_id: str) -> None:
        place = Path(db).resolve()
        self.path = place.with_name(place.name + ".permutations") / f"{permutation_id}.jsonl"
        try:
            self.path.parent.mkdir(exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise DatabaseError(f'Can\'t keep refits in "{self.path.parent}": {error.strerror}.') from error
        self._lock()
        self.found = self._read()

    def _lock(self) -> None:
        try:
            is_ours = try_lock(self._file)
        except OSError as error:  # a file system without locks, say
            os.close(self._file)
            raise DatabaseError(f'Can\'t lock "{self.path}": {error.strerror}.') from error
        if not is_ours:
            os.close(self._file)
            raise DatabaseBusyError(
                "Can't permute: another process is at this very test.",
                f'It holds "{self.path}".',
                "Wait until it ends, or stop it: what it has refitted is kept.",
            )

    def _read(self) -> dict[int, Refit]:
        """Whole lines up to the first that is none; the rest is cut off."""
        found: dict[int, Refit] = {}
        good = 0
        for line in self.path.read_bytes().splitlines(keepends=True):
            refit = _refit_of(line)
            if refit is None:
                break
            found[refit["number"]] = refit
            good += len(line)
        os.ftruncate(self._file, good)
        return found

    def append(self, refit: Refit) -> None:
        """What this has returned from survives a kill and a power cut."""
        try:
            os.write(self._file, json.dumps(refit, ensure_ascii=False, allow_nan=False).encode() + b"\n")
            onto_disk(self._file)
        except OSError as error:
            raise DatabaseError(f'Can\'t keep refits in "{self.path}": {error.strerror}.') from error

    def remove(self) -> None:
        """Once the database has it all; the folder, too, where no other test has a file in it."""
        self.path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.path.parent.rmdir()

    def __enter__(self) -> RefitLines:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._file)


def _refit_of(line: bytes) -> Refit | None:
    try:
        refit = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    is_one = isinstance(refit, dict) and {"number", "seconds", "messages", "refit", "cells"} <= refit.keys()
    return refit if is_one else None
