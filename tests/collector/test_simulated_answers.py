"""Simulated replies: the printed numbers come back, and the same trial gets the same reply."""

from __future__ import annotations

import csv
import math
from functools import cache
from pathlib import Path
from statistics import mean, stdev

import pytest

from slant.collector.designs import design_named
from slant.collector.plan.conversations import plan
from slant.collector.records import Reply, Trial
from slant.collector.studies.catalogue import load_study
from slant.collector.studies.new_study import write_new_study

STUDY = load_study("rmiat")
DESIGN = design_named("association")
MODELS = [model.model for model in STUDY.models]
PAPER_MEASURE = {model.model: model.measure for model in STUDY.models}


@cache
def simulated(model: str) -> list[tuple[Trial, Reply]]:
    asked = STUDY.model(f"simulated/{model}")
    trials = [conversation.trials[0] for conversation in plan(STUDY, asked, seed=1)]
    return [(trial, DESIGN.simulates.simulate(STUDY, asked, trial, 1)) for trial in trials]


def tokens_of(model: str, reply: Reply) -> int:
    tokens = reply.reasoning_tokens if PAPER_MEASURE[model] == "reasoning" else reply.output_tokens
    assert tokens is not None
    return tokens


def printed(place: str, *keys: str) -> dict[tuple[str, ...], dict[str, float]]:
    """The printed numbers of a table by these columns, and then by their quantity."""
    assert STUDY.published is not None
    numbers: dict[tuple[str, ...], dict[str, float]] = {}
    with STUDY.published.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["place"] == place and row["printed"].replace(".", "").isdigit():
                numbers.setdefault(tuple(row[key] for key in keys), {})[row["quantity"]] = float(row["printed"])
    return numbers


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_mean_and_sd_of_answered_trials_come_close_to_table_s5(model: str) -> None:
    """Within four standard errors, of the wordings' effects too; the sd's error is that of a log-normal sample."""
    for (name, *cell), row in printed("S5", "model", "test", "condition").items():
        if name != model:
            continue
        answered = [
            tokens_of(model, reply)
            for trial, reply in simulated(model)
            if [trial.test, trial.condition] == cell and reply.answer in (trial.option_a, trial.option_b)
        ]
        target, sd, n = row["mean"], row["sd"], len(answered)
        wording_sd = STUDY.data.simulation[model, cell[0], cell[1]]["wording_sd"]
        assert abs(mean(answered) - target) < 4 * math.sqrt(sd**2 / n + wording_sd**2 / 20) + 1, cell
        spread = math.expm1(math.log1p((sd / target) ** 2)) * 16 + 2
        assert abs(stdev(answered) / sd - 1) < 4 * math.sqrt(spread / (4 * n)) + 0.05, cell


def test_simulated_o3_mini_counts_in_steps_of_64() -> None:
    assert {reply.reasoning_tokens % 64 for _, reply in simulated("o3-mini") if reply.reasoning_tokens} == {0}
    assert all(reply.reasoning_text is None for _, reply in simulated("o3-mini"))


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_refusals_come_close_to_table_s4(model: str) -> None:
    for (name, test), row in printed("S4", "model", "test").items():
        cell = [(t, r) for t, r in simulated(model) if t.test == test]
        refused = sum(reply.answer not in (t.option_a, t.option_b) for t, reply in cell)
        rate = row["refusals"] / len(cell)
        off = abs(refused - row["refusals"])
        assert name != model or off <= 4 * math.sqrt(len(cell) * rate * (1 - rate)), test


def test_every_simulated_answer_is_read_as_what_it_is_meant_to_be() -> None:
    for trial, reply in simulated("gpt-oss-20b"):
        reading = DESIGN.reads.read(STUDY, trial, reply)
        assert reading.outcome == ("answered" if reply.answer in (trial.option_a, trial.option_b) else "refused")


def test_claudes_simulated_texts_mention_the_iat_about_as_often_as_table_s11_says() -> None:
    texts = [
        (trial.condition, "IAT" in (reply.reasoning_text or ""))
        for trial, reply in simulated("claude-3.7-sonnet")
        if reply.answer in (trial.option_a, trial.option_b)
    ]
    totals = {key: row["mentions"] for key, row in printed("S11", "test", "condition").items() if key[0] == "total"}
    assert len(totals) == 2
    for (_, printed_condition), n in totals.items():
        mentions = sum(is_mentioned for condition, is_mentioned in texts if condition == printed_condition)
        assert abs(mentions - n) < 4 * math.sqrt(n)


def test_the_table_of_the_simulation_is_that_of_the_printed_tables() -> None:
    for (model, test, condition), row in printed("S5", "model", "test", "condition").items():
        cell = STUDY.data.simulation[model, test, condition]
        assert (cell["mean_tokens"], cell["sd_tokens"]) == (row["mean"], row["sd"])
    for place in ("S6", "S7", "S8", "S9", "S10"):
        for (model, test), row in printed(place, "model", "test").items():
            cell = STUDY.data.simulation[model, test, "compatible"]
            assert cell["wording_sd"] == pytest.approx(math.sqrt(row["var_prompt"]), abs=0.006)


@pytest.mark.parametrize("of", ["item", "wording"])
def test_words_and_wordings_of_a_new_study_differ_in_level_and_effect(of: str, tmp_path: Path) -> None:
    study = load_study(str(write_new_study("drinks", "association", tmp_path)[0]))
    asked = study.model("simulated/qwen3-8b")
    trials = [conversation.trials[0] for conversation in plan(study, asked, seed=1)]
    kept: dict[tuple[str, str], list[int]] = {}
    for trial in trials:
        reply = DESIGN.simulates.simulate(study, asked, trial, 1)
        if trial.test == "rain_sun" and reply.reasoning_tokens:
            kept.setdefault((str(getattr(trial, of)), trial.condition), []).append(reply.reasoning_tokens)
    names = sorted({name for name, _ in kept})
    usual, crossed = ([mean(kept[name, condition]) for name in names] for condition in ("usual", "crossed"))
    n = len(kept[names[0], "usual"])
    error = 56 / math.sqrt(n)  # of a mean: what the answers themselves differ by
    assert stdev(a + b for a, b in zip(usual, crossed, strict=True)) / 2 > 2 * error / math.sqrt(2)
    assert stdev(b - a for a, b in zip(usual, crossed, strict=True)) > 1.5 * error * math.sqrt(2)


def test_a_table_without_spreads_has_none() -> None:
    cell = STUDY.data.simulation["o3-mini", "flowers_insects", "compatible"]
    assert [cell[name] for name in ("wording_effect_sd", "word_sd", "word_effect_sd")] == [0, 0, 0]
