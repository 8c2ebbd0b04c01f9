"""The authors' raw data of four models as a database, imported once for all tests (one file of Claude's is missing)."""

from __future__ import annotations

import fcntl
import pickle
from dataclasses import dataclass
from pathlib import Path

from slant.collector.importing.imports import ImportReport, import_trials

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
    """In `folder`, which processes that test next to each other share: the first makes it, the others wait."""
    done = folder / "reports.pickle"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            reports = {
                model: import_trials(
                    folder / "authors.duckdb", "rmiat", [shared / "data" / "rmiat" / name], model, "lee-lai"
                )
                for model, name in FOLDERS.items()
            }
            done.write_bytes(pickle.dumps(reports))
    return Authors(folder / "authors.duckdb", pickle.loads(done.read_bytes()))
