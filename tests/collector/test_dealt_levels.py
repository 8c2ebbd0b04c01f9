"""The variant `null`: levels dealt to prompts, words dealt to groups at random, everything else the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.designs.draws import deal_words
from slant.collector.errors import UnknownNameError
from slant.collector.plan.conversations import plan
from slant.collector.records import Prompt, Trial
from slant.collector.studies.catalogue import Study, load_study
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


def trials(study: Study) -> list[Trial]:
    return [trial for conversation in plan(study, study.models[0], 1) for trial in conversation.trials]


@given(sizes=st.lists(st.integers(1, 12), min_size=2, max_size=4), seed=st.integers())
def test_groups_keep_their_sizes_and_get_their_share_of_each_others_words(sizes: list[int], seed: int) -> None:
    groups = {str(no): [f"{no} {word}" for word in range(size)] for no, size in enumerate(sizes)}
    dealt = deal_words(groups, seed)
    assert {group: len(words) for group, words in dealt.items()} == {g: len(words) for g, words in groups.items()}
    assert Counter(word for words in dealt.values() for word in words) == Counter(
        w for own in groups.values() for w in own
    )
    if len(set(sizes)) == 1:
        shares = Counter((group, word[0]) for group, words in dealt.items() for word in words)
        assert all(abs(shares[g, o] - sizes[0] / len(sizes)) <= 1 for g in groups for o in groups)
    assert deal_words(groups, seed) == dealt


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rmiat", "interference"])
def test_the_same_words_are_asked_as_often_in_other_groups(name: str) -> None:
    real, null = load_study(name), load_study(name, variant="null")
    assert (null.version, null.contents) == (real.version, real.contents)
    cells = [
        Counter((trial.test, trial.condition, trial.wording, trial.item) for trial in trials(study))
        for study in (real, null)
    ]
    assert cells[0] == cells[1]
    own = {(trial.test, trial.item): trial.group for trial in trials(real)}
    stays = [own[trial.test, trial.item] == trial.group for trial in trials(null)]
    assert 0.2 < sum(stays) / len(stays) < 0.55
    assert {trial.content for trial in trials(null)} <= null.contents
    assert not {trial.trial_id for trial in trials(real)} & {trial.trial_id for trial in trials(null)}


def test_the_prompt_lists_the_words_as_they_were_dealt() -> None:
    null = load_study("rmiat", variant="null")
    trial = trials(null)[0]
    text = null.design.asks.text(null, null.models[0], trial)
    test = null.data.tests[trial.test]
    assert f"The words {', '.join(test.words['group_a'][:-1])}, and {test.words['group_a'][-1]} are used" in text


@pytest.mark.parametrize("name", ["rmiat", "interference"])
def test_a_simulated_model_answers_by_a_words_own_group_so_that_conditions_come_to_the_same(name: str) -> None:
    null = load_study(name, variant="null")
    design, model = null.design, null.models[0]
    first = null.conditions[0].condition
    sums: dict[bool, list[float]] = {True: [], False: []}
    for trial in trials(null):
        reply = design.simulates.simulate(null, model, trial, 1)
        reading = design.reads.read(null, trial, reply)
        value = reply.reasoning_tokens if name == "rmiat" else reading.choice == trial.expected
        sums[trial.condition == first].append(float(value or 0))
    means = [sum(values) / len(values) for values in sums.values()]
    assert means[0] == pytest.approx(means[1], rel=0.05 if name == "rmiat" else 0.25)


def test_a_study_without_groups_of_words_has_none() -> None:
    with pytest.raises(UnknownNameError, match='no variant "null" in hiring'):
        load_study("hiring", variant="null")
