"""Read the files of a study's folder, and from nowhere else, for a study may come from a stranger."""

from __future__ import annotations

import csv
import glob
import io
import os
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from slant.collector.errors import StudyError
from slant.collector.study.toml_table import Table, shortened, unknown_key
from slant.collector.system.files import opened

NOTES = ("source", "note")
"""List columns for people: allowed in every CSV, and never read."""
MAX_KEPT_BYTES = 2_000_000
MAX_READ_BYTES = 8_000_000
"""Limit the size of a study's file: this is some 300,000 words with their tests."""


def read_text(path: Path, max_bytes: int = MAX_READ_BYTES) -> str:
    """Return a file as UTF-8 (with or without a byte order mark). Raise StudyError with the place of the first bad
    byte, for a file of more than `max_bytes`, and for anything else than a file (reading a pipe or a device might
    never end).
    """
    try:
        if not path.is_file():
            raise StudyError(f"Can't read {path.name}: it is not a file.")
        with opened(path.resolve()) as file:
            data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise StudyError(f"Can't read {path.name}: it is larger than {max_bytes / 1_000_000:g} MB.")
        text = data.decode("utf-8-sig")
        if "\0" in text:
            line = data[: data.index(b"\0")].count(b"\n") + 1
            raise StudyError(
                f"Can't read {path.name}: line {line} holds a NUL character, which no text has.",
                "Save the file as UTF-8.",
            )
        return text
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise StudyError(
            f"Can't read {path.name}: line {line} holds a byte that is not UTF-8.", "Save the file as UTF-8."
        ) from None
    except OSError as error:
        raise StudyError(f"Can't read {path}: {error.strerror}.") from None


TEMPORARY = "slant-study-"
"""Begins the names of folders for studies from databases where no home can be written to."""


def kept_folder() -> Path:
    """Return the folder for studies from databases."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "slant" / "studies"


def is_kept(path: Path) -> bool:
    """Return True for a study file that was written from a database, not by a person."""
    folder = path.parent
    is_temporary = folder.name.startswith(TEMPORARY) and folder.parent == Path(tempfile.gettempdir()).resolve()
    return is_temporary or path.is_relative_to(kept_folder().resolve())


OF_TEMPLATE = "text_"
"""Begins the names of columns whose texts are those of one template."""
_SENT = ("text", "find", "replace")
OTHER_NAMES = {"group": "category"}
"""By our name of a column, another one that papers' files of words have for it; either may be written."""


def answers_file(study: str) -> str:
    """Return the name of the file that keeps answers of another study with the texts of the one that shows them."""
    return f"{study}.answers.csv"


class StudyFolder:
    """Read the CSVs of one study. `texts` has each file that was read, by its name, as the journal keeps them; `trims`:
    whether the study wants no white space around its texts."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.texts: dict[str, str] = {}
        self.trims = False
        self._read: dict[str, list[dict[str, str]]] = {}

    def inside(self, name: str) -> Path:
        """Return the path of a file or folder of this study; StudyError if it would be outside (.., absolute, a
        link).
        """
        parts = (PurePosixPath(name), PureWindowsPath(name))
        if "\0" in name or any(part.is_absolute() or part.drive or ".." in part.parts for part in parts):
            raise _outside(name, self.root)
        try:
            path = (self.root / name).resolve()
            is_there = path.exists()
            if path.is_symlink():  # every other path is resolved
                raise RuntimeError
        except (OSError, RuntimeError) as error:  # a name that is too long; links in a circle before Python 3.13
            raise StudyError(f'The study names "{shortened(name)}", which can\'t be read: {_reason(error)}.') from None
        if not path.is_relative_to(self.root):
            raise _outside(name, self.root)
        if not is_there:
            raise StudyError(f'The study names "{shortened(name)}", but there is no such file in {self.root}.')
        return path

    def text(self, name: str) -> str:
        """Return a file of this study as UTF-8."""
        text = self.texts[name] = read_text(self.inside(name))
        return text

    def answers(self, study: str) -> str:
        """Return the answers of another study that this one shows, as a CSV."""
        return self.text(answers_file(study))

    def names(self, pattern: str) -> list[str]:
        """Return the names of the files that a pattern names ("letters/*.txt"), in the order of their bytes; only the
        last part of a pattern has * or ?. StudyError if there is none.
        """
        place = PurePosixPath(pattern)
        folder = self.inside(place.parent.as_posix())
        files = sorted(
            (file.name for file in (folder.iterdir() if folder.is_dir() else ()) if fnmatchcase(file.name, place.name)),
            key=str.encode,
        )
        if not files:
            raise StudyError(f'The study names "{shortened(pattern)}", but no file in {self.root} is called so.')
        return [(place.parent / name).as_posix() for name in files]

    def kept(self, name: str) -> Path:
        """Return the path of a file that other code reads, kept with the texts of the study if it is small; so are
        files whose name begins the same (published_notes.csv next to published.csv).
        """
        path = self.inside(name)
        if path.is_file() and path.stat().st_size > MAX_READ_BYTES:
            raise StudyError(f"Can't read {name}: it is larger than {MAX_READ_BYTES / 1_000_000:g} MB.")
        if not path.is_file() and not path.is_dir():
            raise StudyError(f'The study names "{name}", but that is neither a file nor a folder.')
        files = [path, *sorted(path.parent.glob(f"{glob.escape(path.stem)}_*{path.suffix}"))] if path.is_file() else []
        if sum(file.stat().st_size for file in files) <= MAX_KEPT_BYTES:
            self.texts |= {file.relative_to(self.root).as_posix(): read_text(file) for file in files}
        return path

    def rows(self, table: Table, key: str, columns: tuple[str, ...], may: tuple[str, ...] = ()) -> list[dict[str, str]]:
        """Return the rows that `key` gives: the name of a CSV, or an array of tables with the same columns.

        Every row has all of `columns`, and those of `may` that are there: texts that are sent as they are written, all
        others without white space around them. Raise StudyError for a missing or unknown one.
        """
        value = table.optional(key, (str, list), "the name of a CSV file or an array of tables")
        if isinstance(value, list):
            return self._trimmed([_inline_row(row, columns, may) for row in table.rows(key)])
        name = table.text(key)
        known_as = f"{key}: {name}"
        if known_as not in self._read:  # a study with variants calls this once for each
            if not self.inside(name).is_file():
                raise StudyError(f'The study names "{name}" as a CSV file, but it is not a file.')
            self._read[known_as] = self._trimmed(csv_rows(self.text(name), name, columns, may))
        return self._read[known_as]

    def _trimmed(self, rows: list[dict[str, str]]) -> list[dict[str, str]]:
        return [{name: cell.strip() for name, cell in row.items()} for row in rows] if self.trims else rows


def _reason(error: OSError | RuntimeError) -> str:
    return (error.strerror or "it is no path") if isinstance(error, OSError) else "its links lead in a circle"


def _outside(name: str, root: Path) -> StudyError:
    return StudyError(
        f'The study can\'t read "{shortened(name)}": it lies outside the folder of the study.',
        f"Every file must be inside {root}.",
    )


def _inline_row(row: Table, columns: tuple[str, ...], also: tuple[str, ...]) -> dict[str, str]:
    values = {}
    for column in (*columns, *also, *NOTES):
        cell = row.optional(column, (str, int), "a text")
        if cell is None and column in OTHER_NAMES:
            cell = row.optional(OTHER_NAMES[column], (str, int), "a text")
        if cell is None and column in columns:
            raise StudyError(f'{row.where} needs the key "{column}".')
        if cell is not None and column in (*columns, *also):
            values[column] = str(cell)
    row.finish()
    return values


def csv_header(text: str) -> tuple[str, ...]:
    """Return the names of the columns of a CSV; empty ones at the end, which spreadsheets leave, are none."""
    names = [name.strip() for name in next(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)), [])]
    while names and not names[-1]:
        names.pop()
    return tuple(names)


def _delimiter(text: str) -> str:
    """Return the separator of the names in the first line: spreadsheets of half of Europe write semicolons."""
    return max(",;\t", key=text.partition("\n")[0].count)


def csv_rows(text: str, name: str, columns: tuple[str, ...], also: tuple[str, ...]) -> list[dict[str, str]]:
    """Return the rows of a CSV with these columns, and those of `also` that are there."""
    reader = csv.DictReader(io.StringIO(text, newline=""), (), delimiter=_delimiter(text), strict=True, restkey="")
    try:
        header = csv_header(text)
        ours = {theirs: name for name, theirs in OTHER_NAMES.items() if name in columns and name not in header}
        reader.fieldnames = header = tuple(ours.get(name, name) for name in header)
        _check_header(header, name, columns, also)
        fields = (*columns, *(column for column in also if column in header))
        next(reader, None)  # the header
        return [_csv_row(row, name, reader.line_num, fields) for row in reader if any(map(_is_filled, row.values()))]
    except csv.Error as error:
        raise StudyError(f"Can't read {name}: line {reader.line_num} is not CSV ({error}).") from None


def _is_filled(cell: str | list[str] | None) -> bool:
    """Return whether something is in a cell, or in one of those for which the header has no name."""
    return any(map(str.strip, cell if isinstance(cell, list) else [cell or ""]))


def _check_header(header: tuple[str, ...], name: str, columns: tuple[str, ...], also: tuple[str, ...]) -> None:
    missing = [column for column in columns if column not in header]
    if missing:
        raise StudyError(
            f'{name} lacks the column "{missing[0]}".',
            f"It must have: {', '.join(columns)}. It has: {', '.join(header) or 'nothing'}.",
        )
    for column in header:
        if column not in (*columns, *also, *NOTES):
            raise unknown_key(column, f"the header of {name}", (*columns, *also, *NOTES))


def _csv_row(row: dict[str, Any], name: str, line: int, columns: tuple[str, ...]) -> dict[str, str]:
    if _is_filled(row.get("")):
        raise StudyError(f"{name}, line {line}, has more cells than the header.")
    cells = {column: row[column] or "" for column in columns}
    return {
        column: cell if column in _SENT or column.startswith(OF_TEMPLATE) else cell.strip()
        for column, cell in cells.items()
    }
