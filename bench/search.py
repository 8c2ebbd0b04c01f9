"""How long a search over numbers of topics takes on so many cores: the jobs of `analyze topics search`.

    python -m bench.search PREPARED.rds CORES

Prints, as JSON: wall_s, and the numbers of topics that were fitted.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import closing

import click

from slant.analysis.bridge.worker import Died, run_jobs
from slant.analysis.questions.topics.search import SearchJob, search_job


def run(file: str, cores: int) -> dict[str, object]:
    """On one core means on one: without the threads that a fit would take of the others."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    jobs = [SearchJob(file, number, 50) for number in range(10, 2, -1)]
    began = time.monotonic()
    with closing(run_jobs(search_job, jobs, cores)) as results:
        rows = [row for _, row in results]
    died = [row.reason for row in rows if isinstance(row, Died)]
    if died:
        raise SystemExit(died[0])
    return {"wall_s": time.monotonic() - began, "n_topics": [row["n_topics"] for row in rows]}


if __name__ == "__main__":
    click.echo(json.dumps(run(sys.argv[1], int(sys.argv[2]))))
