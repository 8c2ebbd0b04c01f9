"""What goes wrong in the middle of a game of forty rounds: what is kept of it, what it cost, how the others go on."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.ask.run_warnings import explained
from slant.collector.designs import design_named
from slant.collector.plan.conversations import plan
from slant.collector.progress.status import warnings
from slant.collector.providers import anthropic
from slant.collector.providers.temperature import with_temperature
from slant.collector.studies.catalogue import load_study
from slant.collector.study.records import StudyModel
from tests.collector.test_games import by_history
from tests.support.batching import Heard
from tests.support.local_server import LocalServer, completion, error, standing_for
from tests.support.stored import rows_in
from tests.support.tiny_game import QUICK, factors, is_question, play, player, round_of, write_game

GAMES, ROUNDS, QUESTIONS = 2, 40, 2
OF_ONE = ROUNDS + QUESTIONS
ENDS = "SELECT model, n_games, n_complete, n_refused, n_ended_otherwise, last_round_median FROM allocation_game_ends"
KEPT = "SELECT trial_id, item, choice, factors, prompt_hash FROM trials ORDER BY trial_id"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return write_game(tmp_path, ("games = 3", f"games = {GAMES}"), ("rounds = 6", f"rounds = {ROUNDS}"))


def refusal() -> web.Response:
    """What OpenAI sends of a model that will not."""
    body = completion()
    body["choices"][0]["message"] |= {"content": None, "refusal": "I can't help with that."}
    return web.json_response(body)


def too_long() -> web.Response:
    return error(400, "context_length_exceeded", "Your input exceeds the context window of this model.")


@pytest.mark.slow
def test_a_model_that_refuses_from_round_17_on_leaves_marked_games_and_the_other_plays_on(
    study: Path, db: Path
) -> None:
    def answer(body: dict[str, Any]) -> str | web.Response:
        return refusal() if body["model"] == "small" and round_of(body) >= 17 else "Answer: Ato"

    with LocalServer(player(answer)) as server:
        models = ["local/small", "local/thinker"]
        report = collect(db, str(study), models, base_url=server.base_url, **QUICK)
        small, thinker = report.models
        asked = len(server.bodies)
        assert play(study, server, db).is_complete
    assert (report.is_complete, len(server.bodies)) == (True, asked)
    assert (small["refused"], small["not_asked"], thinker["answered"]) == (GAMES, GAMES * (OF_ONE - 17), GAMES * OF_ONE)
    ends = factors(db, "outcome <> 'answered'")
    assert [(end["game_over"], end["n_not_asked"]) for end in ends] == [("refused", OF_ONE - 17)] * GAMES
    assert rows_in(db, f"{ENDS} ORDER BY model") == [("small", 2, 0, 2, 0, 17.0), ("thinker", 2, 2, 0, 0, None)]
    tries = "SELECT count(*), count(*) FILTER (is_final) FROM attempts WHERE outcome = 'refused' AND round = 17"
    assert rows_in(db, tries) == [(3 * GAMES, GAMES)]
    assert rows_in(db, "SELECT model, n_games, n_incomplete FROM allocation_indices ORDER BY model") == [
        ("small", 0, GAMES),
        ("thinker", GAMES, 0),
    ]


@pytest.mark.slow
def test_a_context_that_is_full_in_round_35_ends_that_game_after_what_it_cost(
    study: Path, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nothing-000000")

    def answer(body: dict[str, Any]) -> str | web.Response:
        is_long = round_of(body) >= 35 and body["messages"][0]["content"] == server.bodies[0]["messages"][0]["content"]
        return too_long() if is_long else "Answer: Ato"

    with LocalServer(player(answer)) as server, standing_for("openai", server) as base_url:
        asking = {"base_url": base_url, "yes": True, **QUICK}
        report = collect(db, str(study), ["openai/gpt-4o"], **asking)
        asked = len(server.bodies)
        assert collect(db, str(study), ["openai/gpt-4o"], **asking).is_complete
    assert report.is_complete
    assert (
        asked == len(server.bodies) == 35 + OF_ONE
    )  # it is not asked again: no shorter conversation would be the same
    [end] = factors(db, "outcome <> 'answered'")
    assert (end["game_over"], end["n_not_asked"]) == ("too_long", OF_ONE - 35)
    [one_usd] = {usd for (usd,) in rows_in(db, "SELECT cost_usd FROM trials WHERE outcome = 'answered'")}
    of_the_end = "SELECT outcome, finish_reason, cost_usd, input_tokens FROM trials WHERE outcome <> 'answered'"
    assert rows_in(db, of_the_end) == [("truncated", "too_long", None, None)]
    assert report.models[0]["cost_usd"] == pytest.approx((asked - 1) * one_usd)


@pytest.mark.slow
def test_a_question_that_does_not_fit_any_more_leaves_the_other_questions_to_be_asked(study: Path, db: Path) -> None:
    with LocalServer(player(lambda body: too_long() if is_question(body) else "Answer: Ato")) as server:
        assert play(study, server, db).is_complete
        assert play(study, server, db).is_complete
    assert len(server.bodies) == GAMES * OF_ONE
    assert rows_in(db, "SELECT is_complete, count(*) FROM allocation_games GROUP BY ALL") == [(True, GAMES)]
    assert rows_in(db, "SELECT outcome, count(*) FROM allocation_questions GROUP BY ALL") == [
        ("truncated", GAMES * QUESTIONS)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("status", "code"), [(429, "rate_limit_exceeded"), (500, "server_error")])
def test_a_server_in_trouble_in_mid_game_changes_nothing_of_it(
    study: Path, db: Path, tmp_path: Path, status: int, code: str
) -> None:
    troubled, seen, draw = tmp_path / "troubled.duckdb", Counter[str](), random.Random(3)
    trouble = {turn for turn in range(3, 2 * ROUNDS, 2) if draw.random() < 0.15}

    async def handler(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        said = str(body["messages"])
        seen[said] += 1
        if len(body["messages"]) in trouble and seen[said] == 1:
            return error(status, code, "Try again.", **{"retry-after-ms": "1"})
        return web.json_response(completion(by_history(body)))

    with LocalServer(player(by_history)) as server:
        play(study, server, db)
        server.handler = handler
        assert play(study, server, troubled).is_complete
    assert rows_in(troubled, KEPT) == rows_in(db, KEPT)
    assert rows_in(troubled, "SELECT count(*) FROM attempts WHERE outcome = 'failed'")[0][0] >= len(trouble)


def test_a_model_that_is_another_one_when_a_game_goes_on_is_marked_there(study: Path, db: Path) -> None:
    """Stopped by a dead server in round 9, gone on with the next day, when the alias had moved."""
    served = "small-2025-01-31"

    async def handler(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if served == "small-2025-01-31" and round_of(body) == 9:
            return error(503, "", "down")
        return web.json_response(completion("Answer: Ato") | {"model": served})

    with LocalServer(handler) as server:
        assert not play(study, server, db).is_complete
        assert rows_in(db, "SELECT count(*) FROM allocation_games WHERE served_model_changed OR is_complete") == [(0,)]
        served, heard = "small-2025-06-30", Heard()
        report = play(study, server, db, watcher=heard)
    changes = [line.split(",")[0] for line in heard.lines if "behind" in line]
    assert sorted(changes) == [f"The model behind small changed in game {no}" for no in (1, 2)]
    assert report.is_complete
    assert report.models[0]["model_changed"] == GAMES
    marked = [facts.get("served_model_before") for facts in factors(db, "test = 'rounds' AND repetition = 1")]
    assert [(place, before) for place, before in enumerate(marked, 1) if before] == [(9, "small-2025-01-31")]
    assert rows_in(db, "SELECT n_games, n_complete, n_model_changed FROM allocation_game_ends") == [
        (GAMES, GAMES, GAMES)
    ]
    assert "answered by more than one model: 2 games of small (view allocation_game_ends)." in warnings(db)


@pytest.mark.slow
def test_a_reminder_follows_whatever_could_not_be_used_and_each_turn_is_kept(study: Path, db: Path) -> None:
    """In round 5 two groups, then nothing at all, then one; in round 20 cut off, then withheld, then one."""
    unusable = {
        (5, 0): completion("Answer: Ato or Beno"),
        (5, 1): completion(""),
        (20, 0): completion("Answer: A") | {"choices": [{"message": {"content": "Ans"}, "finish_reason": "length"}]},
    }

    async def handler(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        place = (round_of(body), _reminders(body))
        if place == (20, 1):
            return error(400, "content_filter", "The response was filtered.")
        return web.json_response(unusable.get(place) or completion("Answer: Beno"))

    with LocalServer(handler) as server:
        assert play(study, server, db).is_complete
    kept = "SELECT round, turn, outcome, is_final FROM attempts WHERE repetition = 1 AND round IN (5, 20) ORDER BY ALL"
    assert rows_in(db, kept) == [
        (5, 1, "malformed", False),
        (5, 2, "malformed", False),
        (5, 3, "answered", True),
        (20, 1, "truncated", False),
        (20, 2, "filtered", False),
        (20, 3, "answered", True),
    ]
    assert rows_in(db, "SELECT count(*) FROM trials WHERE choice = 'Beno'") == [(GAMES * OF_ONE,)]
    assert {facts["reminders"] for facts in factors(db, "round IN (5, 20)")} == {2}
    reminded = next(body["messages"] for body in server.bodies if _reminders(body) == 1)
    assert [message["content"] for message in reminded[-2:]] == ["Answer: Ato or Beno", "Name one of Ato and Beno."]


def _reminders(body: dict[str, Any]) -> int:
    """How many reminders stand at the end of what is sent; an empty answer between two of them is not quoted."""
    said = [message["content"].startswith("Name one of") for message in body["messages"] if message["role"] == "user"]
    return next((place for place, is_one in enumerate(reversed(said)) if not is_one), len(said))


@pytest.mark.slow
def test_a_server_that_cuts_off_the_beginning_without_a_word_is_found_by_its_counts(study: Path, db: Path) -> None:
    """As Ollama does with a short num_ctx: from round 30 on it counts no more than fits."""
    heard = Heard()

    async def handler(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        counted = 300 + 60 * round_of(body)
        return web.json_response(completion("Answer: Ato", prompt_tokens=counted if counted <= 2048 else 1990))

    with LocalServer(handler) as server:
        assert play(study, server, db, watcher=heard).is_complete
    marked = rows_in(db, "SELECT round, factors FROM trials WHERE contains(factors, 'input_tokens_before')")
    assert [number for number, _ in marked] == [30] * GAMES
    assert all('"input_tokens_before":2040' in facts for _, facts in marked)
    assert any("in 2 games of small the server may have cut off" in warning for warning in warnings(db))
    assert len(heard.lines) == GAMES
    assert "read 1,990 tokens in round 30 of game" in heard.lines[0]


def test_an_answer_that_filled_the_context_ends_its_game_and_is_paid_for(study: Path) -> None:
    """Anthropic says so in an answer, not in an error."""
    full = {
        "content": [{"type": "text", "text": "Reasoning: Beno has"}],
        "stop_reason": "model_context_window_exceeded",
        "usage": {"input_tokens": 900, "output_tokens": 7},
    }
    reply = anthropic.reply(full, {})
    loaded = load_study(study)
    game = next(plan(loaded, loaded.model("local/small")))
    step = design_named("allocation").asks.next(loaded, loaded.model("local/small"), game, [])
    assert step is not None
    trial, _ = step
    read = design_named("allocation").reads.read(loaded, trial, reply)
    assert (read.outcome, read.is_final, read.factors["game_over"]) == ("truncated", True, "too_long")
    assert (reply.input_tokens, reply.output_tokens) == (900, 7)


@pytest.mark.parametrize(
    ("provider", "said"),
    [
        ("openai", "Unsupported value: 'temperature' does not support 1.5 with this model."),
        ("anthropic", "temperature: range: 0..1"),
        ("gemini", "Invalid value at 'generation_config.temperature': the highest is 1."),
    ],
)
def test_a_rejected_temperature_is_explained_for_each_provider(provider: str, said: str) -> None:
    model = with_temperature(StudyModel("m", "m", provider, "m", "direct"), 1.5)
    assert "m was sent the temperature 1.5" in explained(f"HTTP 400: {said}", model)
    assert explained("HTTP 401: no such key", model) == "HTTP 401: no such key"
    untouched = StudyModel("m", "m", provider, "m", "direct")
    assert explained(f"HTTP 400: {said}", untouched) == f"HTTP 400: {said}"
