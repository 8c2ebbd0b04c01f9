"""`kill -9` of `collect --batch` at random moments: nothing is submitted twice, no answer is lost or doubled."""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from slant.collector import collect
from slant.collector.keep.journal_loader import load_journals
from tests.conftest import ROOT
from tests.support.batch_server import BatchServer
from tests.support.batching import MODELS
from tests.support.fault_run import TRIALS, Suffered, command, counted

REPETITIONS_A_KILL = 10
IN_A_JOB = 20
LONGEST_LIFE_S = 30.0


def killed_batches(
    folder: Path, provider: str, kills: int, seed: int, say: Callable[[str], None] = lambda _: None
) -> Suffered:
    """Kill so many calls, some of whose jobs end meanwhile; then go on to the end. `again` counts requests that were
    submitted a second time: each is paid for."""
    draw = random.Random(seed)
    repetitions = REPETITIONS_A_KILL * kills
    with BatchServer() as server, pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment().items():
            patch.setenv(name, value)
        server.pause_s = lambda: random.uniform(0.0, 0.1)
        words = [*_words(folder, provider), "--batch", "--batch-size", str(IN_A_JOB), "--repetitions", str(repetitions)]
        for number in range(kills):
            process = subprocess.Popen(
                words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ
            )
            _some_calls_later(process, server, draw)
            process.kill()
            process.wait()
            if draw.random() < 0.3:
                server.finish()
            say(f"killed {number + 1} of {kills} calls of --batch ({provider}), {len(server.jobs)} jobs made")
        _to_the_end(folder, provider, server, repetitions)
        planned, asked = TRIALS * repetitions, sum(len(job["requests"]) for job in server.jobs)
        load_journals(folder / "a.duckdb")
        return counted(folder / "a.duckdb", asked, planned, planned)


def _some_calls_later(process: subprocess.Popen[bytes], server: BatchServer, draw: random.Random) -> None:
    """In the middle of, or just after, one of the next calls at the provider; or when the command has ended."""
    calls = server.calls.total() + draw.randint(1, 15)
    until = time.monotonic() + LONGEST_LIFE_S
    while server.calls.total() < calls and process.poll() is None and time.monotonic() < until:
        time.sleep(0.002)
    time.sleep(draw.uniform(0.0, 0.15))


def _words(folder: Path, provider: str) -> list[str]:
    words = command(folder, "", model=MODELS[provider])
    at = words.index("--concurrency")  # and what follows: of live requests only
    return [*words[:at], "--db", str(folder / "a.duckdb")]


def _to_the_end(folder: Path, provider: str, server: BatchServer, repetitions: int) -> None:
    time.sleep(0.5)  # what the last one had sent takes effect; with `settle_s` an hour would do the same
    server.pause_s = lambda: 0.0
    for _ in range(6):
        server.finish()
        report = collect(
            folder / "a.duckdb",
            str(folder / "study" / "study.toml"),
            [MODELS[provider]],
            yes=True,
            repetitions=repetitions,
            settle_s=0.0,
            batch=True,
        )
        if report.is_complete:
            return
    raise AssertionError("not done after six more calls")
