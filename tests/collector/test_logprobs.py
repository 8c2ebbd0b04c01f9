"""`collect --logprobs` against a real local server: what is asked, what is kept, and what stays as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.providers import provider_named
from tests.support.local_server import LocalServer
from tests.support.raw_rows import run_collect
from tests.support.recorded_logprobs import chat
from tests.support.tiny_study import write_tiny


async def calm(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    steps = [("Calm", {"Calm": 0.75, "Busy": 0.25})]
    return web.json_response(chat(steps, "Calm") if "logprobs" in body else chat([], "Calm"))


def kept(db: Path) -> pl.DataFrame:
    with reading(db) as connection:
        query = "SELECT option_a, option_a_logprob, option_b_logprob, logprob_kind FROM trials"
        frame: pl.DataFrame = frame_of(connection.sql(query))
    return frame


@pytest.fixture
def study(tmp_path: Path) -> str:
    return str(write_tiny(tmp_path))


@pytest.mark.slow
def test_the_logprobs_of_both_options_are_numbers_of_each_trial(tmp_path: Path, study: str) -> None:
    db = tmp_path / "t.duckdb"
    with LocalServer(calm) as server:
        result = run_collect(
            "--study", study, "--model", "local/small", "--base-url", server.base_url, "--logprobs", "--db", db
        )
    assert result.exit_code == 0, result.output
    assert all((body["logprobs"], body["top_logprobs"]) == (True, 20) for body in server.bodies)
    rows = kept(db)
    calm_is = pl.when(pl.col("option_a") == "Calm").then("option_a_logprob").otherwise("option_b_logprob")
    assert rows.select(calm_is.exp().alias("p"))["p"].to_list() == pytest.approx([0.75] * rows.height)
    assert set(rows["logprob_kind"]) == {"exact"}


def test_without_the_option_nothing_is_asked_and_nothing_is_made_up(tmp_path: Path, study: str) -> None:
    with LocalServer(calm) as server:
        collect(tmp_path / "t.duckdb", study, ["local/small"], base_url=server.base_url)
    assert not any("logprobs" in body for body in server.bodies)
    rows = kept(tmp_path / "t.duckdb")
    assert rows["option_a_logprob"].null_count() == rows["logprob_kind"].null_count() == rows.height > 0


@pytest.mark.slow
def test_asking_for_logprobs_makes_no_trial_pending_again(tmp_path: Path, study: str) -> None:
    db = tmp_path / "t.duckdb"
    with LocalServer(calm) as server:
        collect(db, study, ["local/small"], base_url=server.base_url)
        asked = len(server.bodies)
        collect(db, study, ["local/small"], base_url=server.base_url, logprobs=True)
    assert len(server.bodies) == asked > 0


def test_a_provider_that_is_asked_for_logprobs_is_otherwise_the_same() -> None:
    plain = provider_named("openai")
    asking = plain.asking_logprobs()
    assert asking.logprobs == plain.logprobs
    assert (asking.takes_tools, asking.can_enforce) == (True, True)
    assert asking.dialect.PROMPT_CACHE == plain.dialect.PROMPT_CACHE  # run_provenance names it
