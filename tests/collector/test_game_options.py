"""What a run says of long conversations: how much reasoning goes back, and how a provider's cache is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.plan.conversations import plan
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_collect
from tests.support.local_server import LocalServer, completion, standing_for
from tests.support.stored import rows_in
from tests.support.tiny_game import QUICK, TRIALS, write_game


async def thinks(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    answer = completion("Answer: Ato", prompt_tokens_details={"cached_tokens": 64})
    answer["choices"][0]["message"]["reasoning_content"] = "Ato won before."
    return web.json_response(answer)


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return write_game(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("back", "variant"), [("kept", "base.kept"), ("dropped", "base.dropped"), ("default", "base")])
def test_reasoning_goes_back_as_the_command_says_and_the_run_says_so(
    study: Path, db: Path, back: str, variant: str
) -> None:
    with LocalServer(thinks) as server:
        words = ["--study", str(study), "--model", "local/small", "--base-url", server.base_url, "--db", str(db)]
        assert run_collect(*words, "--reasoning-back", back).exit_code == 0
    seen = {("Ato won before" in str(body)) for body in server.bodies if len(body["messages"]) > 2}
    assert seen == {back == "kept"}
    assert rows_in(db, "SELECT DISTINCT variant FROM trials") == [(variant,)]
    [(sent,)] = rows_in(db, "SELECT sent FROM run_models")
    assert json.loads(sent)["reasoning_back"] == back


@pytest.mark.parametrize(
    ("asked", "frame", "back"),
    [("main.cot.kept", "cot", "kept"), ("main.dropped", "direct", "dropped"), ("main.direct.kept", "direct", "kept")],
)
def test_a_format_and_what_goes_back_stand_in_the_name_of_the_variant(asked: str, frame: str, back: str) -> None:
    study = load_study("hiring", asked)
    assert study.variant == asked.replace(".direct", "")
    model = study.model("gpt-4o")
    assert (model.frame, model.reasoning_back) == (frame, back)
    assert study.model("openai/another").reasoning_back == back
    assert next(plan(study, model)).trials[0].variant == study.variant


def test_what_can_not_go_back_is_refused_in_words() -> None:
    with pytest.raises(UnknownNameError, match="answer format"):
        load_study("hiring", "main.keptt")
    with pytest.raises(StudyError, match="each of its questions is a separate conversation"):
        load_study("rmiat", "base.kept")


@pytest.mark.slow
def test_each_game_asks_openai_for_a_cache_of_its_own(study: Path, db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nothing-000000")
    with LocalServer(thinks) as server, standing_for("openai", server):
        assert collect(db, study, ["openai/gpt-x"], **QUICK, yes=True).is_complete
    keys = [body["prompt_cache_key"] for body in server.bodies]
    assert sorted(keys) == sorted(game for (game,) in rows_in(db, "SELECT game FROM trials"))
    assert (len(keys), len(set(keys))) == (TRIALS, 3)
    assert rows_in(db, "SELECT DISTINCT cached_input_tokens FROM attempts") == [(64,)]
    [(sent,)] = rows_in(db, "SELECT sent FROM run_models")
    assert json.loads(sent)["prompt_cache"] == "prompt_cache_key, one for each game"


@pytest.mark.slow
def test_the_paragraph_for_a_paper_says_what_went_back(study: Path, db: Path) -> None:
    collect(db, study, ["simulated/greedy"], variant="base.kept", **QUICK)
    said = run_collect("methods", "--db", db).stdout
    assert "All of its reasoning that its provider takes went back into its conversations; their cache: as" in said
    assert "--variant base.kept" in said
