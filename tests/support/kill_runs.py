"""`kill -9` again and again at random moments of one study, and what is left of its answers in the end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import journal_paths
from tests.conftest import ROOT
from tests.support.fault_run import TRIALS, Suffered, command, counted, query
from tests.support.journals import journal_text
from tests.support.local_server import LocalServer, answers

IN_FLIGHT = 8
LONGEST_LIFE_S = 6.0


async def leisurely(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    await asyncio.sleep(random.uniform(0.04, 0.16))
    return await answers(request, body)


def killed(folder: Path, kills: int, seed: int, say: Callable[[str], None] = lambda _: None) -> Suffered:
    """Kill so many runs; then let one run to the end. AssertionError where an acknowledged answer is gone."""
    draw = random.Random(seed)
    repetitions = 25 * kills
    db = folder / "a.duckdb"
    acknowledged: set[str] = set()
    moments = (in_journal, in_database, any_time)
    with LocalServer(leisurely) as server:
        words = command(folder, server.base_url, "--repeat", repetitions)
        for number in range(kills):
            process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            moments[number % len(moments)](process, db, draw)
            assert process.poll() is None, "a run came to its end before it was killed"
            process.kill()
            process.wait()
            acknowledged |= in_journals(db, newest_only=True)
            say(f"killed {number + 1} of {kills}, {len(acknowledged):,} answers kept")
        server.handler = answers
        subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
        planned = TRIALS * repetitions
        found = counted(db, len(server.bodies), planned, planned)
    kept = {row[0] for row in query(db, "SELECT trial_id FROM trials")}
    assert acknowledged <= kept, f"{len(acknowledged - kept)} acknowledged answers are gone"
    return found


def in_journal(process: subprocess.Popen[bytes], db: Path, draw: random.Random) -> None:
    """While answers come in: when the newest journal has grown by some thousand bytes, wherever that is in a line."""
    before = _size(db)
    growth = draw.randint(1, 200_000)
    _wait(process, lambda: _size(db) > before + growth)


def in_database(process: subprocess.Popen[bytes], db: Path, draw: random.Random) -> None:
    """While the database is held: some milliseconds after it was opened."""
    opened = _wait(process, lambda: any(place == str(db) for place in _open_files(process.pid)))
    if opened:
        time.sleep(draw.uniform(0.0, 0.06))


def any_time(process: subprocess.Popen[bytes], db: Path, draw: random.Random) -> None:
    """Anywhere from its first moment on."""
    time.sleep(draw.uniform(0.0, 3.5))


def in_journals(db: Path, *, newest_only: bool = False) -> set[str]:
    """The trials with a whole final line."""
    paths = journal_paths(journal_folder(db))
    found = set()
    for path in paths[-1:] if newest_only else paths:
        for line in journal_text(path).split(b"\n")[:-1]:
            if b'"is_final":true' in line:
                found.add(line.partition(b'"trial_id":"')[2][:32].decode())
    return found


def _wait(process: subprocess.Popen[bytes], is_so: Callable[[], bool]) -> bool:
    until = time.monotonic() + LONGEST_LIFE_S
    while time.monotonic() < until and process.poll() is None:
        if is_so():
            return True
        time.sleep(0.001)
    return False


def _size(db: Path) -> int:
    return sum(path.stat().st_size for path in journal_folder(db).glob("*.jsonl"))


def _open_files(pid: int) -> list[str]:
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found.append(os.readlink(f"/proc/{pid}/fd/{name}"))
    return found
