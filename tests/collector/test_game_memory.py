"""What a game holds in memory: its own messages once, however many rounds it has."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

from slant.collector.plan.conversations import plan
from slant.collector.records import Prompt, Turn
from slant.collector.stable_ids import stable_id
from tests.support.hiring_games import load


def history_bytes(rounds: int) -> int:
    """What the turns of a game of the hiring study take, its trials left out."""
    study = load()
    study = replace(study, data=replace(study.data, rounds=rounds))
    design, model = study.design, study.model("simulated/greedy")
    game = next(plan(study, model))
    tracemalloc.start()
    history: list[Turn] = []
    while step := design.next(study, model, game, history):
        trial, prompt = step
        reply = design.simulate(study, model, trial, 1)
        history.append(Turn(prompt, reply, design.read(study, trial, reply), trial.trial_id))
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
