"""Load the answers of a sealed archive as a database, for commands that compare two data sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slant.analysis.archive import layout
from slant.analysis.archive.study_copy import load_sealed
from slant.analysis.archive.zip_reader import ArchiveError, check_room, opened_archive
from slant.collector.keep.journal import journal_folder
from slant.collector.system.files import copied
from slant.collector.system.scratch import temporary_folder


@contextmanager
def database_of(path: Path) -> Iterator[Path]:
    """Yield `path` itself if it is a database; for an archive (.zip) a database of its journals, which exists during
    the block. Raise ArchiveError for a file that differs from its manifest."""
    if path.suffix.lower() != ".zip":
        yield path
        return
    with temporary_folder("archive") as folder:
        yield _loaded(path, folder)


def _loaded(path: Path, folder: Path) -> Path:
    db = folder / f"{path.stem}.duckdb"
    journal_folder(db).mkdir()
    with opened_archive(path) as archive:
        check_room(archive, folder)
        for name in archive.members:
            if not name.startswith(f"{layout.JOURNAL}/"):
                continue
            if problem := archive.unpack(name, folder / "sealed"):
                raise ArchiveError(f'Can\'t read "{path}": {name} {problem}.')
            copied(folder / "sealed" / name, journal_folder(db) / Path(name).name)
    load_sealed(db, lambda *_: None)
    return db
