"""The variant `null`: words dealt to groups at random by the study's seed, everything else the same."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.designs.draws import deal_words
from slant.collector.errors import UnknownNameError
from slant.collector.plan.conversations import plan
from slant.collector.records import Trial
from slant.collector.studies.catalogue import Study, load_study


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
