"""Shards of a plan: disjoint, together the whole, even over tests and conditions."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from slant.collector import collect, merge
from slant.collector.designs.study import Study
from slant.collector.errors import UsageError
from slant.collector.keep.database import reading
from slant.collector.plan.conversations import Shard, plan, share_of
from slant.collector.progress.status import disjoint, progress, together
from slant.collector.records import Conversation
from slant.collector.studies.catalogue import list_studies, load_study
from tests.support.commands import run_collect
from tests.support.each_row import each_row
from tests.support.local_server import LocalServer, answers
from tests.support.processes import TypedCommand, wait_until
from tests.support.tiny_study import write_tiny

N = 8


def shards(study: Study, repetitions: int = 1, of: int = N) -> list[list[Conversation]]:
    model = study.models[0]
    shares = [share_of(study, model, study.seed, repetitions, Shard(k, of)) for k in range(1, of + 1)]
    parts = [list(plan(study, model, None, repetitions, share.others)) for share in shares]
    assert [share.trials for share in shares] == [sum(len(c.trials) for c in part) for part in parts]
    return parts


def mixes_tests(study: Study) -> bool:
    return study.design.asks.plan(study, study.models[0], study.seed).mixes_tests


def cells(study: Study, part: list[Conversation]) -> Counter[tuple[str, str]]:
    """Conversations by test and condition, for they are never cut; of games all together."""
    firsts, is_mixed = [conversation.trials[0] for conversation in part], mixes_tests(study)
    return Counter((trial.test, "" if is_mixed else trial.condition) for trial in firsts)


@pytest.mark.slow
@each_row("name", list_studies())
def test_the_shards_of_every_study_that_ships_are_even_in_each_test_and_condition(name: str) -> None:
    study = load_study(name)
    parts = shards(study)
    counts = [cells(study, part) for part in parts]
    for cell, n in sum(counts, Counter()).items():
        assert all(abs(count[cell] - n / N) < 1 for count in counts), cell
    sizes = [len(part) for part in parts]
    most = 2 if mixes_tests(study) else len(study.conditions)  # conditions of a test are dealt alike
    assert max(sizes) - min(sizes) <= most, sizes


@pytest.mark.slow
@each_row("name", list_studies())
def test_the_shards_of_every_study_are_disjoint_and_together_the_whole(name: str) -> None:
    study = load_study(name)
    whole = list(plan(study, study.models[0]))
    positions = {conversation.conversation_id: place for place, conversation in enumerate(whole)}
    parts = shards(study, of=3)
    assert sorted(chain.from_iterable(parts), key=lambda c: positions[c.conversation_id]) == whole
    for part in parts:
        places = [positions[conversation.conversation_id] for conversation in part]
        assert places == sorted(places)


@pytest.mark.slow
def test_the_two_conditions_of_a_word_and_wording_stay_neighbours_in_a_shard() -> None:
    for part in shards(load_study("rmiat")):
        for one, other in zip(part[::2], part[1::2], strict=True):
            assert (one.trials[0].item, one.trials[0].wording) == (other.trials[0].item, other.trials[0].wording)
            assert one.trials[0].condition != other.trials[0].condition


@given(of=st.integers(1, 9), parts=st.integers(1, 4), repetitions=st.integers(1, 3), data=st.data())
def test_the_parts_of_a_shard_are_shards_that_make_it_up(
    of: int, parts: int, repetitions: int, data: st.DataObject
) -> None:
    study, shard = load_study("ultimatum"), Shard(data.draw(st.integers(1, of)), of)

    def ids(one: Shard) -> Iterator[str]:
        share = share_of(study, study.models[0], study.seed, repetitions, one)
        return (c.conversation_id for c in plan(study, study.models[0], None, repetitions, share.others))

    of_parts = [list(ids(shard.part(k, parts))) for k in range(1, parts + 1)]
    assert sorted(chain.from_iterable(of_parts)) == sorted(ids(shard))


@pytest.mark.parametrize("text", ["0/8", "9/8", "2", "2/", "a/b", "1/99999", "-1/2"])
def test_what_is_no_shard_is_said_to_be_none(text: str) -> None:
    with pytest.raises(UsageError, match="2/8"):
        Shard.read(text)


@pytest.mark.slow
def test_two_shards_ask_all_trials_once_go_on_where_they_stopped_and_say_how_far_they_are(tmp_path: Path) -> None:
    study = write_tiny(tmp_path)
    asked: list[str] = []
    for k in (1, 2):
        db = tmp_path / f"{k}.duckdb"
        collect(db, study, simulated=True, repetitions=4, shard=(k, 2), pilot=8)
        (row,) = progress(db).to_dicts()
        assert (row["shard"], row["n_done"], row["n_planned"], row["n_whole"]) == (f"{k}/2", 8, 16, 32)
        report = collect(db, study, simulated=True, repetitions=4, shard=(k, 2))
        assert (report.models[0]["planned"], report.models[0]["already_done"]) == (16, 8)
        assert report.is_complete
        with reading(db) as connection:
            asked += [row[0] for row in connection.execute("SELECT trial_id FROM trials").fetchall()]
            assert connection.execute("SELECT settings ->> 'shard' FROM runs").fetchall() == [(f"{k}/2",)] * 2
    assert len(asked) == len(set(asked)) == 32


@each_row("name", list_studies())
def test_a_shard_says_how_many_trials_of_each_test_are_its_own(name: str) -> None:
    study = load_study(name)
    share = share_of(study, study.models[0], study.seed, 1, Shard(2, N))
    planned = plan(study, study.models[0], None, 1, share.others)
    counted = Counter(trial.test for conversation in planned for trial in conversation.trials)
    assert counted == share.tests


@pytest.mark.slow
def test_a_shard_that_is_killed_and_run_again_buys_nothing_twice(tmp_path: Path) -> None:
    async def slowly(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        await asyncio.sleep(0.05)
        return await answers(request, body)

    study, db = write_tiny(tmp_path), tmp_path / "a.duckdb"
    with LocalServer(slowly) as server:
        how = ["--shard", "1/2", "--base-url", server.base_url, "--repetitions", 40, "--concurrency", 4]
        command = TypedCommand(study, "local/small", db, *how)
        with command.start() as first:
            wait_until(lambda: len(server.bodies) >= 60, 60)
            first.kill()
        code, messages = command.run()
        assert code == 0, messages
        assert 160 <= len(server.bodies) <= 160 + 4
        of_server = {"base_url": server.base_url, "repetitions": 40, "shard": (2, 2)}
        collect(tmp_path / "b.duckdb", study, ["local/small"], **of_server)
    (row,) = progress(db).to_dicts()
    assert (row["shard"], row["n_done"], row["n_planned"], row["n_whole"]) == ("1/2", 160, 160, 320)
    merge(tmp_path / "all.duckdb", [db, tmp_path / "b.duckdb"])
    with reading(tmp_path / "all.duckdb") as connection:
        counted = connection.execute("SELECT count(*), count(DISTINCT (item, condition, repetition)) FROM trials")
        assert counted.fetchall() == [(320, 320)]


def test_shards_that_make_up_a_larger_part_or_the_whole_are_called_so() -> None:
    def shown(*texts: str) -> str | None:
        apart = disjoint(map(Shard.read, texts))
        return None if apart is None else ", ".join(map(str, together(apart)))

    assert shown("2/32", "10/32", "18/32", "26/32") == "2/8"
    assert shown("2/8", "2/32", "5/8") == "2/8, 5/8"
    assert shown("1/4", "2/4", "3/4", "4/4", "1/2") == "1/1"
    assert shown("1/2", "1/3") is None


def test_a_dry_run_shows_the_shard_the_whole_and_what_a_budget_means(tmp_path: Path) -> None:
    words = ["--study", "rmiat", "--simulated", "--shard", "2/8", "--budget", "5", "--dry-run"]
    result = run_collect(*words, "--db", tmp_path / "a.duckdb", code=0)
    assert "Shard 2/8 of the plan: 1,616 of 12,920 trials of" in result.output
    assert "8 shards may cost 8 times $5" in result.output
