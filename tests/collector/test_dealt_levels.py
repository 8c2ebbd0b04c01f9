"""The variant `null` of a study of factors: levels dealt to prompts at random, everything else the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from slant.collector.designs.study import Study
from slant.collector.plan.conversations import plan
from slant.collector.records import Prompt, Trial
from slant.collector.studies.catalogue import load_study
from tests.support.tiny_audit import PAIRS, STUDY, audit, write_audit

STRONG = "\n[simulation]\nutilities = { gender = { woman = 20, man = -20 } }\nrefusal_rate = 0\nmalformed_rate = 0\n"
TEXTS = pytest.mark.parametrize("text", [STUDY, PAIRS], ids=["vignettes", "pairs"])


def both(folder: Path, text: str) -> tuple[Study, Study]:
    path = write_audit(folder, text=text)
    return load_study(path), load_study(path, variant="null")


def prompts(study: Study) -> list[tuple[Trial, Prompt]]:
    pairs = []
    for conversation in plan(study, study.models[0]):
        asked = study.design.asks.next(study, study.models[0], conversation, [])
        assert asked is not None
        pairs.append(asked)
    return pairs


@TEXTS
def test_the_same_prompts_are_sent_and_other_levels_are_recorded(text: str, tmp_path: Path) -> None:
    real, null = both(tmp_path, text)
    assert null.version == real.version
    sent, dealt = ([str(prompt.messages) for _, prompt in prompts(study)] for study in (real, null))
    assert Counter(sent) == Counter(dealt)
    recorded, as_dealt = ([trial for trial, _ in prompts(study)] for study in (real, null))
    assert Counter(str(trial.factors["levels"]) for trial in recorded) == Counter(
        str(trial.factors["levels"]) for trial in as_dealt
    )
    moved = [trial.factors["levels"] != trial.factors["sent_levels"] for trial in as_dealt]
    assert sum(moved) > len(moved) / 2
    assert {trial.content for trial in as_dealt} <= null.contents
    assert not {trial.trial_id for trial in recorded} & {trial.trial_id for trial in as_dealt}


def test_what_a_prompt_shows_is_kept_and_is_what_is_sent(tmp_path: Path) -> None:
    _, null = both(tmp_path, STUDY)
    for trial, prompt in prompts(null):
        name, _, job = trial.factors["sent_levels"]
        assert str(prompt.messages[-1]["content"]).startswith(name)
        assert f"a {job}." in str(prompt.messages[-1]["content"])
    assert null.design.analyses.facts({"factors": trial.factors})["sent instead"] == ", ".join(
        trial.factors["sent_levels"]
    )


def test_one_prompt_is_recorded_alike_in_all_templates_and_for_all_questions(tmp_path: Path) -> None:
    _, null = both(tmp_path, STUDY)
    recorded = defaultdict(set)
    for trial, _ in prompts(null):
        recorded[str(trial.factors["sent_levels"])].add(trial.item)
    assert len(recorded) == 8
    assert all(len(items) == 1 for items in recorded.values())


def test_a_simulated_model_answers_by_what_is_shown(tmp_path: Path) -> None:
    null = load_study(write_audit(tmp_path, text=STUDY + STRONG), variant="null")
    answers = {
        (trial.factors["sent_levels"][1], null.design.simulates.simulate(null, null.models[0], trial, 1).answer)
        for trial, _ in prompts(null)
        if trial.test == "hire"
    }
    assert answers == {("woman", "yes"), ("man", "no")}


def test_an_edit_of_a_level_deals_all_of_them_again(tmp_path: Path) -> None:
    _, before = both(tmp_path / "before", STUDY)
    after = load_study(write_audit(tmp_path / "after", ('"a nurse"', '"a ward nurse"')), variant="null")
    assert not {trial.trial_id for trial, _ in prompts(before)} & {trial.trial_id for trial, _ in prompts(after)}
    assert audit(tmp_path / "same").contents != after.contents
