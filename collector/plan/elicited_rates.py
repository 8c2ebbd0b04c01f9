"""Read rates that models gave in one variant of a study, and that another variant's plan needs as input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from slant.collector.designs.study import Study
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.study.records import StudyModel


def with_rates(study: Study, models: Sequence[StudyModel], db: Path) -> tuple[Study, dict[str, str]]:
    """Return the study with the rates it needs from these models, and by model why it can't be asked: it has
    given none.
    """
    design = study.design
    source = design.asks.source_variant(study)
    if source is None:
        return study, {}
    rates = read_elicited_rates(db, study, source, models)
    jobs = design.asks.rated_items(study.data)
    lacking = {
        model.model: f"it must first say how likely each job succeeds: collect --study {study.as_typed} "
        f"--variant {source} --model {model.provider}/{model.requested_model}"
        for model in models
        if not jobs <= rates.get(model.model, {}).keys()
    }
    return replace(study, data=design.asks.with_rates(study.data, rates)), lacking


def read_elicited_rates(
    db: Path, study: Study, variant: str, models: Sequence[StudyModel]
) -> dict[str, dict[str, float]]:
    """Return the mean chance from 0 to 1 by model and job; for a played model from its simulated answers."""
    rates: dict[str, dict[str, float]] = {}
    if not db.exists():
        return rates
    is_played = {model.model: model.provider == "simulated" for model in models}
    with reading(db) as connection:
        planned = (
            "SELECT DISTINCT study_version, content FROM shown_attempts WHERE is_final AND study = ? AND variant = ?"
        )
        versions = connection.execute(planned, [study.name, variant]).fetchall()
        # an edit elsewhere in the study makes a new version, and these answers still belong to it
        same = [version for version, content in versions if version == study.version or content in study.contents]
        query = (
            "FROM elicited_rates WHERE study = ? AND list_contains(?, study_version) AND variant = ? "
            "ORDER BY source, study_version, model, class, job"
        )
        rows = frame_of(connection.sql(query, params=[study.name, same, variant]))
        for row in rows.iter_rows(named=True):
            if (row["source"] == "simulated") == is_played.get(row["model"]):
                rates.setdefault(row["model"], {})[row["job"]] = row["mean_rate"]
    return rates
