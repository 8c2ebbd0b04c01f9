"""Keep answers while a run goes on: group them for one fsync, and move them from the journal into DuckDB."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from slant.collector.errors import DatabaseBusyError, DatabaseError, DatabaseWriteError, JournalError
from slant.collector.keep.journal import Journal
from slant.collector.keep.journal_loader import Loader, left_in_journal
from slant.collector.records import Attempt

log = logging.getLogger(__name__)
FLUSH_EVERY_S = 2.0
LATE_S = 20.0
# After each flush the database is left alone for a multiple of the time that the flush held it, so that readers find it
# free. The first multiple holds until rows would be later than LATE_S, the second always.
FREE_TIMES_HELD, MIN_TIMES_HELD = 60, 11
SAY_WHY_AFTER_S = 30.0


class LiveLoader:
    """Move what journals hold into DuckDB while answers come, and say why if it can't for long."""

    def __init__(self, db: Path, say: Callable[[str], None], give_up: threading.Event | None = None) -> None:
        self._loader = Loader(db)
        self._say, self._give_up = say, give_up
        self.held_s = 0.0
        self.loaded_at = self.tried_at = time.monotonic()
        self._late_since: float | None = None
        self._late_because: DatabaseError | None = None

    def load(self, patience_s: float, max_held_s: float = math.inf, durable: dict[str, int] | None = None) -> bool:
        """Move what is new into DuckDB. Return False while another process holds the file: nothing is lost, only late.

        If answers come faster than `max_held_s` lets them in, the rest waits in the journals.
        """
        try:
            report = self._loader.load(patience_s, durable, self._give_up, max_held_s)
        except (DatabaseBusyError, DatabaseWriteError) as error:
            log.info("Answers wait in the journal: %s", error.what)
            self._late_because, self.tried_at = error, time.monotonic()
            self._late_since = self._late_since or self.tried_at
            if self.tried_at - self._late_since >= SAY_WHY_AFTER_S:
                self._say(f"{error.what} {error.details[0]}. Meanwhile, answers are written to the journal.")
                self._late_since = self.tried_at
            return False
        self._late_since, self._late_because, self.held_s = None, None, report.held_s
        self.loaded_at = self.tried_at = time.monotonic()
        for note in report.notes:
            self._say(note)
        for problem in report.problems:
            self._say(f"A line of the journal can't be read: {problem}")
        return True

    def say_what_is_left(self) -> None:
        """Report at the end of a run that its last answers could not be loaded."""
        if self._late_because is not None:
            self._say(left_in_journal(self._late_because, self._loader.db))

    def now_and_then(self) -> None:
        """Load if readers have had the database for long enough since the last try; call this often."""
        waited_s = time.monotonic() - self.tried_at
        if waited_s >= pause_s(self.held_s):
            self.load(0.2, waited_s / MIN_TIMES_HELD)


class JournalWriter:
    """Write for a run, as its only writer. `keep` returns when the attempt is on disk; DuckDB follows later."""

    def __init__(self, db: Path, journal: Journal, say: Callable[[str], None]) -> None:
        self.db, self.journal = db, journal
        self.failure: JournalError | None = None
        self.give_up = threading.Event()
        self.loader = LiveLoader(db, say, self.give_up)
        self._waiting: list[tuple[Attempt, asyncio.Future[None]]] = []
        self._notes: list[Mapping[str, Any]] = []
        self._something = asyncio.Event()
        self._closing = False

    async def keep(self, attempt: Attempt) -> None:
        """Write the attempt, and return once it is fsynced. Raises JournalError if that fails."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((attempt, done))
        self._something.set()
        await done

    def note(self, record: Mapping[str, Any]) -> None:
        """Keep a special record ({"kind": …, …}, see keep/journal_loader.py) with the next attempts, without
        waiting."""
        self._notes.append(record)
        self._something.set()

    async def write(self) -> None:
        """Run alongside the workers: one write and one fsync for all that came in during the last."""
        while not (self._closing and not self._waiting and not self._notes):
            await self._something.wait()
            self._something.clear()
            batch, self._waiting = self._waiting, []
            notes, self._notes = self._notes, []
            if not batch and not notes:
                continue
            try:
                await asyncio.to_thread(self.journal.append_many, [*notes, *(attempt for attempt, _ in batch)])
            except JournalError as error:
                self.failure = error
            except Exception as error:  # whatever it is, no worker may wait for an answer that is not kept
                self.failure = JournalError("Can't write the journal.", f"{type(error).__name__}: {error}")
            for _, done in batch:
                if not done.cancelled():
                    if self.failure:
                        done.set_exception(self.failure)
                    else:
                        done.set_result(None)

    @property
    def is_closed(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True
        self._something.set()

    async def load_now_and_then(self) -> None:
        """Run alongside the workers until cancelled. Readers get the database for nearly all of the time."""
        while True:
            await asyncio.sleep(pause_s(self.loader.held_s))
            if not self.journal.is_full:  # the database must not use up the space reserved for the journal
                max_held_s = (time.monotonic() - self.loader.loaded_at) / MIN_TIMES_HELD
                await asyncio.shield(asyncio.to_thread(self.load, 0.2, max_held_s))

    def load(self, patience_s: float, max_held_s: float = math.inf) -> bool:
        """Load what is safely on disk, as LiveLoader.load() does."""
        durable = {self.journal.path.name: self.journal.durable_bytes}
        return self.loader.load(patience_s, max_held_s, durable)


class PartWriter(JournalWriter):
    """Write for one of several processes: the process that started them loads all journals."""

    def load(self, patience_s: float, max_held_s: float = math.inf) -> bool:
        return True


def pause_s(held_s: float) -> float:
    """Return the seconds until the next flush, after one that held the database for `held_s`."""
    return max(FLUSH_EVERY_S, min(LATE_S, FREE_TIMES_HELD * held_s), MIN_TIMES_HELD * held_s)
