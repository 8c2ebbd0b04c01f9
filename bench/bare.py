"""The baseline: an aiohttp loop that posts the same bodies and reads the answers, and does nothing else.

python -m bench.bare URL TRIALS IN_FLIGHT
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from itertools import cycle, islice
from typing import Any

import aiohttp
import click

from slant.collector.designs import design_named
from slant.collector.plan.conversations import plan
from slant.collector.providers import provider_named
from slant.collector.studies.catalogue import load_study


def bodies(count: int) -> list[Any]:
    """What the whole path sends: the first requests of the plan."""
    study = load_study("rmiat")
    model, design, dialect = study.model("local/m"), design_named(study.design), provider_named("local").dialect
    steps = (design.next(study, model, conversation, []) for conversation in islice(plan(study, model), count))
    return [dialect.request("", None, model, step[1], step[0]).body for step in steps if step]


async def post(url: str, trials: int, in_flight: int) -> dict[str, float]:
    waiting = islice(cycle(bodies(min(trials, 2000))), trials)
    connector = aiohttp.TCPConnector(limit=in_flight)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def work() -> None:
            for body in waiting:
                async with session.post(f"{url}/chat/completions", json=body) as response:
                    await response.read()

        began, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(work() for _ in range(in_flight)))
        return {"trials": trials, "wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu}


if __name__ == "__main__":
    click.echo(json.dumps(asyncio.run(post(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))))
