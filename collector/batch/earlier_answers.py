"""What the database, unloaded journals and open jobs know of batches; and that they don't mix with live answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.collector.errors import UsageError
from slant.collector.keep.batch_jobs import JobFolder
from slant.collector.keep.database import reading
from slant.collector.keep.journal import journal_folder, whole_lines
from slant.collector.keep.journal_lines import parse
from slant.collector.keep.journal_loader import CHUNK_BYTES, loaded_offsets
from slant.collector.studies.catalogue import Study
from slant.collector.system.shipped_files import sql_query

Modes = dict[str, Counter[str]]


def attempted_in(db: Path, batch_id: str) -> set[str]:
    """The trials that have any attempt, final or failed, out of this batch job."""
    rows = _rows(db, "SELECT DISTINCT trial_id FROM attempts WHERE batch_id = ?", [batch_id])
    found = {row[0] for row in rows}
    for frame in _unloaded(db):
        found.update(frame.filter(pl.col("batch_id") == batch_id)["trial_id"].to_list())
    return found


def modes(db: Path, study: Study) -> Modes:
    """For each model how many of its trials in this study, version and variant were asked `live` and by `batch`."""
    contents = sorted(study.contents)
    wanted = {
        "study": study.name, "study_version": study.version, "contents": contents, "variant": study.variant,
    }  # fmt: skip
    found: Modes = {}
    for model, is_batch, count in _rows(db, sql_query("live_and_batch"), wanted):
        found.setdefault(model, Counter())["batch" if is_batch else "live"] += count
    is_wanted = (
        pl.col("is_final")
        & (pl.col("source") == "collected")
        & (pl.col("study") == study.name)
        & (pl.col("variant") == study.variant)
        & ((pl.col("study_version") == study.version) | pl.col("content").is_in(contents))
    )
    for frame in _unloaded(db):
        for model, batch_id in frame.filter(is_wanted).select("model", "batch_id").iter_rows():
            found.setdefault(model, Counter())["batch" if batch_id else "live"] += 1
    for job in JobFolder(db).open_jobs(study.name):
        if (job.study_version, job.variant) == (study.version, study.variant):
            found.setdefault(str(job.model["model"]), Counter())["batch"] += job.n_requests
    return found


def check_not_mixed(db: Path, study: Study, models: Collection[str], *, is_batch: bool) -> None:
    """UsageError where a model's answers in one study would come partly live and partly by batch."""
    other = "live" if is_batch else "batch"
    for model, counts in modes(db, study).items():
        if model in models and counts[other]:
            here, there = ("by batch", "live") if is_batch else ("live", "by batch")
            raise UsageError(
                f'Can\'t ask {model} {here}: {counts[other]:,} trials of "{study.name}" were asked {there} already.',
                "A provider may serve the two differently, so one model's answers come one way. Nothing was sent.",
                f"To go on as before: {'leave out --batch' if is_batch else '--batch'}. To mix them knowingly: --mixed",
            )


def mixed_notes(db: str | Path, study: str | None) -> list[str]:
    """Sentences about models whose answers in one test came both live and by batch (collect --mixed)."""
    query = "SELECT DISTINCT study, model FROM mixed_batches WHERE source = 'collected' ORDER BY ALL"
    try:
        with reading(db) as connection:
            rows = connection.execute(query).fetchall()
    except duckdb.CatalogException:  # an older slant's, which knew no batches
        return []
    return [
        f"{model} was asked partly live and partly by batch: its contrasts mix the two (view mixed_batches)."
        for its, model in rows
        if study in (None, its)
    ]


def _rows(db: Path, query: str, values: list[Any] | dict[str, Any]) -> list[tuple[Any, ...]]:
    if not db.exists():
        return []
    with reading(db) as connection:
        return connection.execute(query, values).fetchall()


def _unloaded(db: Path) -> Iterator[pl.DataFrame]:
    offsets = loaded_offsets(db)
    for path in sorted(journal_folder(db).glob("*.jsonl")):
        for _, data in whole_lines(path, offsets.get(path.name, 0), CHUNK_BYTES):
            yield parse(data).attempts
