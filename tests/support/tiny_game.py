"""A game of somebody's own, as small as one can be, and servers that play it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import web

from slant.collector import RunReport, collect
from slant.collector.keep.database import reading
from tests.support.local_server import LocalServer, completion

GAME = """
name = "posts"
title = "Who gets the post"
design = "allocation"
frame = "direct"
games = 3
rounds = 6
groups = ["Ato", "Beno"]
success = 0.5
questions = true
classes = [{ class = "high", jobs = ["Judge", "Pilot"] }, { class = "low", jobs = ["Porter"] }]

[prompt]
preamble = "You fill {rounds} posts.\\n{classes}"
round = "Post: {job}. {candidates} apply."
outcome_success = "{group} did well as {job}: {points} point."
outcome_failure = "{group} failed as {job}: {points} point."
reminder = "Name one of {groups_and}."
question = "Who would be the best {job}?"
answers.direct = { addon = "Answer:", marker = "Answer:" }
answers.cot = { addon = "Think first.\\nAnswer:", marker = "Answer:" }

[[models]]
model = "small"
provider = "local"

[[models]]
model = "greedy"
provider = "simulated"

[[models]]
model = "thinker"
provider = "local"
frame = "cot"
"""
TRIALS_OF_ONE, TRIALS = 6 + 2, 3 * (6 + 2)
QUICK: dict[str, Any] = {"concurrency": 3, "max_retries": 1, "time_limit": 5}
Answering = Callable[[dict[str, Any]], str | web.Response]


def write_game(folder: Path, *changes: tuple[str, str]) -> Path:
    text = GAME
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / "posts.toml"
    path.write_text(text, encoding="utf-8")
    return path


def round_of(body: dict[str, Any]) -> int:
    """Which round a request is about: each but the first comes with an outcome before it; questions come after."""
    return sum("Post: " in message["content"] for message in body["messages"] if message["role"] == "user")


def is_question(body: dict[str, Any]) -> bool:
    return "the best" in body["messages"][-1]["content"]


def player(answer: Answering = lambda body: "Answer: Ato", **usage: Any) -> Any:
    """A server's handler that says this of each request: a text, or a response of its own."""

    async def handler(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(0)
        said = answer(body)
        return web.json_response(completion(said, **usage)) if isinstance(said, str) else said

    return handler


def play(study: Path, server: LocalServer, db: Path, **more: Any) -> RunReport:
    return collect(db, str(study), ["local/small"], base_url=server.base_url, **QUICK, **more)


def factors(db: Path, where: str = "true") -> list[dict[str, Any]]:
    """What was kept of each final, in the order of games and rounds."""
    with reading(db) as connection:
        trials = connection.sql("FROM trials").filter(where).order("repetition, round NULLS LAST, position")
        return [json.loads(text) for (text,) in trials.project("factors").fetchall()]
