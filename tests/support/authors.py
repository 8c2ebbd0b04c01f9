"""The authors' raw data of four models as a database, imported once for all tests (one file of Claude's is missing)."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path

from slant.collector.importing.imports import ImportReport, import_trials
from tests.support.made_once import made_once

FOLDERS = {
    "o3-mini": "o3-mini",
    "deepseek-r1": "DeepSeek-R1",
    "claude-3.7-sonnet": "Claude3.7",
    "gpt-oss-20b": "GPT-OSS-20B",
}


@dataclass(frozen=True)
class Authors:
    """`db` is for reading only: all tests share it. `reports` are those of the imports, by model."""

    db: Path
    reports: dict[str, ImportReport]


def imported_authors(shared: Path, folder: Path) -> Authors:
    def make(folder: Path) -> None:
        db, data = folder / "authors.duckdb", shared / "data" / "rmiat"
        reports = {
            model: import_trials(db, "rmiat", [data / name], model, "lee-lai") for model, name in FOLDERS.items()
        }
        (folder / "reports.pickle").write_bytes(pickle.dumps(reports))

    made_once(folder, make)
    return Authors(folder / "authors.duckdb", pickle.loads((folder / "reports.pickle").read_bytes()))
