"""How long a Bayesian fit will take, said before it begins: R would be heard at its end only."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from slant.analysis.bridge.worker import Died, FitJob, run_jobs

_MANY_ROWS = 10_000  # below, a fit takes minutes at most, and R need not be asked
_LONG_S = 600


def told_duration(job: FitJob) -> str | None:
    """A sentence where R's own estimate is ten minutes or more; R itself refuses what takes more than an hour."""
    if job.rows.height < _MANY_ROWS or not {"chains", "iterations"} <= job.arguments.keys():
        return None
    with closing(run_jobs(duration_job, [(job.rows.height, job.arguments)], 1)) as results:
        ((_, found),) = results
    if isinstance(found, Died) or found < _LONG_S:
        return None
    return f"{job.rows.height:,} rows will take about {found / 60:,.0f} minutes, if they are fitted."


def duration_job(asked: tuple[int, dict[str, Any]]) -> float:
    """Runs in a worker; seconds."""
    from slant.analysis.bridge import r

    n, arguments = asked
    value, _ = r.call("expected_s", n, {name: arguments[name] for name in ("chains", "iterations", "cores")})
    return float(value[0])
