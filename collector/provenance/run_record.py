"""The row of a run: everything that must be known to say later what was done, written before the first question."""

from __future__ import annotations

import json
import platform
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from slant.collector.keep.journal import utc_now
from slant.collector.keep.public_paths import typed_command
from slant.collector.plan.run_plan import RunPlan
from slant.collector.provenance.sources import model_provenance, study_file
from slant.collector.records import Run
from slant.collector.system.code_version import current_code_version, git_commit


def new_run_record(run_plan: RunPlan, options: Mapping[str, Any], *, is_simulated: bool) -> Run:
    """`options` are those of the run (how it asks), as JSON-able values."""
    study = run_plan.study
    if any(model_plan.model.structured_output for model_plan in run_plan.model_plans):
        options = {**options, "structured_output": True}
    if run_plan.shard is not None:
        planned = {model_plan.model.model: dict(model_plan.planned_tests) for model_plan in run_plan.model_plans}
        options = {**options, "shard": str(run_plan.shard), "shard_planned": planned}
    if run_plan.stopping is not None:
        options = {**options, **run_plan.stopping.as_settings()}
    numbers = {model.model: number for number, model in enumerate(study.models, 1)}
    models = [
        {
            "model": a.model.model,
            "label": a.model.label,
            "provider": a.provider.name,
            "requested_model": a.model.requested_model,
            "frame": a.model.frame or None,
            "measure": a.model.measure,
            "settings": dict(a.model.settings),
            "planned": a.planned if a.occasion is None else run_plan.whole,
            "model_no": numbers.get(a.model.model),
        }
        | model_provenance(run_plan, a)
        | ({} if a.occasion is None else {"occasion": a.occasion.number, "n_again": a.occasion.n_again})
        for a in run_plan.model_plans
    ]
    tests = [asdict(test) | {"planned": test.planned * run_plan.repetitions} for test in study.tests]
    return Run(
        run_id=new_run_id(study.name),
        source="simulated" if is_simulated else "collected",
        study=study.name,
        study_version=study.version,
        variant=study.variant,
        seed=run_plan.seed,
        repetitions=run_plan.repetitions,
        design=study.design,
        models=json.dumps(models),
        tests=json.dumps(tests),
        conditions=json.dumps([asdict(condition) for condition in study.conditions]),
        settings=json.dumps(options),
        code_version=current_code_version(),
        machine=f"{platform.platform()}, Python {platform.python_version()}",
        command=typed_command(run_plan.db),
        started_at=utc_now(),
        study_title=study.title,
        study_source=study.source or None,
        study_file=study_file(study, run_plan.db),
        git_commit=git_commit(),
        registration=None if run_plan.registration is None else run_plan.registration.sha256,
    )


def new_run_id(study: str) -> str:
    """Sorts by time, names the study, and is unique: 20261121T134405Z-rmiat-3f9a1c."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{study}-{secrets.token_hex(3)}"
