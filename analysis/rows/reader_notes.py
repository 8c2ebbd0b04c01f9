"""Put readers' notes next to their trials (`collect view --notes`), one row per note."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from slant.analysis.rows.views import set_measure
from slant.collector.errors import UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of, registered
from slant.collector.system.shipped_files import sql_query
from slant.collector.view.notes_file import COLUMNS, NotesFile

CODED_TRIALS = "coded_trials"


def coded_trials(
    db: str | Path, notes: Sequence[str | Path], study: str | None = None, measure: str | None = None
) -> pl.DataFrame:
    """Return the notes of each file (its name is the reader's) with the columns of their trials, of `study` or of all.

    There is one row per reader and trial, by reader in the order of files, then in the order of asking. Notes on trials
    that the database does not hold are left out. Raise UsageError if there is no file, a file is not one of notes, or
    two have the same name; `measure` is as for `open_trials`.
    """
    paths = [Path(path) for path in notes]
    readers = [path.stem for path in paths]
    if not paths or len(set(readers)) < len(readers):
        raise UsageError(
            f'The table "{CODED_TRIALS}" needs files of notes, no two of one name.',
            "analyze tables coded_trials --notes FILE",
        )
    if missing := [str(path) for path in paths if not path.exists()]:
        raise UsageError(f"There are no notes {', '.join(missing)}.", "collect view --notes FILE writes them.")
    rows = [
        {"reader_no": number, "reader": path.stem, **{name: note.get(name) or None for name in COLUMNS}}
        for number, path in enumerate(paths)
        for note in NotesFile(path).read().values()
    ]
    schema = {"reader_no": pl.Int64, **dict.fromkeys(("reader", *COLUMNS), pl.String)}
    with reading(db) as connection, registered(connection, "reader_notes", pl.DataFrame(rows, schema=schema)):
        set_measure(connection, measure)
        coded: pl.DataFrame = frame_of(connection.sql(sql_query(CODED_TRIALS)))
    return coded if study is None else coded.filter(pl.col("study") == study)
