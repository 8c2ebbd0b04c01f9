"""The plan of a run, as `collect()` makes it of its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from slant.collector.designs.study import Study
from slant.collector.plan.run_plan import RunPlan, make_run_plan
from slant.collector.request.record import Request


def planned(study: Study, models: Sequence[str] | None, db: Path, **settings: Any) -> RunPlan:
    return make_run_plan(study, Request(db, study, models, **settings))
