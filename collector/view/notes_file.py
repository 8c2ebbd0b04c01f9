"""A reader's marks and lines on trials: a CSV keyed by trial id, never the database."""

from __future__ import annotations

import csv
import io
import os
import threading
from collections.abc import Mapping
from pathlib import Path

from slant.collector.errors import SlantError, UsageError
from slant.collector.keep.journal import utc_now

COLUMNS = ("trial_id", "label", "note", "noted_at")
_LONGEST = 10_000


class NotesFile:
    """Read anew for each page and change, for it may be open elsewhere. Columns of the reader's own stay."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._access = threading.Lock()
        self.read()

    def read(self) -> dict[str, dict[str, str]]:
        """The notes by trial id; none where there is no file yet. UsageError where the file is no such CSV."""
        try:
            text = self.path.read_text("utf-8-sig") if self.path.exists() else ""
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"Can't read the notes {self.path}: {error}.") from error
        try:
            rows = csv.DictReader(io.StringIO(text, newline=""))
            columns = list(rows.fieldnames or ())
            notes = {row.get("trial_id") or "": {n: v or "" for n, v in row.items() if n} for row in rows}
        except csv.Error as error:
            raise UsageError(f"{self.path} is no CSV: {error}.") from error
        if text.strip() and not set(COLUMNS[:3]) <= set(columns):
            raise UsageError(
                f"{self.path} is no file of notes: it must have the columns {', '.join(COLUMNS[:3])}, and has "
                f"{', '.join(columns) or 'none'}.",
                "Name another file; a new one is made at the first note.",
            )
        return notes

    def labels(self) -> list[str]:
        return sorted({note["label"] for note in self.read().values() if note["label"]})

    def trials_with(self, label: str) -> list[str]:
        """The trials with this label; "*" is any note at all."""
        return [trial_id for trial_id, note in self.read().items() if label in ("*", note["label"])]

    def keep(self, trial_id: str, label: str, note: str) -> None:
        """Write one note; without label and text it is taken away. The file is replaced as a whole."""
        if len(label) > _LONGEST or len(note) > _LONGEST:
            raise UsageError(f"A note has {_LONGEST:,} characters at most.")
        with self._access:
            notes = self.read()
            before = notes.pop(trial_id, {})
            if label or note:
                notes[trial_id] = {**before, "trial_id": trial_id, "label": label, "note": note, "noted_at": utc_now()}
            self._write(notes)

    def _write(self, notes: Mapping[str, Mapping[str, str]]) -> None:
        columns = list(dict.fromkeys([*COLUMNS, *(name for note in notes.values() for name in note)]))
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        try:
            with part.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
                writer.writeheader()
                writer.writerows(notes.values())
            part.replace(self.path)
        except OSError as error:
            raise SlantError(f"Can't write the notes {self.path}: {error.strerror}.") from error
        finally:
            part.unlink(missing_ok=True)
