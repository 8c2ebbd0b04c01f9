"""Simulated participants of the forced choice: their parameters are known, and their answers look like real ones."""

from __future__ import annotations

import math
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from slant.collector import collect
from slant.collector.designs.forced_choice.design import DESIGN
from slant.collector.designs.forced_choice.simulated import INVALID, KEY, LIMITS, probabilities, written
from slant.collector.errors import StudyError
from slant.collector.plan.conversations import plan
from slant.collector.records import Reply, Trial
from slant.collector.studies.catalogue import Study, load_study
from slant.collector.system.shipped_files import studies_dir
from tests.support.tiny_choice import write_choice

STUDY = load_study("interference")
GPT = STUDY.model("simulated/gpt-5")
TRIALS = [conversation.trials[0] for conversation in plan(STUDY, GPT)]


def cell_of(trial: Trial) -> dict[str, float]:
    return dict(STUDY.data.simulation[trial.model, trial.test, trial.condition])


def logit(p: float) -> float:
    return math.log(p / (1 - p))


def test_a_draw_depends_on_trial_and_seed_and_on_nothing_else() -> None:
    first = [DESIGN.simulates.simulate(STUDY, GPT, trial, 3) for trial in TRIALS]
    assert [DESIGN.simulates.simulate(STUDY, GPT, trial, 3) for trial in reversed(TRIALS)] == first[::-1]
    assert [DESIGN.simulates.simulate(STUDY, GPT, trial, 4) for trial in TRIALS] != first


def test_a_words_intercept_is_one_number_in_all_blocks_models_and_repetitions() -> None:
    by_word: dict[tuple[str, str], set[tuple[float, float]]] = {}
    for model in STUDY.models:
        for conversation in plan(STUDY, model, repetitions=2):
            trial = conversation.trials[0]
            cell = cell_of(trial)
            p = probabilities(cell, trial, 9)
            z = [
                (logit(p[0]) - cell["valid_logit"]) / cell["valid_item_sd"],
                (logit(p[1]) - cell["consistent_logit"]) / cell["consistent_item_sd"],
            ]
            by_word.setdefault((trial.test, trial.item), set()).add((round(z[0], 6), round(z[1], 6)))
    assert len(by_word) == 160
    assert {len(intercepts) for intercepts in by_word.values()} == {1}
    for number in (0, 1):  # standard normal: 160 draws
        drawn = [next(iter(intercepts))[number] for intercepts in by_word.values()]
        assert abs(sum(drawn) / 160) < 0.3
        assert 0.8 < sum(z * z for z in drawn) / 160 < 1.25


@pytest.mark.slow
def test_shares_of_valid_and_consistent_answers_are_those_of_the_parameters() -> None:
    hits, truth, n = Counter[str](), Counter[str](), 0
    for seed in range(40):
        for trial in TRIALS:
            reading = DESIGN.reads.read(STUDY, trial, through(DESIGN.simulates.simulate(STUDY, GPT, trial, seed)))
            valid, consistent = probabilities(cell_of(trial), trial, seed)
            n += 1
            truth["valid"] += valid
            truth["consistent"] += valid * consistent
            hits["valid"] += reading.outcome == "answered"
            hits["consistent"] += reading.choice == trial.expected
    for what in ("valid", "consistent"):
        p = truth[what] / n
        assert abs(hits[what] / n - p) < 4 * math.sqrt(p * (1 - p) / n)


def through(reply: Reply) -> Reply:
    """As the provider's dialect reads it: the finish reason says what came of it."""
    ended = {"length": "truncated", "content_filter": "filtered"}.get(reply.finish_reason or "")
    return replace(reply, outcome=reply.outcome or ended)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [*INVALID, "refused", "truncated", "filtered"])
def test_each_kind_of_invalid_answer_is_read_as_what_it_is(kind: str) -> None:
    for number in range(60):
        trial = TRIALS[number]
        answer = written(kind, "AB"[number % 2], trial, 1.0, number / 60)
        said = Reply(answer.text, outcome="refused" if answer.is_provider_refusal else None)
        reading = DESIGN.reads.read(STUDY, trial, through(replace(said, finish_reason=answer.finish_reason)))
        if kind in INVALID:
            assert (reading.outcome, reading.detail) == ("malformed", kind)
        else:
            assert reading.outcome == kind


def test_each_way_of_writing_a_clear_answer_is_read_as_that_letter() -> None:
    for number in range(200):
        trial, letter = TRIALS[number], "AB"[number % 2]
        answer = written(None, letter, trial, 0.0, number / 200)
        reading = DESIGN.reads.read(STUDY, trial, Reply(answer.text))
        assert reading.choice == (trial.option_a if letter == "A" else trial.option_b)
        assert reading.place == answer.letter_at


def test_log_probabilities_are_the_true_ones() -> None:
    for trial in TRIALS[:80]:
        reply = DESIGN.simulates.simulate(STUDY, GPT, trial, 1)
        letters = [dict(token.likeliest) for token in reply.logprobs if token.likeliest]
        if letters:
            p = math.exp(letters[0][str(trial.factors["consistent_letter"])])
            assert p == pytest.approx(probabilities(cell_of(trial), trial, 1)[1])


def test_a_liking_for_a_moves_both_sides_apart() -> None:
    cell = cell_of(TRIALS[0]) | {"a_logit": 0.7}
    both = [replace(TRIALS[0], factors={"consistent_letter": letter}) for letter in "AB"]
    as_a, as_b = (logit(probabilities(cell, trial, 1)[1]) for trial in both)
    assert as_a - as_b == pytest.approx(1.4)


def test_enforced_output_is_never_malformed_and_may_still_be_refused() -> None:
    enforced = replace(GPT, structured_output=True)
    kinds = Counter[str]()
    for seed in range(10):
        for trial in TRIALS:
            reply = through(DESIGN.simulates.simulate(STUDY, enforced, trial, seed))
            kinds[DESIGN.reads.read(STUDY, trial, reply).outcome] += 1
    assert kinds["malformed"] == 0
    assert kinds["refused"] > 10


def own_study(folder: Path, **changes: float) -> Study:
    """A copy of the study whose participants all have the same parameters."""
    shutil.copytree(studies_dir() / "interference", folder / "interference")
    shutil.copy(studies_dir() / "interference.toml", folder / "interference.toml")
    cell = dict.fromkeys(LIMITS, 0.0) | changes
    rows = [",".join((*KEY, *LIMITS))]
    rows += [",".join([*key, *(f"{value:g}" for value in cell.values())]) for key in STUDY.data.simulation]
    (folder / "interference" / "simulation.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return load_study(folder / "interference.toml")


@pytest.mark.slow
def test_parameters_of_ones_own_go_through_the_whole_path(tmp_path: Path) -> None:
    study = own_study(tmp_path, valid_logit=1.0, consistent_logit=-1.5, refused_share=1.0)
    assert study.version == STUDY.version
    collect(tmp_path / "t.duckdb", study, ["simulated/gpt-5"], repetitions=2, logprobs=True)
    query = (
        "SELECT avg(is_valid::INT), avg(is_consistent::INT), min(p_consistent), max(p_consistent), count(*), "
        "count(DISTINCT repetition) FROM forced_choice_trials"
    )
    with duckdb.connect(str(tmp_path / "t.duckdb"), read_only=True) as connection:
        [(valid, consistent, low, high, n, repetitions)] = connection.execute(query).fetchall()
    assert (n, repetitions) == (640, 2)
    assert valid == pytest.approx(0.731, abs=0.07)
    assert consistent == pytest.approx(0.182, abs=0.075)
    assert low == pytest.approx(high) == pytest.approx(1 / (1 + math.exp(1.5)))


@pytest.mark.parametrize(("change", "sentence"), [
    (("1", "many"), '"many" is no valid_logit to simulate'),
    (("1", "99"), r"It must be from -50 to 50"),
    (("0.9", "1.5"), '"1.5" is no refused_share .*'),
    (("0.9", "0.6"), "add up to more than 1"),
])  # fmt: skip
def test_a_wrong_parameter_is_one_clear_sentence(tmp_path: Path, change: tuple[str, str], sentence: str) -> None:
    row = dict(
        zip(LIMITS, ["1", "2", "0", "0", "0", "0.9", "0.5" if change[1] == "0.6" else "0", "0", "0", "0"], strict=True)
    )
    row = {column: change[1] if value == change[0] else value for column, value in row.items()}
    cells = ", ".join(f'{column} = "{value}"' for column, value in row.items())
    table = f'simulation = [{{ model = "small", test = "pets", condition = "congruent", {cells} }}]\n[prompt]\n[['
    with pytest.raises(StudyError) as caught:
        load_study(write_choice(tmp_path, study=("[prompt]\n[[", table)))
    assert re.search(sentence, str(caught.value))
