"""`kill -9` of `collect --budget` while requests are in flight: what the server bills stays below the budget."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.conftest import ROOT
from tests.support.fault_run import command
from tests.support.local_server import LocalServer, completion

BUDGET_USD, AN_ANSWER_USD = 2.0, 0.064
TOKENS = 16_000
LONGEST_S = 60.0
_PRICES = '[[prices]]\nprovider = "local"\nmodel = "small"\ninput = 0\noutput = 4.0\ndate = 2026-11-26\nsource = ""\n'


@dataclass(frozen=True)
class Billed:
    """What the server bills for all that it was sent, in US dollars, and the traceback of a run, if one had any."""

    usd: float
    traceback: str


class _Slow:
    """Answers long after it has begun to bill."""

    def __init__(self) -> None:
        self.seconds = 4.0

    async def __call__(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(self.seconds)
        return web.json_response(completion(completion_tokens=TOKENS))


def killed_budget(folder: Path, kills: int, seed: int) -> Billed:
    """Kill so many runs with the same budget, each with requests in flight, if it sends any; then one in peace."""
    draw, slow = random.Random(seed), _Slow()
    (folder / "prices.toml").write_text(_PRICES, "utf-8")
    with LocalServer(slow) as server:
        words = [
            *command(folder, server.base_url, "--repetitions", 40, "--concurrency", 100),
            *("--prices", str(folder / "prices.toml"), "--budget", str(BUDGET_USD)),
        ]
        for _ in range(kills):
            _kill_in_flight(words, server, draw)
        slow.seconds = 0.01
        last = subprocess.run(
            words, cwd=ROOT, capture_output=True, text=True, timeout=LONGEST_S, env=os.environ, check=False
        )
        billed = len(server.bodies) * AN_ANSWER_USD
    return Billed(billed, last.stderr[-1200:] if "Traceback" in last.stderr else "")


def _kill_in_flight(words: list[str], server: LocalServer, draw: random.Random) -> None:
    before, until = len(server.bodies), time.monotonic() + LONGEST_S
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while len(server.bodies) == before and process.poll() is None and time.monotonic() < until:
        time.sleep(0.002)
    time.sleep(draw.uniform(0, 0.3))
    process.kill()
    process.wait()
