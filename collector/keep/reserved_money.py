"""Record on disk what requests in flight may cost, before they are sent: the next run counts it after a kill.

RUN_ID.reserved, next to the run's journal, says how much is in flight: it is written before a request leaves unless it
says as much already, and again when much of it is in the journal. If the run ends in order the file is removed, for all
that was sent is in the journal. What a killed run left counts against budgets as possibly billed for 30 days, or until
the file is deleted: slant can't know whether it was.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from contextlib import suppress
from pathlib import Path

from slant.collector.errors import JournalError
from slant.collector.keep.journal import journal_folder, utc_now
from slant.collector.system import files
from slant.collector.system.operating_system import is_locked, onto_disk, sync_folder, try_lock

ENDING = ".reserved"
KEPT_S = 30 * 86_400
_ROOM = 512  # bytes that a disk writes at once
_TOO_MUCH = 2.0


class ReservedMoney:
    """Hold one run's money in flight (US dollars). `study`: whose budget it counts against."""

    def __init__(self, folder: Path, run_id: str, study: str) -> None:
        self._path, self._study = folder / f"{run_id}{ENDING}", study
        self._file = -1
        self._durable_usd = self._in_flight_usd = 0.0
        self._writing: asyncio.Task[None] | None = None

    async def cover(self, in_flight_usd: float) -> None:
        """Return once the disk says that this much may be in flight. Raise JournalError if it can't be written: then
        nothing may be sent."""
        self._in_flight_usd = in_flight_usd
        while self._in_flight_usd > self._durable_usd:
            if self._writing is None or self._writing.done():
                self._writing = asyncio.create_task(self._keep())
            await asyncio.shield(self._writing)

    def settled(self, in_flight_usd: float) -> None:
        """Note that only this much is in flight now. The disk follows once it says twice as much."""
        self._in_flight_usd = in_flight_usd
        if self._durable_usd > _TOO_MUCH * in_flight_usd and (self._writing is None or self._writing.done()):
            self._writing = asyncio.create_task(self._lower())

    async def _keep(self) -> None:
        await asyncio.sleep(0)  # other tasks that are about to send announce it first
        usd = self._in_flight_usd
        self._durable_usd = min(self._durable_usd, usd)  # while it is written, the disk may say either
        await asyncio.to_thread(self._write, usd)
        self._durable_usd = usd

    async def _lower(self) -> None:
        with suppress(JournalError):  # too much is no danger; the next request that is sent reports it
            await self._keep()

    async def idle(self) -> None:
        """Return once nothing is being written, so that the file can be closed."""
        if self._writing is not None:
            await asyncio.wait([self._writing])

    def _write(self, usd: float) -> None:
        record = {"study": self._study, "usd": usd, "written_at": utc_now()}
        try:
            if self._file < 0:
                self._file = files.opened_descriptor(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
                try_lock(self._file)
                sync_folder(self._path.parent)
            os.pwrite(self._file, json.dumps(record).encode().ljust(_ROOM), 0)
            onto_disk(self._file)
        except OSError as error:
            raise JournalError(f'Can\'t write "{self._path}": {error.strerror}.', "Nothing more was asked.") from error

    def close(self, *, is_settled: bool) -> None:
        """Close it. `is_settled`: all that was sent has been answered, and is in the journal."""
        if self._file >= 0:
            if is_settled:
                files.remove(self._path)
            os.close(self._file)
            self._file = -1


def left_files(db: Path, study: str) -> dict[Path, float]:
    """Return the files that killed runs of the study left, and the US dollars that each reserves: what they may have
    been billed for requests in flight.
    """
    left = {}
    for path in files.regular_files(journal_folder(db), f"*{ENDING}"):
        if is_locked(path) or time.time() - path.stat().st_mtime > KEPT_S:
            continue
        try:
            record = json.loads(files.contents(path, _ROOM))
            usd = float(record["usd"])
            if record["study"] == study and usd > 0:
                left[path] = usd
        except (OSError, ValueError, TypeError, KeyError):
            raise JournalError(
                f'Can\'t read "{path}": it says what requests of a killed run may have cost.',
                "If you know that, take it off the budget and delete the file.",
            ) from None
    return left
