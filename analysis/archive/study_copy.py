"""Make a database of one study: from its journals, as a replay makes it, with its kept results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from slant.analysis.archive import layout
from slant.analysis.archive.journals import REASONING, texts_left_out
from slant.analysis.archive.layout import ArchiveError, check_room, opened_archive
from slant.analysis.calls.result_rows import ID, model_folder
from slant.collector.errors import SlantError
from slant.collector.keep.database import fetched, kept_open, reading, writing
from slant.collector.keep.frames import frame_of, registered
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import journal_paths
from slant.collector.keep.journal_loader import Loader, LoadReport
from slant.collector.studies.catalogue import Study, load_study
from slant.collector.studies.stored_texts import kept_text, written
from slant.collector.system.files import copied, opened
from slant.collector.system.scratch import temporary_folder
from slant.collector.system.shipped_files import sql_query

_MAX_LINE_BYTES = 128_000_000  # a response of 32 MB, escaped, in the JSON of a line
_BLOCK = 1 << 20
DRAWS = ".draws.parquet"
OnBytes = Callable[[int, int], None]


def load_sealed(db: Path, on_bytes: OnBytes) -> LoadReport:
    """Make `db` from the journals next to it; SlantError for a line that no collector writes."""
    paths = journal_paths(journal_folder(db))
    for path in paths:
        # an endless line would take all memory
        length = 0
        with opened(path) as file:
            while block := file.read(_BLOCK):
                first = block.find(b"\n")
                longest = length + (len(block) if first < 0 else first)
                if longest > _MAX_LINE_BYTES:
                    raise SlantError(f"Can't load {path.name}: it has a line of more than {_MAX_LINE_BYTES:,} bytes.")
                length = longest if first < 0 else len(block) - block.rfind(b"\n") - 1
    of_all, done = sum(path.stat().st_size for path in paths), 0

    def count(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes
        on_bytes(done, of_all)

    with writing(db):
        pass  # make tables and views, even without a single answer
    return Loader(db, count).load()


def stored_study(db: Path, name: str, folder: Path | None) -> Study:
    """Return the study as the database keeps its text, written into `folder` (None: slant's own) to be read; if it
    keeps none, the one that ships with slant under this name. What is sealed is then what will be replayed.
    """
    text = kept_text(db, name)
    return load_study(name, db=db) if text is None else load_study(written(text, folder))


@contextmanager
def in_one_order(db: Path, folder: Path) -> Iterator[None]:
    """Let all reading of `db` inside the block use one thread (as when writing into a folder): several would add up the
    same numbers in a different order each time, and their last digits would differ."""
    with kept_open(db, writes_to=folder):
        yield


def kept_call_ids(db: Path, study: str) -> list[str]:
    """Return the calls of R that the database keeps results of, of this study."""
    return [row[0] for row in fetched(db, sql_query("calls_of_study"), {"study": study})]


def copy_results(db: Path, copy: Path, ids: Collection[str], without: tuple[str, ...]) -> None:
    """Copy the results of these calls into the database `copy`, with the draws next to `db`."""
    wanted = pl.DataFrame({ID: sorted(ids)}, schema={ID: pl.String})
    frames: dict[str, pl.DataFrame] = {}
    with reading(db) as connection, registered(connection, "wanted", wanted):
        for (table,) in connection.execute(sql_query("tables_of_results")).fetchall():
            rows = f"SELECT t.* FROM {table} t SEMI JOIN wanted USING ({ID}) ORDER BY rowid"  # noqa: S608
            frames[table] = frame_of(connection.sql(rows))
    with writing(copy) as connection:
        for table, frame in frames.items():
            shared = texts_left_out(frame) if REASONING in without else frame
            with registered(connection, "new_rows", shared):
                connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM new_rows")  # noqa: S608
    for call_id in wanted[ID]:
        if call_id.isalnum() and (draws := model_folder(db) / f"{call_id}{DRAWS}").is_file():
            model_folder(copy).mkdir(exist_ok=True)
            copied(draws, model_folder(copy) / draws.name)


@contextmanager
def database_of(path: Path) -> Iterator[Path]:
    """Yield `path` itself if it is a database; for an archive (.zip) a database of its journals, which exists during
    the block. Raise ArchiveError for a file that differs from its manifest."""
    if path.suffix.lower() != ".zip":
        yield path
        return
    with temporary_folder("archive") as folder:
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
        yield db
