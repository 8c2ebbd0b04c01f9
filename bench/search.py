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

from slant.analysis.calls.call import Call, computed


def run(file: str, cores: int) -> dict[str, object]:
    """On one core means on one: without the threads that a fit would take of the others."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    given = {"file": file, "max_em_its": 50}
    calls = [Call("search_prepared", arguments={**given, "k": number}) for number in range(10, 2, -1)]
    began = time.monotonic()
    with closing(computed(calls, cores)) as ended:
        answers = [answer for _, answer in ended]
    for answer in answers:
        answer.raise_error()
    return {"wall_s": time.monotonic() - began, "n_topics": [answer.frames["row"]["n_topics"][0] for answer in answers]}


if __name__ == "__main__":
    click.echo(json.dumps(run(sys.argv[1], int(sys.argv[2]))))
