"""The pilot: a balanced slice, asked first, kept like every answer, from which the full run goes on."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.cost.quote import balanced_slice, pilot_of
from slant.collector.errors import UsageError
from slant.collector.keep.database import reading
from slant.collector.plan.conversations import quotas
from slant.collector.studies.catalogue import load_study
from tests.support.local_server import LocalServer
from tests.support.planned import planned
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny
from tests.support.typed import typed


@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 300))
def test_conditions_get_alike_and_tests_differ_by_one_a_condition_at_most(tests: int, arms: int, trials: int) -> None:
    names = [f"t{number}" for number in range(tests)]
    cells = {(test, f"c{arm}") for test in names for arm in range(arms)}
    if trials < arms:
        with pytest.raises(UsageError, match=f"must be {arms} or more"):
            quotas(cells, names, trials)
        return
    found = quotas(cells, names, trials)
    assert trials - arms < sum(found.values()) <= trials
    for test in names:
        assert len({found[cell] for cell in cells if cell[0] == test}) == 1
    assert max(found.values()) - min(found.values()) <= 1


def test_a_pilot_of_rmiat_has_both_arms_of_the_same_words_in_every_test() -> None:
    study = load_study("rmiat")
    model = study.model("simulated/o3-mini")
    trials = [c.trials[0] for c in balanced_slice(study, model, study.seed, 1, 60)]
    assert Counter((trial.test, trial.condition) for trial in trials) == {
        (test.test, condition): 3 for test in study.tests for condition in ("compatible", "incompatible")
    }
    pairs = Counter((trial.test, trial.item, trial.wording) for trial in trials)
    assert set(pairs.values()) == {2}


@pytest.mark.slow
def test_the_same_slice_is_taken_again_and_of_every_model(tmp_path: Path) -> None:
    run_plan = planned(load_study("rmiat"), None, tmp_path / "none.duckdb", simulated=True)
    first, again = pilot_of(run_plan, 50), pilot_of(run_plan, 50)
    assert first.slice == again.slice
    assert [model_plan.planned for model_plan in first.model_plans] == [50] * 5
    assert first.slice is not None
    assert len(first.slice) == 250


class Terminal:
    """`collect --pilot` on the tiny study, typed on a real terminal or behind a pipe."""

    def __init__(self, python: list[str], root: Path, folder: Path, server: LocalServer) -> None:
        (folder / "study").mkdir()
        self.db, self.root = folder / "a.duckdb", root
        self.words = [
            *python,
            "-m",
            "slant.collector",
            "--study",
            str(write_tiny(folder / "study")),
            "--model",
            "local/small",
            "--base-url",
            server.base_url,
            "--repetitions",
            "10",
            "--db",
            str(self.db),
            "--pilot",
            "12",
        ]

    def piped(self, *more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.words, *more], cwd=self.root, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )

    def typed(self, answer: str) -> tuple[int, str]:
        return typed(self.words, answer, self.root)

    def trials(self) -> list[tuple[str, int]]:
        with reading(self.db) as connection:
            query = "SELECT condition, count(DISTINCT trial_id)::INT FROM trials GROUP BY ALL ORDER BY 1"
            return connection.execute(query).fetchall()


@pytest.fixture
def server() -> object:
    with LocalServer() as running:
        yield running


@pytest.fixture
def terminal(python: list[str], root: Path, tmp_path: Path, server: LocalServer) -> Terminal:
    return Terminal(python, root, tmp_path, server)


@pytest.mark.slow
def test_behind_a_pipe_the_pilot_ends_with_what_to_type_and_yes_goes_on_from_it(
    terminal: Terminal, server: LocalServer
) -> None:
    done = terminal.piped()
    assert done.returncode == 0
    assert "The pilot (12 trials) has its answers" in done.stderr
    assert "same command with --yes" in done.stderr
    assert terminal.trials() == [("compatible", 6), ("incompatible", 6)]
    done = terminal.piped("--yes")
    assert done.returncode == 0
    assert terminal.trials() == [("compatible", 40), ("incompatible", 40)]
    assert len(server.bodies) == 80


@pytest.mark.slow
def test_a_program_gets_one_table_of_rows_from_a_pilot_and_from_a_pilot_with_its_rest(terminal: Terminal) -> None:
    alone, whole = terminal.piped("--format", "json"), terminal.piped("--format", "json", "--yes")
    assert [(row["model"], row["trials"]) for row in json.loads(alone.stdout)] == [("small", 12)]
    assert [row["model"] for row in json.loads(whole.stdout)] == ["small"]
    assert "The rest would cost" in alone.stderr
    assert "longest" in whole.stderr


def test_yes_asks_pilot_and_rest_in_one_go(terminal: Terminal, server: LocalServer) -> None:
    done = terminal.piped("--yes")
    assert done.returncode == 0
    assert "earlier answers (95 % range)" in done.stderr
    assert len(server.bodies) == 80
    assert rows_in(terminal.db, "SELECT count(*) FROM runs WHERE end_reason = 'finished'") == [(2,)]


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "asked"), [("n", 12), ("y", 80)])
def test_on_a_terminal_a_person_decides_after_the_pilot(
    terminal: Terminal, server: LocalServer, answer: str, asked: int
) -> None:
    code, shown = terminal.typed(answer)
    assert code == 0, shown
    assert "Collect the other 68 trials?" in shown
    assert len(server.bodies) == asked


@pytest.mark.slow
def test_a_pilot_smaller_than_the_conditions_is_refused_before_anything_is_asked(
    terminal: Terminal, server: LocalServer
) -> None:
    done = terminal.piped("--pilot", "1")
    assert done.returncode == 2
    assert "--pilot must be 2 or more" in done.stderr
    assert server.bodies == []
