"""Simulated replies: the printed numbers come back, and the same trial gets the same reply."""

from __future__ import annotations

import csv
import math
import random
from functools import cache
from pathlib import Path
from statistics import mean, stdev

import pytest

from slant.collector.designs import design_named
from slant.collector.plan.conversations import plan
from slant.collector.records import Reply, Trial
from slant.collector.studies.catalogue import load_study
from tests.support.tiny_study import write_tiny

STUDY = load_study("rmiat")
DESIGN = design_named("association")
MODELS = [model.model for model in STUDY.models]
PAPER_MEASURE = {model.model: model.measure for model in STUDY.models}


@cache
def simulated(model: str) -> list[tuple[Trial, Reply]]:
    asked = STUDY.model(f"simulated/{model}")
    trials = [conversation.trials[0] for conversation in plan(STUDY, asked, seed=1)]
    return [(trial, DESIGN.simulate(STUDY, asked, trial, 1)) for trial in trials]


def tokens_of(model: str, reply: Reply) -> int:
    tokens = reply.reasoning_tokens if PAPER_MEASURE[model] == "reasoning" else reply.output_tokens
    assert tokens is not None
    return tokens


def printed(name: str) -> list[dict[str, str]]:
    assert STUDY.published is not None
    with (STUDY.published / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("model", MODELS)
def test_mean_and_sd_of_answered_trials_come_close_to_table_s5(model: str) -> None:
    """Within four standard errors, of the wordings' effects too; the sd's error is that of a log-normal sample."""
    for row in (row for row in printed("s5_descriptives.csv") if row["model"] == model):
        cell = (row["test"], row["condition"])
        answered = [
            tokens_of(model, reply)
            for trial, reply in simulated(model)
            if (trial.test, trial.condition) == cell and reply.answer in (trial.option_a, trial.option_b)
        ]
        target, sd, n = float(row["mean"]), float(row["sd"]), len(answered)
        wording_sd = STUDY.data.simulation[model, *cell]["wording_sd"]
        assert abs(mean(answered) - target) < 4 * math.sqrt(sd**2 / n + wording_sd**2 / 20) + 1, cell
        spread = math.expm1(math.log1p((sd / target) ** 2)) * 16 + 2
        assert abs(stdev(answered) / sd - 1) < 4 * math.sqrt(spread / (4 * n)) + 0.05, cell


def test_simulated_o3_mini_counts_in_steps_of_64() -> None:
    assert {reply.reasoning_tokens % 64 for _, reply in simulated("o3-mini") if reply.reasoning_tokens} == {0}
    assert all(reply.reasoning_text is None for _, reply in simulated("o3-mini"))


@pytest.mark.parametrize("model", MODELS)
def test_refusals_come_close_to_table_s4(model: str) -> None:
    for row in (row for row in printed("s4_refusals.csv") if row["model"] == model):
        cell = [(t, r) for t, r in simulated(model) if t.test == row["test"]]
        refused = sum(reply.answer not in (t.option_a, t.option_b) for t, reply in cell)
        rate = int(row["refusals"]) / len(cell)
        assert abs(refused - int(row["refusals"])) <= 4 * math.sqrt(len(cell) * rate * (1 - rate)), row


def test_every_simulated_answer_is_read_as_what_it_is_meant_to_be() -> None:
    for trial, reply in simulated("gpt-oss-20b"):
        reading = DESIGN.read(STUDY, trial, reply)
        assert reading.outcome == ("answered" if reply.answer in (trial.option_a, trial.option_b) else "refused")


def test_claudes_simulated_texts_mention_the_iat_about_as_often_as_table_s11_says() -> None:
    texts = [
        (trial.condition, "IAT" in (reply.reasoning_text or ""))
        for trial, reply in simulated("claude-3.7-sonnet")
        if reply.answer in (trial.option_a, trial.option_b)
    ]
    for row in (row for row in printed("s11_iat_mentions.csv") if row["test"] == "total"):
        found = sum(is_mentioned for condition, is_mentioned in texts if condition == row["condition"])
        assert abs(found - int(row["mentions"])) < 4 * math.sqrt(int(row["mentions"]))


def test_the_table_of_the_simulation_is_that_of_the_printed_tables() -> None:
    for row in printed("s5_descriptives.csv"):
        cell = STUDY.data.simulation[row["model"], row["test"], row["condition"]]
        assert (cell["mean_tokens"], cell["sd_tokens"]) == (float(row["mean"]), float(row["sd"]))
    for row in (row for row in printed("s6_s10_mixed_models.csv") if row["term"] == "var_prompt"):
        cell = STUDY.data.simulation[row["model"], row["test"], "compatible"]
        assert cell["wording_sd"] == pytest.approx(math.sqrt(float(row["estimate"])), abs=0.006)


def test_a_reply_does_not_depend_on_the_order_of_asking() -> None:
    model = STUDY.model("simulated/qwen3-8b")
    sample = random.Random(1).sample(simulated("qwen3-8b"), 200)
    assert [DESIGN.simulate(STUDY, model, trial, 1) for trial, _ in sample] == [reply for _, reply in sample]
    assert [DESIGN.simulate(STUDY, model, trial, 2) for trial, _ in sample] != [reply for _, reply in sample]


def test_the_trial_of_a_prompt_is_found_again() -> None:
    model = STUDY.model("simulated/deepseek-r1")
    for conversation in list(plan(STUDY, model, seed=4))[:300]:
        trial, prompt = DESIGN.next(STUDY, model, conversation, []) or (None, None)
        assert trial is not None
        assert prompt is not None
        found = DESIGN.trial_for_prompt(STUDY, model, prompt.messages)
        assert found is not None
        assert (found.item, found.wording, found.condition) == (trial.item, trial.wording, trial.condition)
        assert DESIGN.simulate(STUDY, model, found, 1) == DESIGN.simulate(STUDY, model, trial, 1)


def test_a_prompt_that_the_study_never_sends_belongs_to_no_trial() -> None:
    messages = [{"role": "user", "content": "Hello"}]
    assert DESIGN.trial_for_prompt(STUDY, STUDY.model("simulated/o3-mini"), messages) is None


def test_a_study_without_printed_numbers_can_be_simulated_too(tmp_path: Path) -> None:
    study = load_study(write_tiny(tmp_path))
    model = study.model("simulated/small")
    replies = [DESIGN.simulate(study, model, c.trials[0], 1) for c in plan(study, model, seed=1)]
    assert {reply.answer for reply in replies} == {"Calm", "Busy"}
    assert all(reply.reasoning_tokens and reply.reasoning_tokens > 0 for reply in replies)


def test_both_orders_of_the_options_are_prompts_of_the_study(tmp_path: Path) -> None:
    """The balanced order lists the other option first in every other repetition."""
    study = load_study(write_tiny(tmp_path), "balanced")
    design, model = design_named(study.design), study.model("simulated/small")
    for conversation in plan(study, model, repetitions=2):
        trial, prompt = design.next(study, model, conversation, []) or pytest.fail("nothing is asked")
        found = design.trial_for_prompt(study, model, prompt.messages)
        assert found is not None
        assert (found.item, found.condition, found.factors) == (trial.item, trial.condition, trial.factors)
