"""The journals of a database as a test looks at them, or changes them."""

from __future__ import annotations

from pathlib import Path

from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import journal_name, journal_paths, opened_journal


def journal_text(path: Path) -> bytes:
    with opened_journal(path) as file:
        return file.read()


def only_journal(db: Path) -> Path:
    """The only journal of a database, as text to be read and changed, also where it had been compressed."""
    [path] = journal_paths(journal_folder(db))
    text = path.with_name(journal_name(path))
    if text != path:
        text.write_bytes(journal_text(path))
        path.unlink()
    return text
