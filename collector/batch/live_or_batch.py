"""Find which answers came live and which by batch, and keep one model's from being mixed unless a person asks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from pathlib import Path

from slant.collector.errors import OlderDatabaseError, UsageError
from slant.collector.keep.batch_jobs import JobFolder
from slant.collector.keep.database import reading
from slant.collector.keep.stored_attempts import attempts_where
from slant.collector.studies.catalogue import Study

Modes = dict[str, Counter[str]]
_OF_STUDY = (  # of this version, or of another whose text holds what the trial's prompt was made of
    "is_final AND occasion IS NULL AND source = 'collected' AND study = $study AND variant = $variant "
    "AND (study_version = $version OR list_contains($contents, content))"
)


def attempted_in(db: Path, batch_id: str) -> set[str]:
    """Return the trials that have any attempt, final or failed, from this batch job."""
    parts = attempts_where(db, "batch_id = $batch_id", {"batch_id": batch_id}, "DISTINCT trial_id")
    return {trial_id for part in parts for trial_id in part["trial_id"]}


def modes(db: Path, study: Study) -> Modes:
    """Return the number of `live` and `batch` trials of each model in this study, version and variant."""
    contents = sorted(study.contents)
    values = {"study": study.name, "version": study.version, "variant": study.variant, "contents": contents}
    counts: Modes = defaultdict(Counter)
    for part in attempts_where(db, _OF_STUDY, values, "model, batch_id IS NOT NULL AS is_batch"):
        for model, is_batch, count in part.group_by("model", "is_batch").len().iter_rows():
            counts[model]["batch" if is_batch else "live"] += count
    for job in JobFolder(db).open_jobs(study.name):
        if (job.study_version, job.variant) == (study.version, study.variant):
            counts[str(job.model["model"])]["batch"] += job.n_requests
    return counts


def check_not_mixed(db: Path, study: Study, models: Collection[str], *, is_batch: bool) -> None:
    """Raise UsageError if a model's answers in one study would come partly live and partly by batch."""
    other = "live" if is_batch else "batch"
    for model, counts in modes(db, study).items():
        if model in models and counts[other]:
            way, other_way = ("by batch", "live") if is_batch else ("live", "by batch")
            raise UsageError(
                f'Can\'t ask {model} {way}: {counts[other]:,} trials of "{study.name}" were collected {other_way}.',
                "A provider may serve the two differently, so collect all answers of a model in one way. Nothing "
                "was sent.",
                f"To continue as before: {'remove --batch' if is_batch else '--batch'}. To mix them anyway: --mixed",
            )


def mixed_notes(db: str | Path, study: str | None) -> list[str]:
    """Return sentences about models whose answers in one test came both live and by batch (collect --mixed)."""
    query = "SELECT DISTINCT study, model FROM mixed_batches WHERE source = 'collected' ORDER BY ALL"
    try:
        with reading(db) as connection:
            rows = connection.execute(query).fetchall()
    except OlderDatabaseError:  # it has no batches
        return []
    return [
        f"{model} was collected partly live and partly by batch: its contrasts mix the two (view mixed_batches)."
        for of_study, model in rows
        if study in (None, of_study)
    ]
