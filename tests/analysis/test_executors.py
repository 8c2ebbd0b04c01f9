"""Calls of R by executors of others: the same numbers, other versions, dead processes, Ctrl-C."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest

from slant import analysis
from slant.analysis.bridge.r_packages import r_code_hash
from slant.analysis.bridge.worker import Died
from slant.analysis.calls import executors, in_worker
from slant.analysis.calls.call import Call, answered, computed
from slant.analysis.calls.results import not_kept_yet, results
from slant.analysis.plots.drawing import draw
from slant.collector.errors import RError
from slant.collector.keep.database import writing
from tests.support.clusters import below, kill_this_worker, long_call
from tests.support.fitted import small_database
from tests.support.given import database
from tests.support.processes import wait_until

pytestmark = [pytest.mark.needs("R"), pytest.mark.needs("dask")]  # psutil comes with Dask
SMALL = {"n_rounds": 4, "n_groups": 2, "class_sizes": [1, 1], "n_games": 2, "n_cells": 3}


def level(seed: int = 1) -> Call:
    """A call of a tenth of a second whose result is kept."""
    return Call(
        "random_level", arguments={**SMALL, "seed": seed}, about={"seed": seed}, tables={"": "random_levels"},
        columns={"seed": seed}, failed="random_levels",
    )  # fmt: skip


@pytest.fixture(scope="module")
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.mark.slow
@pytest.mark.parametrize("name", ["threads", "executorlib"])
def test_others_give_the_numbers_of_our_own_processes(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    executor = request.getfixturevalue(name)
    own = analysis.fit(small_database(tmp_path / "a.duckdb"), "rmiat", "effect_size")
    theirs = analysis.fit(small_database(tmp_path / "b.duckdb"), "rmiat", "effect_size", executor=executor)
    assert theirs.table.equals(own.table)
    assert theirs.diagnostics["versions"].equals(own.diagnostics["versions"])


def test_calls_of_one_process_never_meet_in_r(threads: ThreadPoolExecutor) -> None:
    calls = [Call("versions_of", arguments={"packages": []}) for _ in range(6)]
    answers = dict(computed(calls, threads))
    assert sorted(answers) == list(range(6))
    assert not any(answer.error for answer in answers.values())


@pytest.mark.slow
@pytest.mark.needs("ggplot2")
def test_a_file_that_r_writes_comes_back_as_bytes(threads: ThreadPoolExecutor) -> None:
    (here,) = draw([("plot_search_k", _search())], 1)
    (there,) = draw([("plot_search_k", _search())], threads)
    assert not isinstance(here, str)
    assert not isinstance(there, str)
    assert there.image == here.image


def _search() -> pl.DataFrame:
    names = ("heldout_likelihood", "residual_dispersion", "semantic_coherence", "exclusivity", "bound", "lower_bound")
    return pl.DataFrame({"n_topics": [3, 4], **{name: [1.0, 2.0] for name in names}})


def test_a_worker_of_other_versions_is_refused_by_name(
    threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    db = database(tmp_path / "a.duckdb", [{}])
    monkeypatch.setattr(executors, "versions_now", lambda packages: {"R": "3.6.3"})
    with pytest.raises(RError, match=rf"process {os.getpid()} on .* has R .* \(here 3.6.3\)") as refused:
        results(db, [level()], workers=threads)
    assert "--mixed-versions" in str(refused.value)
    mixed = results(db, [level()], workers=executors.mixed_versions(threads))
    assert f'"machine": "{os.uname().nodename}"' in mixed.calls["versions"][0]


def test_where_versions_may_be_mixed_what_is_kept_is_taken_whatever_made_it(
    threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    db = database(tmp_path / "a.duckdb", [{}])
    results(db, [level()])
    monkeypatch.setattr("slant.analysis.calls.results.versions_now", lambda packages: {"R": "3.6.3"})
    assert not_kept_yet(db, [level()]) == [level()]
    assert results(db, [level()], workers=executors.mixed_versions(threads)).computed == frozenset()


def test_where_versions_were_mixed_what_other_r_code_made_is_made_again(
    threads: ThreadPoolExecutor, tmp_path: Path
) -> None:
    db = database(tmp_path / "a.duckdb", [{}])
    mixed = results(db, [level()], workers=executors.mixed_versions(threads))
    assert json.loads(mixed.calls["versions"][0])["slant's R code"] == r_code_hash()
    assert not_kept_yet(db, [level()]) == []
    with writing(db) as connection:
        connection.execute("UPDATE calls SET versions = replace(versions, ?, 'other')", [r_code_hash()])
    assert not_kept_yet(db, [level()]) == [level()]


def test_other_r_code_is_another_version() -> None:
    here = {"R": "4.2.2", in_worker.R_CODE: "a", "lme4": "1.1.31"}
    assert in_worker.difference({**here, "lme4": "1.1-31"}, here) == ""
    assert in_worker.difference({**here, in_worker.R_CODE: "b"}, here) == "other R code of slant than here"
    assert in_worker.difference({**here, "lme4": None}, here) == "no lme4 (here 1.1.31)"


def test_what_nobody_waits_for_is_not_begun(tmp_path: Path) -> None:
    file = tmp_path / "unlocked.lock"
    file.touch()
    ended = in_worker.answer_parcel_here(in_worker.Parcel(b"", (), lock=str(file)))
    assert ended == Died("Nobody waits for it any more.")


def test_without_r_at_home_the_first_worker_says_which_versions_there_are(
    threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "versions_now", lambda packages: None)
    assert answered(level(), threads).height > 0


def set_environment(more: dict[str, str]) -> None:
    os.environ.update(more)


def pool_with(environment: dict[str, str], n: int = 1) -> ProcessPoolExecutor:
    """Processes of the standard library with variables of their own, as on another machine."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(n, mp_context=context, initializer=set_environment, initargs=(environment,))


def another_library(folder: Path, package: str = "brms", version: str = "9.9.9") -> str:
    """A library of R in which a package has another version."""
    (folder / package).mkdir(parents=True)
    (folder / package / "DESCRIPTION").write_text(f"Package: {package}\nVersion: {version}\n")
    return str(folder)


def copied_library(folder: Path, package: str, version: str = "9.9.9") -> str:
    """A library with a copy of an installed package that says to be of another version."""
    folder.mkdir()
    code = (
        f'to <- "{folder}"; file.copy(find.package("{package}"), to, recursive = TRUE); '
        f'meta <- file.path(to, "{package}", "Meta", "package.rds"); x <- readRDS(meta); '
        f'x$DESCRIPTION[["Version"]] <- "{version}"; saveRDS(x, meta)'
    )
    subprocess.run(["Rscript", "-e", code], check=True, capture_output=True)
    return str(folder)


@pytest.mark.slow
def test_a_process_without_r_is_refused() -> None:
    with pool_with({"PATH": "", "R_HOME": ""}) as pool, pytest.raises(RError, match=r"can't call R[\s\S]*R is not on"):
        answered(level(), pool)


@pytest.mark.slow
def test_a_dead_process_of_the_pool_ends_it_and_costs_nothing_that_had_ended(tmp_path: Path) -> None:
    db = database(tmp_path / "a.duckdb", [{}])
    calls = [*(level(seed) for seed in range(4)), long_call()]
    pool = pool_with({}, 2)
    killer = _KillsAfter(4, pool)
    with pool, pytest.raises(RError, match=r"has broken[\s\S]*resumes from there"):
        results(db, calls, workers=pool, progress=killer)
    assert not_kept_yet(db, calls[:4]) == []
    assert wait_until(lambda: not any(map(psutil.pid_exists, killer.left)))
    with pool_with({}) as pool:
        assert results(db, calls[:4], workers=pool).computed == frozenset()


class _KillsAfter:
    def __init__(self, n: int, pool: ProcessPoolExecutor) -> None:
        self.n, self.pool = n, pool
        self.left: list[int] = []

    def __call__(self, done: int, every: int) -> None:
        if done == self.n:
            for process in self.pool._processes.values():
                self.left += [child.pid for child in below(process.pid)]
                process.kill()


def _typed(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@pytest.fixture(scope="module")
def executorlib() -> Iterator[Executor]:
    """Two processes of a library that nobody here wrote, which goes on where one of them dies."""
    module = pytest.importorskip("executorlib", reason="no executorlib: pip install executorlib")
    with module.SingleNodeExecutor(max_workers=2, block_allocation=True, restart_limit=5) as pool:
        yield pool


class _KillsOne(Executor):
    """An executor in which one call kills the process that it runs in, whenever it is run."""

    def __init__(self, executor: Executor, seed: int) -> None:
        self.executor, self.seed = executor, seed

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        (parcel,) = arguments
        is_it = self.seed in {task.arguments["seed"] for task in pickle.loads(parcel.content)}
        return self.executor.submit(kill_this_worker if is_it else function, parcel)


@pytest.mark.slow
def test_a_job_that_always_kills_its_process_of_executorlib_is_one_failed_row(
    executorlib: Executor, tmp_path: Path
) -> None:
    db = database(tmp_path / "a.duckdb", [{}])
    made = results(db, [level(n) for n in range(12)], workers=_KillsOne(executorlib, 7))
    assert dict(made.calls["status"].value_counts().iter_rows()) == {"ok": 11, "failed": 1}
    (said,) = made.calls.filter(pl.col("status") == "failed")["messages"]
    assert said.endswith("also when it ran alone.")


_POOLS = {
    "fork": 'ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork"))',
    "spawn": 'ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))',
    "executorlib": 'importlib.import_module("executorlib").SingleNodeExecutor(max_workers=2, block_allocation=True)',
}


@pytest.mark.slow
@pytest.mark.parametrize("pool", _POOLS)
def test_ctrl_c_ends_r_in_processes_of_others(pool: str, root: Path, tmp_path: Path) -> None:
    if pool == "executorlib":
        pytest.importorskip("executorlib", reason="no executorlib: pip install executorlib")
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""\
        import importlib, multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        from slant.analysis.calls.call import computed
        from tests.support.clusters import long_call
        if __name__ == "__main__":
            with {_POOLS[pool]} as pool:
                list(computed([long_call() for _ in range(6)], pool))
        """)
    )
    environment = {**os.environ, "PYTHONPATH": f"{root}:{root / 'python'}"}
    with subprocess.Popen([sys.executable, str(script)], env=environment, stderr=subprocess.DEVNULL) as home:
        assert wait_until(lambda: len(_busy(home.pid)) >= 2, 90)
        begun = [process.pid for process in below(home.pid)]
        home.send_signal(signal.SIGINT)
        assert home.wait(30) != 0
    assert wait_until(lambda: not any(map(psutil.pid_exists, begun)), 30)


def _busy(pid: int) -> list[psutil.Process]:
    """R processes that have worked for a second."""
    found = []
    for process in below(pid):
        try:
            if "forkserver" in _typed(process) and process.cpu_times().user > 1:
                found.append(process)
        except psutil.Error:
            continue
    return found
