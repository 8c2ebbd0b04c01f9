"""Report doubtful counts: of several kinds for one model, or in contradiction to each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb

from slant.collector.errors import DatabaseError
from slant.collector.keep.database import reading
from slant.collector.system.shipped_files import sql_query
from slant.collector.terminal import printable

_KINDS = {
    "usage": "the provider's count of the reasoning",
    "output": "all output tokens",
    "template": "tokens up to a closing mark",
    "retokenized": "counted again",
}


def doubtful_count_notes(db: str | Path, study: str | None = None) -> list[str]:
    """Return a sentence for each model of a study whose answers have such counts; none if the database can't be read
    now.
    """
    try:
        with reading(db) as connection:
            rows = connection.execute(sql_query("doubtful_counts")).fetchall()
    except (DatabaseError, duckdb.Error):
        return []
    return [note for of_study, *row in rows if study in (None, of_study) for note in _notes(*row)]


def _notes(
    model: str, kinds: dict[str, int] | None, n_answers: int, n_conflicts: int, conflict: str | None
) -> Iterator[str]:
    kinds = kinds or {}
    if len(kinds) > 1:
        listed = ", ".join(f"{n:,} of {kind} ({_KINDS.get(kind, kind)})" for kind, n in kinds.items())
        yield (
            f"{model}: its token counts are of {len(kinds)} kinds, which can't be compared: {listed}. "
            "To analyse one of them: --measure output, or measure in the study."
        )
    if n_conflicts:
        yield (
            f"{model}: in {n_conflicts:,} of {n_answers:,} answers the provider's counts contradict each other "
            f"(column count_conflict). One of them: {printable((conflict or '')[:200])}."
        )
