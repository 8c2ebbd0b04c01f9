"""Keep a reader's marks and lines on trials: in a CSV keyed by trial id, never in the database."""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Mapping
from pathlib import Path

from slant.collector.errors import SlantError, UsageError
from slant.collector.keep.journal import utc_now
from slant.collector.system.files import contents_of_named, replace_on_disk

COLUMNS = ("trial_id", "label", "note", "noted_at")
_LONGEST = 10_000
_MAX_BYTES = 100_000_000


class NotesFile:
    """Read the file again for each page and change, for it may be open elsewhere. The reader's own columns stay."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._access = threading.Lock()
        self.read()

    def read(self) -> dict[str, dict[str, str]]:
        """Return the notes by trial id; none if there is no file yet. UsageError if the file is no such CSV."""
        text = self._text()
        try:
            rows = csv.DictReader(io.StringIO(text, newline=""))
            columns = list(rows.fieldnames or ())
            listed = [{n: v or "" for n, v in row.items() if n} for row in rows]
        except csv.Error as error:
            raise UsageError(f"{self.path} is no CSV: {error}.") from error
        if text.strip() and not set(COLUMNS[:3]) <= set(columns):
            raise UsageError(
                f"{self.path} is no file of notes: it must have the columns {', '.join(COLUMNS[:3])}, and has "
                f"{', '.join(columns) or 'none'}.",
                "Name another file; a new one is made at the first note.",
            )
        # of two notes on one trial the next change would keep one
        by_trial: dict[str, dict[str, str]] = {}
        for note in listed:
            trial_id = note.get("trial_id", "")
            if not trial_id and any(note.values()):
                raise UsageError(f"{self.path} has a note without a trial_id.", "Take it out, or name its trial.")
            if trial_id in by_trial:
                raise UsageError(f"{self.path} has two notes on the trial {trial_id[:80]}.", "Make one of them.")
            if trial_id:
                by_trial[trial_id] = note
        return by_trial

    def _text(self) -> str:
        """Return the text, empty without a file. Reading a pipe or a device might never end."""
        try:
            if not self.path.exists():
                if not self.path.parent.is_dir():
                    raise UsageError(f"The notes {self.path} can't be written: there is no folder {self.path.parent}.")
                return ""
            if not self.path.is_file() or self.path.stat().st_size > _MAX_BYTES:
                raise UsageError(f"Can't read the notes {self.path}: it is no file, or one of more than 100 MB.")
            return contents_of_named(self.path, _MAX_BYTES).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise UsageError(f"Can't read the notes {self.path}: it is not UTF-8.", "Save it as CSV UTF-8.") from None
        except OSError as error:
            raise UsageError(f"Can't read the notes {self.path}: {error.strerror}.") from error

    def labels(self) -> list[str]:
        return sorted({note["label"] for note in self.read().values() if note["label"]})

    def trials_with(self, label: str) -> list[str]:
        """Return the trials with this label; "*" means any note at all."""
        return [trial_id for trial_id, note in self.read().items() if label in ("*", note["label"])]

    def keep(self, trial_id: str, label: str, note: str, more: Mapping[str, str] | None = None) -> None:
        """Write one note, with `more` columns of it; without label and text it is removed. The file is replaced as a
        whole."""
        if len(label) > _LONGEST or len(note) > _LONGEST:
            raise UsageError(f"A note has {_LONGEST:,} characters at most.")
        with self._access:
            notes = self.read()
            before = notes.pop(trial_id, {})
            if label or note:
                kept = {"trial_id": trial_id, "label": label, "note": note, "noted_at": utc_now()}
                notes[trial_id] = {**before, **kept, **(more or {})}
            self._write(notes)

    def _write(self, notes: Mapping[str, Mapping[str, str]]) -> None:
        columns = list(dict.fromkeys([*COLUMNS, *(name for note in notes.values() for name in note)]))
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _one_kind(cell) for name, cell in note.items()} for note in notes.values())
        try:
            replace_on_disk(self.path, text.getvalue().encode())
        except OSError as error:
            raise SlantError(f"Can't write the notes {self.path}: {error.strerror}.") from error


def _one_kind(text: str) -> str:
    """Return the text with one kind of line end: csv does not quote a lone carriage return, which ends a row when it is
    read; and without null characters, which R can't read."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
