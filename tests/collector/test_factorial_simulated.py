"""Simulated respondents of factorial studies: known utilities, biases and refusals show in their answers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import fmean

from slant.collector.designs.study import Study
from slant.collector.plan.conversations import plan
from slant.collector.records import Reading, Trial
from tests.support.tiny_audit import PAIRS, audit

N = 20


def answers(study: Study, repetitions: int = N, seed: int = 1) -> list[tuple[Trial, Reading]]:
    design, model = study.design, study.model("simulated/small")
    found = []
    for conversation in plan(study, model, repetitions=repetitions):
        for trial in conversation.trials:
            reply = design.simulates.simulate(study, model, trial, seed)
            found.append((trial, design.reads.read(study, trial, reply)))
    return found


def simulated(folder: Path, said: str, *changes: tuple[str, str], **options: str) -> list[tuple[Trial, Reading]]:
    table = f"[simulation]\nrefusal_rate = 0\nmalformed_rate = 0\n{said}\n\n[[models]]"
    repetitions = 4 if "text" in options else N
    return answers(audit(folder, ("[[models]]", table), *changes, **options), repetitions)


def mean_by(found: list[tuple[Trial, Reading]], test: str, place: int) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for trial, reading in found:
        if trial.test == test:
            said = reading.factors["values"][0]
            values.setdefault(trial.factors["levels"][place], []).append(float({"yes": 1, "no": 0}.get(said, said)))
    return {level: fmean(of_level) for level, of_level in values.items()}


def test_the_same_trial_gets_the_same_reply_whatever_was_asked_before(tmp_path: Path) -> None:
    study = audit(tmp_path)
    model = study.models[0]
    trials = [c.trials[0] for c in plan(study, model)]
    replies = {trial.trial_id: study.design.simulates.simulate(study, model, trial, 3) for trial in trials}
    for trial in reversed(trials):
        assert study.design.simulates.simulate(study, model, trial, 3) == replies[trial.trial_id]


def test_utilities_of_a_names_gender_and_of_a_job_move_ratings_and_yes(tmp_path: Path) -> None:
    found = simulated(tmp_path, "utilities = { gender = { woman = 1.5 }, job = { nurse = -1.5 } }")
    gender, job = mean_by(found, "rating", 1), mean_by(found, "hire", 2)
    assert gender["woman"] - gender["man"] > 0.7
    assert job["clerk"] - job["nurse"] > 0.2
    assert abs(mean_by(found, "rating", 0)["Ada"] - mean_by(found, "rating", 0)["Bea"]) < 0.5


def test_without_utilities_there_is_nothing_to_find(tmp_path: Path) -> None:
    means = mean_by(simulated(tmp_path, ""), "rating", 1)
    assert abs(means["woman"] - means["man"]) < 0.4
    assert abs(means["man"] - 3) < 0.4


def test_who_always_agrees_makes_the_halves_differ_and_not_the_balanced_mean(tmp_path: Path) -> None:
    found = simulated(tmp_path, "acquiescence = 1", ("max = 5", 'max = 5\ndirection = "both"'))
    halves: dict[str, list[float]] = {"forward": [], "reversed": []}
    for trial, reading in found:
        if trial.test == "rating":
            halves[trial.factors["directions"][0]].append(float(reading.factors["values"][0]))
    assert fmean(halves["forward"]) - fmean(halves["reversed"]) > 1
    assert abs((fmean(halves["forward"]) + fmean(halves["reversed"])) / 2 - 3) < 0.25


def test_a_bias_for_the_first_profile_leaves_balanced_attributes_alone(tmp_path: Path) -> None:
    found = simulated(tmp_path, "position_bias = 1", ("n = 40", "n = 90"), text=PAIRS)
    chosen = Counter(reading.factors["values"][0] for _, reading in found)
    assert chosen["1"] / chosen.total() > 0.65
    women = [
        trial.factors["levels"][3 * place] == "woman"
        for trial, reading in found
        for place in (0, 1)
        if reading.factors["values"][0] == str(place + 1)
    ]
    assert abs(fmean(women) - 0.5) < 0.06


def test_refusals_and_malformed_answers_follow_the_level(tmp_path: Path) -> None:
    said = "refusals = { gender = { man = 0.4 } }\nmalformed = { job = { nurse = 0.3 } }"
    found = simulated(tmp_path, said)
    by_level = Counter((*trial.factors["levels"][1:3], reading.outcome) for trial, reading in found)
    assert by_level["woman", "clerk", "refused"] == by_level["woman", "clerk", "malformed"] == 0
    assert by_level["man", "clerk", "refused"] > 0.3 * 4 * N * 2
    assert by_level["woman", "nurse", "malformed"] > 0.2 * 4 * N * 2


def test_a_filter_holds_back_prompts_about_one_level(tmp_path: Path) -> None:
    study = audit(tmp_path, ("[[models]]", "[simulation]\nfiltered = { job = { nurse = 0.3 } }\n\n[[models]]"))
    model = study.models[0]
    trials = [c.trials[0] for c in plan(study, model, repetitions=N)]
    held_back = Counter()
    for trial in trials:
        reply = study.design.simulates.simulate(study, model, trial, 1)
        held_back[trial.factors["levels"][2]] += reply.finish_reason == "content_filter" and not reply.answer
    assert held_back.pop("nurse") > 0.2 * len(trials) / 2
    assert set(held_back.values()) == {0}


def test_one_model_can_answer_otherwise_than_all_others(tmp_path: Path) -> None:
    found = simulated(tmp_path, "utilities = { gender = { man = 3 } }\n[simulation.models.small]\nintercept = 9")
    assert set(mean_by(found, "rating", 1).values()) > {0.0} or min(mean_by(found, "rating", 1).values()) > 4.9


def test_thresholds_are_of_the_points_as_the_study_lists_them_whichever_way_a_scale_runs(tmp_path: Path) -> None:
    shares: dict[str, Counter[str]] = {}
    for direction in ("forward", "reversed"):
        runs = ("max = 5", f'max = 5\ndirection = "{direction}"')
        found = simulated(tmp_path / direction, "thresholds = [-4, -3, -2, 0]", runs)
        shares[direction] = Counter(r.factors["values"][0] for trial, r in found if trial.test == "rating")
    total = sum(shares["forward"].values())
    assert all(abs(shares["forward"][p] - shares["reversed"][p]) < 0.1 * total for p in "12345")
    assert shares["reversed"]["5"] > 0.4 * total


def test_refusals_and_malformed_answers_of_two_questions_are_drawn_apart(tmp_path: Path) -> None:
    table = "[simulation]\nrefusal_rate = 0.3\nmalformed_rate = 0.3\n\n[[models]]"
    found = answers(audit(tmp_path, ("[[models]]", table)), 10)
    by_prompt: dict[tuple[object, ...], dict[str, str]] = {}
    for trial, reading in found:
        key = (trial.item, trial.group, trial.condition, trial.repetition)
        by_prompt.setdefault(key, {})[trial.test] = reading.outcome
    pairs = [outcomes for outcomes in by_prompt.values() if len(outcomes) > 1]
    agreeing = fmean(outcomes["rating"] == outcomes["hire"] for outcomes in pairs)
    assert len(pairs) > 50
    assert 0.2 < agreeing < 0.6  # by chance: .3² + .3² + .4²
