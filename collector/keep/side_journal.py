"""Journals of what is no run: second counts, the text of a study that nothing had to be asked with."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from slant.collector.errors import JournalError
from slant.collector.keep.journal import FolderLock, encode, journal_folder, mend_tails
from slant.collector.system.operating_system import onto_disk


class SideJournal:
    """A journal of something that is no run, named by its `kind`: each line is fsynced. Holds the folder's lock."""

    def __init__(self, db: Path, kind: str) -> None:
        folder = journal_folder(db)
        self._lock = FolderLock(folder)
        mend_tails(folder)
        # its name sorts behind those of runs: a database made again from its journals has the answers first
        self.path = folder / f"{kind}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}.jsonl"

    def __enter__(self) -> SideJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def append(self, record: Mapping[str, Any]) -> None:
        try:
            with self.path.open("ab") as file:
                file.write(encode(record))
                file.flush()
                onto_disk(file.fileno())
        except OSError as error:
            raise JournalError(f'Can\'t write the journal "{self.path}": {error.strerror}.') from error


def write_whole(folder: Path, name: str, data: bytes) -> None:
    """A journal that appears complete or not at all, so that it needs no lock."""
    part = folder / f".{name}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            onto_disk(file.fileno())
        part.replace(folder / name)
    except OSError as error:
        raise JournalError(f'Can\'t write the journal "{folder / name}": {error.strerror}.') from error
