"""Keep the text of a study in journal and database: what was asked can be read even if its file is gone.

A text that comes out of a database is foreign data: its files are written into slant's own folder by checked names, and
read from there like those of any study.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from slant.collector.designs.study import Study
from slant.collector.errors import DatabaseError, JournalError, StudyError
from slant.collector.keep.database import fetched, reading
from slant.collector.keep.journal import SideJournal, utc_now
from slant.collector.records import Registration
from slant.collector.stable_ids import stable_id
from slant.collector.study.folder import TEMPORARY, kept_folder
from slant.collector.system.files import contents, replace_on_disk

_TEXTS = (
    "SELECT file, text, text_id FROM study_files WHERE study = ? AND text_id = "
    "(SELECT text_id FROM study_files WHERE study = ? AND starts_with(study_version, ?) "
    "ORDER BY kept_at DESC, text_id LIMIT 1) ORDER BY file_no"
)

_TYPED_MEASURES = (
    "SELECT DISTINCT unnest(map_extract(factor_lists, 'measures')[1]) AS name FROM attempts "
    "WHERE study = ? AND read_again_at IS NOT NULL ORDER BY name"
)
_REGISTRATIONS = "SELECT sha256, study, text FROM registrations WHERE study = ? ORDER BY kept_at DESC, sha256"


@dataclass(frozen=True)
class KeptText:
    """Hold the files of one study by name, its own first."""

    text_id: str
    files: Mapping[str, str]


def study_line(study: Study, kept_at: str) -> dict[str, Any]:
    """Return the line of a journal that keeps a study's text."""
    return {
        "kind": "study",
        "study": study.name,
        "study_version": study.version,
        "text_id": text_id(study.texts),
        "kept_at": kept_at,
        "contents": sorted(study.contents),
        "files": [list(file) for file in study.texts.items()],
    }


def text_lines(study: Study, registration: Registration | None, kept_at: str) -> list[dict[str, Any]]:
    """Return the lines of a journal with the texts of a run: its study's, and its registration's."""
    lines = [study_line(study, kept_at)]
    return lines if registration is None else [*lines, registration_line(registration, kept_at)]


def registration_line(registration: Registration, kept_at: str) -> dict[str, Any]:
    return {"kind": "registration", **asdict(registration), "kept_at": kept_at}


def text_id(files: Mapping[str, str]) -> str:
    return stable_id([[name, text] for name, text in files.items()])


def kept_names(db: str | Path | None) -> list[str]:
    """Return the studies whose text this database keeps."""
    if db is None:
        return []
    with contextlib.suppress(DatabaseError), reading(db) as connection:
        return [
            name for (name,) in connection.execute("SELECT DISTINCT study FROM study_files ORDER BY ALL").fetchall()
        ]
    return []


def kept_text(db: str | Path | None, study: str, version: str = "") -> KeptText | None:
    """Return the newest text of a study (or of the version that begins so); None if the database has none."""
    if db is None or not Path(db).exists():
        return None
    rows = fetched(db, _TEXTS, [study, study, version])
    return KeptText(rows[0][2], {name: text for name, text, _ in rows}) if rows else None


def keep_text(db: str | Path, study: Study) -> None:
    """Keep a text although no run asked with it, because all it asks has its answers: it is now the newest one. If
    another collector is at work, leave it for the next time."""
    newest = kept_text(db, study.name)
    if newest is not None and newest.text_id != text_id(study.texts):
        with contextlib.suppress(JournalError), SideJournal(Path(db), "study") as journal:
            journal.append(study_line(study, utc_now()))


def keep_registration(db: str | Path, registration: Registration) -> None:
    """Keep a registration although no run asked with it, because all it plans has its answers."""
    if registration.sha256 not in {known.sha256 for known in kept_registrations(db, registration.study)}:
        with contextlib.suppress(JournalError), SideJournal(Path(db), "registration") as journal:
            journal.append(registration_line(registration, utc_now()))


def kept_registrations(db: str | Path, study: str) -> list[Registration]:
    """Return the registrations that runs of a study in this database were given, the newest first."""
    if not Path(db).exists():
        return []
    rows = fetched(db, _REGISTRATIONS, [study])
    return [Registration(*row) for row in rows]


def with_typed_measures(study: Study, db: str | Path) -> Study:
    """Return a study with the measures that a person's own functions made of its kept answers (`collect reread`)."""
    if not Path(db).exists() or not hasattr(study.data, "measures"):
        return study
    names = fetched(db, _TYPED_MEASURES, [study.name])
    kept = dict.fromkeys(name for (name,) in names if name not in study.data.measures)
    return replace(study, data=study.design.reads.with_measures(study, kept, None)) if kept else study


def kept_study(name: str, db: str | Path | None) -> Path | None:
    """Return the file of a study that the database keeps, written to a readable place; None if it has none."""
    text = kept_text(db, name)
    return None if text is None else written(text)


def written(text: KeptText, folder: Path | None = None) -> Path:
    """Return the study's own file, written into `folder` (None: slant's own folder). StudyError if a name leads
    outside, or the text is not what was kept.
    """
    names = list(text.files)
    for name in names:
        parts = (PurePosixPath(name), PureWindowsPath(name))
        if (
            not name
            or "\0" in name
            or "\\" in name
            or any(p.is_absolute() or p.drive or ".." in p.parts for p in parts)
        ):
            raise StudyError(
                f'A study in this database can\'t be read: its file "{name}" would lie outside its folder.'
            )
    if not names or not names[0].endswith(".toml") or text_id(text.files) != text.text_id:
        raise StudyError("A study in this database can't be read: its text is not the one that was kept.")
    if folder is not None:
        return _write(folder, text)
    folder = kept_folder() / text.text_id
    try:
        return _write(folder, text)
    except OSError:  # no home that can be written to
        return _write(Path(tempfile.mkdtemp(prefix=TEMPORARY)), text)


def _write(folder: Path, stored_text: KeptText) -> Path:
    for name, text in stored_text.files.items():
        place, data = folder / name, text.encode("utf-8")
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_symlink() or not place.is_file() or contents(place) != data:
            replace_on_disk(place, data)
    return (folder / next(iter(stored_text.files))).resolve()


NOT_ASKED = (
    "title", "source", "note", "published", "fits", "sensitivity", "simulation", "figures", "variant_labels", "people",
)  # fmt: skip
"""List tables of a study that no prompt uses: their differences are named only if nothing else differs."""


def text_differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the places that differ, as `[prompt] option_order`, `[prompt.wordings] 3`, `stimuli.csv "lungo"`; those
    that decide the prompts come first. Each text is its files by name, its own first.
    """
    toml = [(_name(path), path[0] in NOT_ASKED) for path in _changed(_toml(before), _toml(after))]
    files = [
        (row, False)
        for name in dict.fromkeys((*list(before)[1:], *list(after)[1:]))
        for row in _rows(name, before.get(name, ""), after.get(name, ""))
    ]
    places = [*toml, *files]
    return [place for place, is_other in places if not is_other] or [place for place, _ in places]


def _toml(files: Mapping[str, str]) -> dict[str, Any]:
    try:
        return tomllib.loads(next(iter(files.values()), ""))
    except tomllib.TOMLDecodeError:
        return {}


def _changed(before: Any, after: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of all values that differ; rows of an array of tables go by their first value."""
    was, current = _by_name(before), _by_name(after)
    if was is not None and current is not None:
        yield from ((*at, name) for name in dict.fromkeys((*was, *current)) if was.get(name) != current.get(name))
    elif isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            yield from _changed(before.get(key), after.get(key), (*at, str(key)))
    elif before != after:
        yield at


def _by_name(value: Any) -> dict[str, Any] | None:
    """Return an array of tables by the first value of each; None if it is not one, or two have the same name."""
    if not isinstance(value, list) or not value or not all(isinstance(row, dict) and row for row in value):
        return None
    named = {str(next(iter(row.values()))): row for row in value}
    return named if len(named) == len(value) else None


def _name(path: tuple[str, ...]) -> str:
    return path[0] if len(path) == 1 else f"[{'.'.join(path[:-1])}] {path[-1]}"


def _rows(name: str, before: str, after: str) -> Iterator[str]:
    """Return rows of a CSV that only one of the texts has, each once: by the first cell if that names a row."""
    tables = [list(csv.reader(io.StringIO(text))) for text in (before, after)]
    rows = [[tuple(cell.strip() for cell in row) for row in table] for table in tables]
    changed = [row for row in rows[1] if row not in set(rows[0])] + [row for row in rows[0] if row not in set(rows[1])]
    named = all(len({row[:1] for row in table}) == len(table) for table in rows)
    labels = dict.fromkeys(row[0] if named else ", ".join(row) for row in changed if row)
    yield from (f"{name} {label if named else json.dumps(label, ensure_ascii=False)}" for label in labels)
