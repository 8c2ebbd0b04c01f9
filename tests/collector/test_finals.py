"""What is pending is exactly the plan minus the trials with a final attempt, however compactly those are kept."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from slant.collector.keep.final_trials import Finals, id_batches, read_finals
from slant.collector.keep.journal import Journal
from slant.collector.keep.journal_loader import load_journals
from slant.collector.plan.conversations import done_in, plan
from slant.collector.records import Trial
from slant.collector.stable_ids import StableIds, stable_id
from slant.collector.studies.catalogue import load_study
from tests.support.made import a_run, an_attempt
from tests.support.tiny_study import write_tiny

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
