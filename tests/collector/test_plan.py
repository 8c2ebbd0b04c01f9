"""The plan: how many, in which order, and the same again. What holds of every design."""

from __future__ import annotations

import hashlib
import tracemalloc
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slant.collector.designs import _DESIGNS, Design, design_named
from slant.collector.designs.association.design import paired_order
from slant.collector.errors import UsageError
from slant.collector.plan.conversations import plan, planned_count
from slant.collector.records import Trial
from slant.collector.studies.catalogue import load_study
from tests.support.each_row import each_row
from tests.support.tiny_study import write_tiny

STUDY = load_study("rmiat")
MINI = STUDY.model("o3-mini")


def trials(seed: int = 1, repetitions: int = 1) -> list[Trial]:
    return [trial for conversation in plan(STUDY, MINI, seed, repetitions) for trial in conversation.trials]


@pytest.mark.parametrize("model", [model.model for model in STUDY.models])
def test_each_test_is_planned_as_often_as_in_the_paper(model: str) -> None:
    planned = Counter(conversation.trials[0].test for conversation in plan(STUDY, STUDY.model(model)))
    assert [planned[test.test] for test in STUDY.tests] == [2000, 2000, 3000, 1440, 1440, 640, 640, 640, 480, 640]
    assert planned.total() == planned_count(STUDY) == 12_920


def test_every_cell_is_planned_once_in_each_repetition() -> None:
    cells = Counter((t.test, t.item, t.wording, t.condition, t.repetition) for t in trials(repetitions=2))
    assert len(cells) == planned_count(STUDY, 2) == 25_840
    assert set(cells.values()) == {1}
    assert len({t.trial_id for t in trials(repetitions=2)}) == 25_840


@pytest.mark.slow
def test_the_same_seed_gives_the_same_order_byte_for_byte() -> None:
    """The order on every machine and in every version; where this hash changes, `position` means something else."""
    text = "\n".join(f"{t.position} {t.test} {t.condition} {t.item} {t.wording}" for t in trials(seed=20250930))
    assert hashlib.sha256(text.encode()).hexdigest() == ORDER_SHA256
    assert trials(seed=5) == trials(seed=5)
    assert [t.item for t in trials(seed=5)] != [t.item for t in trials(seed=6)]


ORDER_SHA256 = "045cdc493e3a26eca7496319d102e0df29ee5d7bbfa85abb7d688f76670e062b"


def test_no_trial_of_the_study_that_people_have_asked_changes_its_id() -> None:
    """Whoever changes the version or an id makes everybody pay twice: what has its answers would be pending again."""
    asked = [f"{m.model} {c.conversation_id}" for m in STUDY.models for c in plan(STUDY, m, 20250930)]
    assert hashlib.sha256("\n".join(asked).encode()).hexdigest() == IDS_SHA256
    assert STUDY.version == "vff2c69cae574"


IDS_SHA256 = "3d8f4b4c96c36e3099852fdad1703a7d1d3f9ef264edf8c52e643fc13383c979"


def test_position_counts_from_zero_in_the_order_of_asking() -> None:
    assert [t.position for t in trials()] == list(range(12_920))


def test_conditions_are_interleaved_at_every_prefix() -> None:
    balance = 0
    for trial in trials(seed=3):
        balance += 1 if trial.condition == "compatible" else -1
        assert abs(balance) <= 1
    firsts = Counter(trial.condition for trial in trials(seed=3)[::2])
    assert 3000 < firsts["compatible"] < 3460


def test_the_two_conditions_of_a_word_and_wording_are_neighbours() -> None:
    for one, other in zip(trials()[::2], trials()[1::2], strict=True):
        assert (one.test, one.item, one.wording) == (other.test, other.item, other.wording)
        assert one.condition != other.condition


@pytest.mark.slow
def test_the_plan_is_lazy_and_its_memory_does_not_grow_with_it() -> None:
    tracemalloc.start()
    conversations = plan(STUDY, MINI, 1, repetitions=20)
    assert len(list(islice(conversations, 0, 2000, 1999))) == 2
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000  # 258,400 trials: four bytes a pair, and half as much again while the order is made


def test_no_repetitions_are_refused() -> None:
    with pytest.raises(UsageError, match="Can't plan 0 repetitions"):
        plan(STUDY, MINI, repetitions=0)


@settings(max_examples=50, deadline=None)
@given(pairs=st.integers(0, 300), seed=st.integers(-(2**70), 2**70))
def test_an_order_holds_every_pair_once_whatever_the_seed(pairs: int, seed: int) -> None:
    order = list(paired_order(pairs, seed))
    assert sorted(number for number, _ in order) == list(range(pairs))
    assert order == list(paired_order(pairs, seed))


def test_a_study_of_ones_own_is_planned_and_worded_end_to_end(tmp_path: Path) -> None:
    study = load_study(write_tiny(tmp_path))
    model, design = study.model("small"), study.design
    prompts = set()
    for conversation in plan(study, model, seed=1):
        trial, prompt = design.asks.next(study, model, conversation, []) or (None, None)
        assert trial == conversation.trials[0]
        assert prompt is not None
        prompts.add(prompt.messages[0]["content"])
    assert len(prompts) == 8
    assert 'oolong, sencha / mocha, latte: tea Busy, coffee Calm. Sort "mocha": [Busy, Calm].' in prompts


@each_row("name", _DESIGNS)
def test_a_design_is_looked_up_once_and_says_its_name(name: str) -> None:
    design = design_named(name)
    assert isinstance(design, Design)
    assert design.name == name
    assert design_named(name) is design


@each_row("name", _DESIGNS)
def test_a_design_gives_its_questions_in_one_of_the_ways_there_are(name: str) -> None:
    asks = design_named(name).asks
    own = vars(type(asks))
    assert {"questions", "plan"} & own.keys() or not asks.asks_anyone  # one that asks nobody has none
    assert {"text", "next"} & own.keys()
