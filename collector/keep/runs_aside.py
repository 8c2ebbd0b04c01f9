"""Set wrong runs aside: such a run stays, with the reason, but counts in no table, fit or figure."""

from __future__ import annotations

import secrets
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from slant.collector.errors import DatabaseEmptyError, UnknownNameError, UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.journal import encode, journal_folder, utc_now, write_whole
from slant.collector.keep.journal_loader import load_journals
from slant.collector.keep.view_heads import view_names
from slant.collector.system.shipped_files import sql_query

_N_TRIALS = sql_query("trials_set_aside")


def set_aside(db: Path, run_id: str, reason: str, *, is_back: bool = False) -> int:
    """Note in the journal that a run counts no more (or, `is_back`, that it counts again); return how many of its
    trials do so.

    Its trials are pending from then on, so that the same command asks them again. Raise UnknownNameError if the
    database lacks the run, UsageError without a reason.
    """
    if not reason.strip():
        raise UsageError(
            "A run is set aside for a reason, which is kept with it.", 'As in: --reason "wrong temperature"'
        )
    load_journals(db)
    with reading(db) as connection:
        runs = dict(connection.execute("SELECT run_id, study FROM runs").fetchall())
        if run_id not in runs:
            raise UnknownNameError(f"run in {db.name}", run_id, runs)
        [(note_no,)] = connection.execute("SELECT 1 + coalesce(max(note_no), 0) FROM set_aside").fetchall()
    record = {
        "kind": "set_aside", "of_run": run_id, "study": runs[run_id], "reason": " ".join(reason.split()),
        "is_back": is_back, "noted_at": utc_now(), "note_no": note_no,
    }  # fmt: skip
    name = f"aside-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    write_whole(journal_folder(db), f"{name}.jsonl", encode(record))
    load_journals(db)
    with reading(db) as connection:
        [(n_trials,)] = connection.execute(_N_TRIALS, {"run": run_id, "is_back": is_back}).fetchall()
    return int(n_trials)


def set_aside_ids(db: Path) -> list[str]:
    """Return the runs that no longer count."""
    if not db.exists():
        return []
    with suppress(DatabaseEmptyError), reading(db) as connection:
        if "aside_runs" in view_names(connection):
            return [row[0] for row in connection.execute("SELECT run_id FROM aside_runs ORDER BY 1").fetchall()]
    return []
