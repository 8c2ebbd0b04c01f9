"""The plan: how many, in which order, and the same again, in every design; what is pending is exactly the plan less
the trials with a final attempt, however compactly those are kept."""

from __future__ import annotations

import hashlib
import tempfile
import tracemalloc
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path

import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from slant.collector.designs import _DESIGNS, Design, design_named
from slant.collector.designs.association.design import paired_order
from slant.collector.errors import UsageError
from slant.collector.keep.final_trials import Finals, id_batches, read_finals
from slant.collector.keep.journal import Journal
from slant.collector.keep.journal_loader import load_journals
from slant.collector.plan.conversations import done_in, plan, planned_count
from slant.collector.records import Trial
from slant.collector.stable_ids import StableIds, stable_id
from slant.collector.studies.catalogue import load_study
from tests.support.each_row import each_row
from tests.support.made import a_run, an_attempt
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
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert digest == "045cdc493e3a26eca7496319d102e0df29ee5d7bbfa85abb7d688f76670e062b"
    assert trials(seed=5) == trials(seed=5)
    assert [t.item for t in trials(seed=5)] != [t.item for t in trials(seed=6)]


def test_no_trial_of_the_study_that_people_have_asked_changes_its_id() -> None:
    """Whoever changes the version or an id makes everybody pay twice: what has its answers would be pending again."""
    asked = [f"{m.model} {c.conversation_id}" for m in STUDY.models for c in plan(STUDY, m, 20250930)]
    digest = hashlib.sha256("\n".join(asked).encode()).hexdigest()
    assert digest == "3d8f4b4c96c36e3099852fdad1703a7d1d3f9ef264edf8c52e643fc13383c979"
    assert STUDY.version == load_study("rmiat", "balanced").version == "vff2c69cae574"


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


plain_ids = st.integers(0, 2**128 - 1).map("{:032x}".format)
neighbours = st.sampled_from(
    ["0" * 32, "0" * 31 + "1", "f" * 32, "0" * 16 + "f" * 16, "00000000000000010000000000000000"]
)
other_ids = st.text(max_size=40) | st.sampled_from(["trial-1", "A" * 32, "0" * 31, "0" * 33, "0" * 32 + "\n", "٣" * 32])
any_id = plain_ids | neighbours | other_ids
keyed = st.text(max_size=5) | st.integers(-5, 2**70) | st.dictionaries(st.text(max_size=3), st.integers())


@given(st.lists(st.lists(any_id)), st.lists(any_id))
def test_finals_hold_what_a_set_would_hold(batches: list[list[str]], looked_up: list[str]) -> None:
    naive = {trial_id for batch in batches for trial_id in batch}
    finals = Finals(pl.Series(batch, dtype=pl.String) for batch in batches)
    assert bool(finals) == bool(naive)
    asked = [*naive, *looked_up]
    assert finals.among(asked) == bytes(trial_id in naive for trial_id in asked)


@settings(deadline=None)
@given(st.lists(any_id), st.lists(st.lists(any_id)), st.lists(any_id), st.integers(1, 9))
def test_finals_that_grow_hold_all_that_was_added(
    first: list[str], added: list[list[str]], looked_up: list[str], folded_at: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("slant.collector.keep.final_trials.IDS_AT_ONCE", folded_at)
        finals = Finals(id_batches(first))
        for ids in added:
            finals.add(ids)
    naive = {*first, *(trial_id for ids in added for trial_id in ids)}
    asked = [*naive, *looked_up]
    assert finals.among(asked) == bytes(trial_id in naive for trial_id in asked)


@given(st.lists(keyed, min_size=1, max_size=4), st.integers(0, 10**9), st.lists(keyed, min_size=1, max_size=4))
def test_ids_that_begin_alike_are_the_same_as_those_made_one_by_one(start: list, number: int, end: list) -> None:
    assert StableIds(*start).of(number, StableIds.end(*end)) == stable_id(*start, number, *end)


@pytest.fixture(scope="module")
def tiny_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny(tmp_path_factory.mktemp("study"))


@settings(max_examples=60, deadline=None)
@given(data=st.data(), repetitions=st.integers(1, 3), asked_before=st.integers(1, 3), seed=st.integers(0, 5))
def test_pending_is_the_plan_minus_the_finals(
    tiny_study: Path, data: st.DataObject, repetitions: int, asked_before: int, seed: int
) -> None:
    study = load_study(tiny_study)
    model = study.model("small")
    before = [c.trials[0] for c in plan(study, model, seed=data.draw(st.integers(0, 5)), repetitions=asked_before)]
    final = {trial.trial_id for trial in data.draw(st.lists(st.sampled_from(before), unique_by=_id))}
    done = done_in(study, model, seed, repetitions, Finals(id_batches(final)))
    everything = [c.trials[0] for c in plan(study, model, seed, repetitions)]
    pending = [c.trials[0] for c in plan(study, model, seed, repetitions, skip=done.conversations)]
    assert pending == [trial for trial in everything if trial.trial_id not in final]
    assert done.trials == len(everything) - len(pending)


@settings(max_examples=8, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(data=st.data())
def test_finals_are_those_of_database_and_journal_together(tiny_study: Path, data: st.DataObject) -> None:
    study = load_study(tiny_study)
    trials = [c.trials[0] for c in plan(study, study.model("small"), repetitions=2)]
    loaded, unloaded, failed = (data.draw(st.lists(st.sampled_from(trials), unique_by=_id)) for _ in range(3))
    with tempfile.TemporaryDirectory() as folder:
        db = Path(folder) / "a.duckdb"
        with Journal(db, a_run("one")) as journal:
            journal.append_many([_ended(trial) for trial in loaded])
        load_journals(db)
        with Journal(db, a_run("two")) as journal:
            journal.append_many([_ended(trial) for trial in unloaded])
            journal.append_many([replace(_ended(trial), is_final=False, outcome="failed") for trial in failed])
        finals = read_finals(db, study.name)
        assert not read_finals(db, "another")
        naive = {_id(trial) for trial in [*loaded, *unloaded]}
    asked = [trial.trial_id for trial in trials]
    assert finals.among(asked) == bytes(trial_id in naive for trial_id in asked)


def _id(trial: Trial) -> str:
    return trial.trial_id


def _ended(trial: Trial) -> object:
    return replace(an_attempt(1), study=trial.study, trial_id=trial.trial_id, attempt_id=trial.trial_id)
