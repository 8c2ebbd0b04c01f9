"""A study of tokens whose model gives no counts: said early, at the end and in the status."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web
from click.testing import CliRunner

from slant.collector.cli import collect as command
from tests.support.local_server import LocalServer, completion
from tests.support.tiny_study import write_tiny

SENTENCE = "local/small: none of {} answers came with a token count. Nothing to analyse: have its server report usage"


async def counts_nothing(request: web.Request, body: dict[str, object]) -> web.StreamResponse:
    return web.json_response({**completion(), "usage": None})


@pytest.fixture
def study(tmp_path: Path) -> Path:
    words = "".join(f"tea_coffee,group_a,Tea,tea{n}\n" for n in range(30))
    return write_tiny(tmp_path, stimuli=("tea_coffee,group_b,Coffee,mocha", f"{words}tea_coffee,group_b,Coffee,mocha"))


def run(study: Path, server: LocalServer, *more: str) -> str:
    words = ["--study", str(study), "--model", "local/small", "--base-url", server.base_url, *more]
    return CliRunner().invoke(command, [*words, "--db", str(study.with_name("a.duckdb"))]).stderr


@pytest.mark.slow
def test_fifty_answers_without_a_count_are_said_while_the_run_goes_on_and_at_its_end(study: Path) -> None:
    with LocalServer(counts_nothing) as server:
        said = run(study, server)
    assert SENTENCE.format(50) in said
    assert SENTENCE.format(68) in said
    status = CliRunner().invoke(command, ["status", "--db", str(study.with_name("a.duckdb"))])
    assert SENTENCE.format(68) in status.stderr


@pytest.mark.slow
def test_a_pilot_without_counts_says_so_before_the_rest_is_asked(study: Path) -> None:
    with LocalServer(counts_nothing) as server:
        assert SENTENCE.format(8) in run(study, server, "--pilot", "8")


@pytest.mark.slow
def test_a_model_that_counts_is_not_spoken_of(study: Path) -> None:
    with LocalServer() as server:
        assert "none of" not in run(study, server)
