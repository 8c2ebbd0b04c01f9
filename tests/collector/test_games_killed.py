"""`kill -9` at random moments of a hundred games, next to the same games played in one go."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.collector.test_games import by_history
from tests.conftest import ROOT
from tests.support.local_server import LocalServer
from tests.support.tiny_game import player, rows, write_game

KILLS = 10


@pytest.mark.slow
def test_killed_games_lose_no_round_double_none_and_meet_the_same_luck(tmp_path: Path) -> None:
    study = write_game(tmp_path, ("games = 3", "games = 100"))
    whole, killed = tmp_path / "whole.duckdb", tmp_path / "killed.duckdb"
    draw = random.Random(7)
    with LocalServer(player(by_history)) as server:
        subprocess.run(command(study, server, whole), cwd=ROOT, check=True, capture_output=True)
        server.handler = leisurely
        for _ in range(KILLS):
            process = subprocess.Popen(command(study, server, killed), cwd=ROOT, stderr=subprocess.DEVNULL)
            asked = len(server.bodies) + draw.randint(10, 90)
            while len(server.bodies) < asked and process.poll() is None:
                time.sleep(0.01)
            assert process.poll() is None, "a run came to its end before it was killed"
            process.kill()
            process.wait()
        server.handler = player(by_history)
        subprocess.run(command(study, server, killed), cwd=ROOT, check=True, capture_output=True)
    kept = "SELECT trial_id, turn, item, choice, factors, prompt_hash FROM attempts ORDER BY ALL"
    assert rows(killed, kept) == rows(whole, kept)
    assert rows(killed, "SELECT count(DISTINCT run_id) FROM attempts") == [(KILLS + 1,)]


async def leisurely(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    await asyncio.sleep(random.uniform(0.05, 0.5))
    answered: web.StreamResponse = await player(by_history)(request, body)
    return answered


def command(study: Path, server: LocalServer, db: Path) -> list[str]:
    asked = ["--study", str(study), "--model", "local/small", "--base-url", server.base_url, "--db", str(db)]
    return [sys.executable, "-m", "slant.collector", *asked, "--concurrency", "8", "--format", "csv"]
