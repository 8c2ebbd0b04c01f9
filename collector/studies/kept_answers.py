"""Give a study the answers of another one as its material: a database in the study's folder holds them.

They are kept with the study's texts as one CSV, from which a copy of the study reads them.
"""

from __future__ import annotations

from pathlib import Path

from slant.collector.errors import DatabaseError, StudyError
from slant.collector.keep.database import fetched_frame
from slant.collector.study.folder import MAX_READ_BYTES, StudyFolder, answers_file
from slant.collector.study.toml_table import shortened
from slant.collector.system.files import csv_text
from slant.collector.system.shipped_files import sql_query

_FIRST = ("trial_id", "question", "text", "of_model")


class FolderWithAnswers(StudyFolder):
    """Read a study's folder, in which a database may hold the answers of another study."""

    def answers(self, study: str) -> str:
        name = answers_file(study)
        if name not in self.texts:
            is_copy = (self.root / name).is_file()
            self.texts[name] = self.text(name) if is_copy else _answers(self, study)
        return self.texts[name]


def _answers(folder: StudyFolder, study: str) -> str:
    if study.endswith(".duckdb"):
        raise StudyError(
            f'from must name the study that was asked, not its database "{shortened(study)}".',
            "Each database in the folder is searched for that study (collect status --db FILE lists what one holds).",
        )
    texts = {}
    for file in sorted(folder.root.glob("*.duckdb")):
        if text := _text_in(folder.inside(file.name), study):
            texts[file.name] = text
    if len(texts) != 1:
        where = f"{len(texts)} databases hold" if texts else "no database holds"
        raise StudyError(
            f'The study takes answers from "{shortened(study)}", but {where} any in {folder.root}.',
            "Copy the database that was asked into this folder, or export its answers: collect export --view "
            f'factorial_trials --out {study}.csv, and from = "{study}.csv"',
        )
    (text,) = texts.values()
    if len(text.encode()) > MAX_READ_BYTES:
        raise StudyError(
            f'The answers of "{study}" have more than {MAX_READ_BYTES / 1e6:g} MB; a study can hold no more.'
        )
    return text


def _text_in(db: Path, study: str) -> str:
    """Return the answers in a database as a CSV; empty if it has none, or is none of slant's. Answers of simulated
    models are material only where there are no others."""
    try:
        rows = fetched_frame(db, sql_query("kept_answers"), {"study": study}).to_dicts()
    except DatabaseError:
        return ""
    rows = [row for row in rows if row["source"] != "simulated"] or rows
    more = dict.fromkeys(f"of_{name}" for row in rows for name in row["names"] or ())
    cells = []
    for row in rows:
        shown = dict(zip(row["names"] or (), row["levels"] or (), strict=False))
        properties = (shown.get(name.removeprefix("of_"), "") for name in more)
        cells.append((row["trial_id"], row["question"], row["text"], row["model"], *properties))
    return csv_text((*_FIRST, *more), cells) if rows else ""
