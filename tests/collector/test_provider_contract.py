"""The contract of every provider, through the whole path: same questions, same fields; missing is NULL, never 0.

A real local server answers each provider in its own shape; the rows that the database then holds are compared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.providers import PROVIDERS
from slant.collector.providers.services import spoken_by
from tests.collector.test_providers import ANSWERS
from tests.support.local_server import LocalServer, standing_for
from tests.support.tiny_study import write_tiny

pytestmark = pytest.mark.usefixtures("keys_of_all")

ASKED = sorted(PROVIDERS.keys() - {"simulated"})  # which only answers the questions of its own study
COUNTS = ("input_tokens", "output_tokens", "reasoning_tokens")
USAGE = ("usage", "usageMetadata", "prompt_eval_count", "eval_count")
SAME = ("item", "condition", "option_a", "option_b", "position", "prompt_hash", "outcome", "choice", "http_status")
ANTHROPIC_USAGE = {"input_tokens": 100, "output_tokens": 74, "output_tokens_details": {"thinking_tokens": 64}}


def said(provider: str, answer: str) -> dict[str, Any]:
    """`answer` as this provider says it, with 100 tokens in, 74 out, 64 of them reasoning."""
    spoken = json.dumps(ANSWERS[spoken_by(PROVIDERS[provider].dialect)])
    body: dict[str, Any] = json.loads(spoken.replace("Career", answer))
    return body | {"usage": ANTHROPIC_USAGE} if provider == "anthropic" else body


def collected(folder: Path, provider: str, body: Mapping[str, Any], table: str = "trials") -> pl.DataFrame:
    async def answers(request: web.Request, asked: dict[str, Any]) -> web.StreamResponse:
        return web.json_response(body)

    (folder / provider).mkdir()
    study, db = str(write_tiny(folder / provider)), folder / provider / "t.duckdb"
    with LocalServer(answers) as server, standing_for(provider, server) as base_url:
        options = {"max_retries": 0, "time_limit": 20}
        report = collect(db, study, [f"{provider}/m"], base_url=base_url, yes=True, **options)
    with reading(db) as connection:
        frame: pl.DataFrame = frame_of(connection.sql(f"FROM {table} ORDER BY position"))
    assert report.is_complete == (table == "trials")
    return frame


@pytest.fixture(scope="module")
def openai_rows(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "a-key")
        return collected(tmp_path_factory.mktemp("first"), "openai", said("openai", "Calm"))


@pytest.mark.slow
@pytest.mark.parametrize("provider", ASKED)
def test_the_same_questions_give_the_same_fields(provider: str, tmp_path: Path, openai_rows: pl.DataFrame) -> None:
    rows = collected(tmp_path, provider, said(provider, "Calm"))
    assert rows.select(SAME).equals(openai_rows.select(SAME))
    reasoning = None if provider == "ollama" else 64  # its count is of thinking and answer together
    assert set(rows.select(COUNTS).iter_rows()) == {(100, 74, reasoning)}
    measure = (74, "output") if reasoning is None else (64, "usage")
    assert set(rows.select("tokens", "token_source").iter_rows()) == {measure}
    assert rows["served_model"].null_count() == rows["response"].null_count() == rows["request"].null_count() == 0


@pytest.mark.slow
@pytest.mark.parametrize("provider", ASKED)
def test_a_count_that_is_missing_is_null_and_never_zero(provider: str, tmp_path: Path) -> None:
    body = {key: value for key, value in said(provider, "Busy").items() if key not in USAGE}
    rows = collected(tmp_path, provider, body)
    assert set(rows["outcome"]) == {"answered"}
    for name in (*COUNTS, "tokens", "token_source", "option_a_logprob", "reasoning_tokens_recounted"):
        assert rows[name].null_count() == rows.height > 0, name


@pytest.mark.slow
@pytest.mark.parametrize("provider", ASKED)
def test_a_whole_reply_of_another_shape_is_no_answer_and_kept_whole(provider: str, tmp_path: Path) -> None:
    rows = collected(tmp_path, provider, {"greeting": "hello"}, "attempts")
    assert set(rows.select("outcome", "is_final").iter_rows()) == {("failed", False)}
    assert {json.loads(response)["greeting"] for response in rows["response"]} == {"hello"}
    assert rows["answer"].null_count() == rows["output_tokens"].null_count() == rows.height > 0
