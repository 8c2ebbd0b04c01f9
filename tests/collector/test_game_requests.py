"""What of a game goes over the wire and stays in memory: the turns before, once, however many rounds it has; the
reasoning in them, the marks of a cache; what it costs."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from slant.collector.cost.quote import growth_of
from slant.collector.plan.conversations import plan
from slant.collector.providers import provider_named
from slant.collector.providers.prices import Price
from slant.collector.records import Conversation, Prompt, Trial, Turn
from slant.collector.stable_ids import stable_id
from slant.collector.studies.catalogue import Study, load_study
from slant.collector.study.records import ReasoningBack, StudyModel
from tests.support.commands import run_collect
from tests.support.hiring_games import load
from tests.support.tiny_game import write_game

THOUGHT = {"type": "thinking", "thinking": "Ato won before.", "signature": "s1"}
ANSWERS: dict[str, dict[str, Any]] = {  # one answer in each dialect, with reasoning
    "anthropic": {"content": [THOUGHT, {"type": "text", "text": "Answer: Ato"}]},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "Answer: Ato", "thoughtSignature": "s1"}]}}]},
    "openai-responses": {
        "output": [
            {"type": "reasoning", "id": "r1", "summary": []},
            {"type": "message", "content": [{"type": "output_text", "text": "Answer: Ato"}]},
        ]
    },
    "deepseek": {"choices": [{"message": {"content": "Answer: Ato", "reasoning_content": "Ato won before."}}]},
    "ollama": {"message": {"content": "Answer: Ato", "thinking": "Ato won before."}},
}
REASONING = {"anthropic": "s1", "gemini": "s1", "openai-responses": "r1", "deepseek": "Ato won", "ollama": "Ato won"}


def sent_back(provider: str, reasoning_back: ReasoningBack, trial: Trial) -> tuple[Any, Any]:
    """The request of a second turn in this dialect, whole and as it is stored."""
    dialect = provider_named(provider).dialect
    model = StudyModel("m", "m", provider, "m", "direct", reasoning_back=reasoning_back)
    reply = dialect.reply(ANSWERS[provider], {})
    assert reply.answer == "Answer: Ato"
    first = Prompt(({"role": "system", "content": "Be fair."}, {"role": "user", "content": "Round 1"}))
    said = {"role": "assistant", "content": reply.answer, "blocks": reply.blocks}
    second = Prompt((said, {"role": "user", "content": "Round 2"}), first)
    request = dialect.request("http://here", "key", model, second, trial)
    return request.body, request.kept


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return load_study(write_game(tmp_path))


@pytest.fixture
def game(study: Study) -> Conversation:
    return next(plan(study, study.model("local/small")))


@pytest.mark.parametrize("provider", ANSWERS)
def test_reasoning_goes_back_as_the_setting_says(provider: str, game: Conversation) -> None:
    has_reasoning = {
        setting: REASONING[provider] in str(sent_back(provider, setting, game.trials[1])[0])
        for setting in ("kept", "dropped", "default")
    }
    by_default = provider not in ("deepseek", "ollama")
    assert has_reasoning == {"kept": True, "dropped": False, "default": by_default}


@pytest.mark.parametrize("provider", ANSWERS)
def test_a_stored_request_lacks_what_was_sent_before(provider: str, game: Conversation) -> None:
    body, kept = sent_back(provider, "default", game.trials[1])
    listed = next(key for key in ("messages", "input", "contents") if key in body)
    assert "Round 1" in str(body)
    assert "Round 1" not in str(kept)
    assert "Round 2" in str(kept)
    assert len(kept[listed]) + kept["earlier"]["n"] == len(body[listed])


def test_a_game_asks_anthropic_to_cache_all_up_to_the_last_message(game: Conversation) -> None:
    body, _ = sent_back("anthropic", "default", game.trials[1])
    marked = [block for m in body["messages"] for block in m["content"] if "cache_control" in str(block)]
    assert marked == [{"type": "text", "text": "Round 2", "cache_control": {"type": "ephemeral"}}]
    single = replace(game.trials[1], game=None)
    assert "cache_control" not in str(sent_back("anthropic", "default", single)[0])


def test_what_goes_back_of_the_reasoning_makes_other_trials(study: Study) -> None:
    model = study.model("local/small")
    ids = {next(plan(study, replace(model, reasoning_back=back))).trials[0].trial_id for back in ("kept", "default")}
    assert len(ids) == 2


def test_twice_the_rounds_cost_four_times_the_input() -> None:
    forty, eighty = (load_study("hiring", variant) for variant in ("unequal_40", "unequal_80"))
    sent = []
    for study in (forty, eighty):
        model = study.model("gpt-4o")
        growth = growth_of(study, model, next(plan(study, model)), 1)
        preamble = growth.sent[0]
        sent.append(sum(growth.sent) - preamble * len(growth.sent))
    assert sent[1] / sent[0] == pytest.approx(4, rel=0.15)


def test_a_dry_run_says_how_the_input_grows_and_what_a_cache_is_worth(tmp_path: Path) -> None:
    write_game(tmp_path)
    words = ["--study", str(tmp_path / "posts.toml"), "--model", "openai/gpt-4o", "--dry-run"]
    said = run_collect(*words, "--db", tmp_path / "a.duckdb").output
    assert "input grows with the square of the rounds" in said
    study = load_study("hiring")
    model = study.model("gpt-4o")
    growth = growth_of(study, model, next(plan(study, model)), 1)
    price = Price("openai", "gpt-4o", 2.5, 10.0, 1.25, None, 0.5, "2026-05-06", "")
    assert growth.sentence("m", 0, price, None).endswith(" are new.")


def history_bytes(rounds: int) -> int:
    """What the turns of a game of the hiring study take, its trials left out."""
    study = load()
    study = replace(study, data=replace(study.data, rounds=rounds))
    design, model = study.design, study.model("simulated/greedy")
    game = next(plan(study, model))
    tracemalloc.start()
    history: list[Turn] = []
    while step := design.asks.next(study, model, game, history):
        trial, prompt = step
        reply = design.simulates.simulate(study, model, trial, 1)
        history.append(Turn(prompt, reply, design.reads.read(study, trial, reply), trial.trial_id))
        assert prompt.hash
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(history) == rounds
    return held


def test_a_game_of_four_times_the_rounds_takes_four_times_the_memory() -> None:
    history_bytes(10)  # what is made once (caches, patterns) is made here
    assert history_bytes(400) / history_bytes(100) < 4.5


def test_a_prompt_holds_its_own_messages_and_knows_those_before_it() -> None:
    def says(text: str) -> dict[str, str]:
        return {"role": "user", "content": text}

    first = Prompt((says("a"), says("b")))
    second = Prompt((says("c"),), first)
    third = Prompt((says("d"), says("e")), second)
    assert [message["content"] for message in third.messages] == list("abcde")
    assert [prompt.n_earlier for prompt in (first, second, third)] == [0, 2, 3]
    # ids of prompts are kept: they must stay what they were
    assert first.hash == stable_id([says("a"), says("b")])
    assert third.hash == stable_id(second.hash, [says("d"), says("e")])
    assert third.earlier_hash == second.hash
