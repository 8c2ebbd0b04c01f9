"""The log: nothing by default, events with --verbose, every request with SLANT_LOG=debug, and never a key."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from click.testing import CliRunner, Result

from slant.collector import cli
from tests.support.local_server import LocalServer, answers, error
from tests.support.tiny_study import write_tiny

KEY = "sk-te/st+key-0123456789=="


@pytest.fixture(autouse=True)
def quiet_again() -> Iterator[None]:
    logger = logging.getLogger("slant")
    handlers, level = list(logger.handlers), logger.level
    yield
    logger.handlers[:] = handlers
    logger.setLevel(level)


class OnceOverloaded:
    """The first request fails, and the sentence about it holds the key; the others are answered."""

    def __init__(self) -> None:
        self.has_failed = False

    async def __call__(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if self.has_failed:
            return await answers(request, body)
        self.has_failed = True
        return error(500, "overloaded", f"no room for {request.headers['Authorization']}")


def collected(folder: Path, *words: str, **variables: str) -> Result:
    with LocalServer(OnceOverloaded()) as server:
        given = ["--study", str(write_tiny(folder)), "--model", "openai/o3-mini", "--db", str(folder / "a.duckdb")]
        environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.base_url, **variables}
        return CliRunner(env=environment).invoke(cli.collect, [*given, "--yes", *words])


@pytest.mark.slow
def test_at_debug_level_every_request_is_logged_and_the_key_is_not(tmp_path: Path) -> None:
    done = collected(tmp_path, SLANT_LOG="debug")
    assert done.exit_code == 0, done.output
    assert (
        done.stderr.count("slant.collector.ask.runner: openai/o3-mini: trial ") == 10
    )  # 8 answers, a failure, a retry
    assert "is asked again after try 1: HTTP 500: no room for Bearer [key]" in done.stderr
    assert "rows loaded into" in done.stderr
    assert KEY not in done.output
    assert "sk-te" not in done.output


@pytest.mark.slow
def test_verbose_logs_what_is_retried_and_loaded_but_not_every_request(tmp_path: Path) -> None:
    done = collected(tmp_path, "--verbose")
    assert "INFO slant.collector.ask.runner: openai/o3-mini: trial" in done.stderr
    assert "DEBUG" not in done.stderr
    assert "rows loaded into" in done.stderr


@pytest.mark.slow
def test_nothing_is_logged_by_default(tmp_path: Path) -> None:
    assert "slant.collector" not in collected(tmp_path).output


def test_a_level_that_there_is_not_is_one_sentence(tmp_path: Path) -> None:
    done = CliRunner(env={"SLANT_LOG": "loud"}).invoke(cli.collect, ["status", "--db", str(tmp_path / "a.duckdb")])
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: SLANT_LOG must be one of debug, info, warning, error, but is 'loud'.")
