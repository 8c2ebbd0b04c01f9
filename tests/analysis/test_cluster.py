"""Calls of R on real Dask clusters of this machine: the same bits from each engine, and what deaths cost."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import psutil
import pytest
from click.testing import CliRunner

from slant import analysis
from slant.analysis.bridge.r_packages import r_code_hash
from slant.analysis.calls import executors
from slant.analysis.calls.call import answered
from slant.analysis.calls.cluster import ClusterExecutor
from slant.analysis.calls.executors import _threads_by_worker, mixed_versions
from slant.analysis.calls.results import Results, not_kept_yet, results
from slant.analysis.cli.main import analyze
from slant.analysis.fitting.fit_plan import plan_fits
from slant.analysis.questions.topics.topic_models import search_topics
from slant.analysis.rows.study_choice import find_fits
from slant.collector.errors import RError, UsageError
from tests.analysis.test_executors import _busy, another_library, copied_library, level
from tests.support.choices_made import QUICK, database_of_choices
from tests.support.clusters import answer_and_kill_once, below, free_port, kill_this_worker, long_call
from tests.support.commands import run_analyze
from tests.support.fitted import small_database
from tests.support.given import database
from tests.support.processes import wait_until
from tests.support.stored import rows_in
from tests.support.topics_made import QUICK as TOPICS
from tests.support.topics_made import talking_database
from tests.support.typed_pages import blocks

pytestmark = [pytest.mark.slow, pytest.mark.needs("dask"), pytest.mark.needs("R")]
distributed = pytest.importorskip("distributed")
SEARCH = {"lower_thresh": 5}
LINKED = {"R", "analysis", "collector", "inst", "sql"}


@contextlib.contextmanager
def local(n: int, threads: int = 1, **more: Any) -> Iterator[Any]:
    """A client of so many worker processes of this machine."""
    cluster = distributed.LocalCluster(
        n_workers=n, threads_per_worker=threads, dashboard_address=":0", silence_logs=50, **more
    )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """One worker of two threads."""
    with local(1, threads=2) as connected:
        yield connected


@pytest.fixture(scope="module")
def executor(client: Any) -> Executor:
    asked: Executor = client.get_executor(pure=False)
    return asked


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return database(tmp_path / "a.duckdb", [{}])


def test_the_doctor_has_a_row_for_each_worker(client: Any) -> None:
    answer = run_analyze("doctor", "--cluster", client.scheduler.address, "--format", "json")
    (row,) = pl.read_json(answer.stdout.encode()).to_dicts()
    assert (row["host"], row["threads"], row["problem"]) == (os.uname().nodename, 2, "")
    assert answer.exit_code == 0, answer.output
    assert row["worker"].startswith("tcp://")
    assert re.search(r"lme4 \d", row["packages"])
    assert row["memory_gb"] > 0


def test_a_command_takes_the_cluster_that_its_option_or_the_variable_names(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slant.analysis.calls.cluster._CONNECT_S", 1)
    db = small_database(tmp_path / "a.duckdb")
    command = ["--fit", "effect_size", "--db", str(db), "--format", "csv"]
    typed = run_analyze(*command, "--cluster", client.scheduler.address)
    assert typed.exit_code == 0, typed.output
    variable = CliRunner(env={"SLANT_CLUSTER": "tcp://127.0.0.1:9"}).invoke(analyze, [*command, "--refit"])
    assert variable.exit_code == 1
    assert "No Dask scheduler answers at tcp://127.0.0.1:9." in variable.stderr
    here = CliRunner(env={"SLANT_CLUSTER": "tcp://127.0.0.1:9"}).invoke(
        analyze, [*command, "--refit", "--workers", "1"]
    )
    assert here.stdout == typed.stdout


@pytest.mark.parametrize("address", ["scheduler", "tcp:host", "local:", "local:none", "local:0", "http://host:1"])
def test_what_is_no_address_is_said_before_anything_starts(address: str) -> None:
    with pytest.raises(UsageError, match="--cluster local:4"):
        ClusterExecutor(address)


def test_workers_and_a_cluster_are_not_both_named() -> None:
    answer = run_analyze("--fit", "lme4", "--workers", "2", "--cluster", "local:2")
    assert answer.exit_code == 2
    assert "Remove --workers or --cluster" in answer.output


@pytest.mark.parametrize("more", [(), ("--workers", "1")])
def test_versions_are_not_mixed_without_a_cluster(more: tuple[str, ...]) -> None:
    answer = CliRunner(env={"SLANT_CLUSTER": "local:2" if more else None}).invoke(
        analyze, ["--fit", "lme4", "--mixed-versions", *more]
    )
    assert answer.exit_code == 2
    assert "--mixed-versions needs a cluster" in answer.output


def test_without_dask_the_option_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(RError, match=r"pip install 'slant\[dask\]'"):
        ClusterExecutor("local:2")


def of_lme4(db: Path, **where: Any) -> list[pl.DataFrame]:
    made = analysis.fit(db, "rmiat", "lme4", **where)
    return [made.table, made.variances]


def of_effect_sizes(db: Path, **where: Any) -> list[pl.DataFrame]:
    return [analysis.fit(db, "rmiat", "effect_size", **where).table]


def of_permutations(db: Path, **where: Any) -> list[pl.DataFrame]:
    found = analysis.permute(db, "interference", permutations=5, engine="lme4", **where)
    return [found.tests, found.values]


def of_draws(db: Path, **where: Any) -> list[pl.DataFrame]:
    made = analysis.fit(db, "interference", "interference", settings=QUICK, **where)
    return [made.table, analysis.read_draws(db, fit="interference").frame]


def of_topics(db: Path, **where: Any) -> list[pl.DataFrame]:
    made = analysis.fit(db, "rmiat", "stm", settings=TOPICS, **where)
    return [made.table, made.topics["words"], analysis.read_topics(db).documents()]


@pytest.mark.parametrize(
    ("engine", "make"),
    [
        pytest.param(of_lme4, small_database, marks=pytest.mark.needs("lmerTest")),
        (of_effect_sizes, small_database),
        pytest.param(of_permutations, database_of_choices, marks=pytest.mark.needs("lme4")),
        pytest.param(of_draws, database_of_choices, marks=pytest.mark.needs("brms", "nanoparquet")),
        pytest.param(of_topics, talking_database, marks=pytest.mark.needs("stm")),
    ],
)
def test_each_engine_gives_the_same_bits_on_1_2_and_4_workers(
    engine: Callable[..., list[pl.DataFrame]], make: Callable[[Path], Path], clusters: Mapping[int, Executor],
    tmp_path: Path,
) -> None:  # fmt: skip
    own = engine(make(tmp_path / "own.duckdb"))
    for n, executor in clusters.items():
        theirs = engine(make(tmp_path / f"{n}.duckdb"), executor=executor)
        for frame, other in zip(own, theirs, strict=True):
            assert frame.equals(other), n


@pytest.fixture(scope="module")
def clusters() -> Iterator[Mapping[int, Executor]]:
    with contextlib.ExitStack() as stack:
        yield {n: stack.enter_context(local(n)).get_executor(pure=False) for n in (1, 2, 4)}


class Substitute(Executor):
    """An executor to which another function is given in place of ours, for some calls."""

    def __init__(self, client: Any, function: Callable[..., Any], only: int | None = None, *first: Any) -> None:
        self._client, self._inner = client, client.get_executor(pure=False)
        self.function, self.only, self.first = function, only, first

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        (parcel,) = arguments
        seeds = {task.arguments["seed"] for task in pickle.loads(parcel.content)}
        if self.only is None or self.only in seeds:
            return self._inner.submit(self.function, *self.first, parcel)
        return self._inner.submit(function, parcel)


def statuses(made: Results) -> dict[str, int]:
    return dict(made.calls["status"].value_counts().iter_rows())


def test_a_worker_that_is_killed_in_mid_fit_costs_no_fit(db: Path, tmp_path: Path) -> None:
    with local(2) as client:
        killing = Substitute(client, answer_and_kill_once, None, str(tmp_path))
        made = results(db, [level(n) for n in range(12)], workers=killing)
    assert (tmp_path / "killed").exists()
    assert statuses(made) == {"ok": 12}


def test_a_job_that_always_kills_its_worker_is_one_failed_row(db: Path) -> None:
    with local(2) as client:
        made = results(db, [level(n) for n in range(12)], workers=Substitute(client, kill_this_worker, 7))
    assert statuses(made) == {"ok": 11, "failed": 1}
    (said,) = made.calls.filter(pl.col("status") == "failed")["messages"]
    assert "KilledWorker" in said
    assert said.endswith("also when it ran alone.")


def test_a_nanny_that_is_killed_takes_its_worker_along_and_no_fit(db: Path) -> None:
    with scheduler() as address, worker(address) as first, worker(address), ClusterExecutor(address) as executor:
        executor.client.wait_for_workers(2)
        calls = [level(n) for n in range(20)]
        made = results(db, calls, workers=executor, progress=lambda done, every: first.kill() if done == 3 else None)
        assert statuses(made) == {"ok": 20}
        assert wait_until(lambda: not below(first.pid))


def test_a_scheduler_that_is_killed_ends_the_call_and_costs_nothing_that_had_ended(db: Path) -> None:
    calls = [*(level(n) for n in range(4)), long_call()]
    with (
        distributed_config({"distributed.comm.timeouts.connect": "3s"}),
        scheduler() as address,
        worker(address) as its,
        ClusterExecutor(address) as executor,
    ):
        executor.client.wait_for_workers(1)
        ends = psutil.Process(_listener(address))
        with pytest.raises(RError, match="has dropped calls") as said:
            results(db, calls, workers=executor, progress=lambda done, every: ends.kill() if done == 4 else None)
        assert "Finished results are stored" in str(said.value)
        assert not_kept_yet(db, calls[:4]) == []
        assert wait_until(lambda: not _busy(its.pid), 60)


def test_a_worker_that_dask_gives_up_is_started_again(db: Path) -> None:
    """A nanny does not start again what died before it heard that it had begun."""
    with distributed_config({"distributed.deploy.lost-worker-timeout": "0.5s"}), local(1) as client:
        client.cluster.sync(client.cluster.workers[0].close)
        assert wait_until(lambda: not client.cluster.workers)
        assert statuses(results(db, [level()], workers=client.get_executor(pure=False))) == {"ok": 1}


def test_a_cluster_without_workers_is_waited_for_in_the_open(
    db: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(executors, "_WORKERLESS_S", 0.1)
    with ThreadPoolExecutor(1) as threads, scheduler() as address, ClusterExecutor(address) as executor:
        made = threads.submit(results, db, [level()], workers=executor)
        assert wait_until(lambda: f"dask worker {address}" in caplog.text)
        with worker(address):
            assert statuses(made.result(60)) == {"ok": 1}


def test_that_a_cluster_has_no_workers_is_said_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(executors, "_WORKERLESS_S", -1.0)
    client = SimpleNamespace(
        status="running", cluster=None, scheduler=SimpleNamespace(address="tcp://a:1"), nthreads=dict
    )
    monkeypatch.setattr(executors, "dask_client", lambda executor: client)
    attendance = executors._Attendance(ThreadPoolExecutor(1))
    for _ in range(3):
        attendance.look()
    assert caplog.text.count("The cluster at tcp://a:1 has no workers") == 1


def test_a_scheduler_that_is_gone_while_it_is_asked_has_no_workers() -> None:
    client = SimpleNamespace(status="running", nthreads=lambda: [][0])
    with pytest.raises(IndexError):  # what is no fault of the connection is not hidden
        _threads_by_worker(client)
    client.nthreads = _refused_connection
    assert _threads_by_worker(client) == {}


def _refused_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = closed.getsockname()
    socket.create_connection(address)


def test_a_job_that_takes_more_memory_than_its_worker_may_have_is_one_failed_row(db: Path) -> None:
    large = replace(level(3), arguments={**level(3).arguments, "n_games": 20_000_000})
    with local(1, memory_limit="600MB") as client:
        made = results(db, [level(1), level(2), large], workers=client.get_executor(pure=False))
    assert statuses(made) == {"ok": 2, "failed": 1}
    (said,) = made.calls.filter(pl.col("status") == "failed")["messages"]
    assert re.search(r"R took [\d,]+ MB, more than the 600 MB", said)


@pytest.mark.needs("brms")
def test_a_worker_with_another_brms_is_refused_by_name(tmp_path: Path) -> None:
    other = {"R_LIBS": another_library(tmp_path)}
    with scheduler() as address, worker(address, **other), ClusterExecutor(address) as executor:
        executor.client.wait_for_workers(1)
        with pytest.raises(RError, match=r"The worker tcp://.* has brms 9.9.9 \(here"):
            answered(replace(level(), packages=("brms",)), executor)
        answer = run_analyze("doctor", "--cluster", address)
    assert answer.exit_code == 1
    assert re.search(r"The worker tcp://\S+ on \S+ has brms 9.9.9 \(here", answer.stderr)


@pytest.mark.needs("SnowballC")
def test_a_refused_worker_is_named_once_and_the_other_one_goes_on(
    db: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = {"R_LIBS": copied_library(tmp_path / "library", "SnowballC")}
    calls = [replace(level(n), packages=("SnowballC",)) for n in range(12)]
    with scheduler() as address, worker(address, **other), worker(address), ClusterExecutor(address) as executor:
        executor.client.wait_for_workers(2)
        assert statuses(results(db, calls, workers=executor)) == {"ok": 12}
        (said,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
        assert re.fullmatch(r"The worker tcp://\S+ on \S+ has SnowballC 9.9.9 \(here .*It is excluded; .*", said)
        mixed = results(db, calls, workers=mixed_versions(executor), refit=True).calls["versions"].to_list()
    assert all(f'"machine": "{os.uname().nodename}"' in text for text in mixed)
    assert 0 < sum('"SnowballC": "9.9.9"' in text for text in mixed) < 12


def test_a_worker_with_other_r_code_of_slant_is_refused_or_named_in_each_row(
    db: Path, root: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other" / "slant"
    shutil.copytree(root / "python" / "slant", other, symlinks=True, ignore=lambda folder, names: LINKED)
    for name in LINKED - {"R"}:
        (other / name).symlink_to(root / name)
    shutil.copytree(root / "R", other / "R")
    (other / "R" / "game_measures.R").write_text((root / "R" / "game_measures.R").read_text("utf-8") + "# changed\n")
    with scheduler() as address, worker(address, PYTHONPATH=str(other.parent)), ClusterExecutor(address) as executor:
        executor.client.wait_for_workers(1)
        with pytest.raises(RError, match="has other R code of slant than here"):
            results(db, [level()], workers=executor)
        (text,) = results(db, [level()], workers=mixed_versions(executor)).calls["versions"]
    assert json.loads(text)["slant's R code"] != r_code_hash()
    assert not_kept_yet(db, [level()]) == [level()]


def test_where_no_r_is_on_one_worker_another_one_that_dies_comes_back(db: Path, tmp_path: Path) -> None:
    """What was given to the one that died is not left to wait for it: its successor has another address."""
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(scheduler())
        stack.enter_context(worker(address, PATH="", R_HOME=""))
        first = stack.enter_context(worker(address))
        executor = stack.enter_context(ClusterExecutor(address))
        executor.client.wait_for_workers(2)

        def kill(done: int, every: int) -> None:
            if done == 6:
                next(process for process in below(first.pid) if "spawn_main" in " ".join(process.cmdline())).kill()

        assert statuses(results(db, [level(n) for n in range(40)], workers=executor, progress=kill)) == {"ok": 40}


def test_ctrl_c_at_home_leaves_no_r_on_the_workers(root: Path, tmp_path: Path) -> None:
    script = (
        "import sys; from slant.analysis.calls.call import computed; from slant.analysis.calls.cluster import *\n"
        "from tests.support.clusters import long_call\n"
        "with ClusterExecutor(sys.argv[1]) as executor: list(computed([long_call() for _ in range(6)], executor))"
    )
    environment = {**os.environ, "PYTHONPATH": f"{root}:{root / 'python'}"}
    with scheduler() as address, worker(address) as its:
        command = [sys.executable, "-c", script, address]
        with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as home:
            assert wait_until(lambda: _busy(its.pid), 90)
            busy = [process.pid for process in _busy(its.pid)]
            home.send_signal(signal.SIGINT)
            assert home.wait(30) != 0
        assert wait_until(lambda: not any(map(psutil.pid_exists, busy)), 20)


@pytest.mark.needs("brms")
def test_jobs_that_start_at_once_on_a_fresh_machine_compile_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = database_of_choices(tmp_path / "a.duckdb")
    monkeypatch.setenv("R_USER_CACHE_DIR", str(tmp_path / "cache"))
    (study, definition), *_ = find_fits("interference", db, None)
    calls = [plan_fits(db, study, definition, settings={**QUICK, "seed": n})[0].call for n in (1, 2)]
    with local(2) as client:
        made = results(db, calls, workers=client.get_executor(pure=False))
    assert len(list((tmp_path / "cache").rglob("stan-*.rds"))) == 1
    assert sorted(seconds > 0 for seconds in made.frames["brms_models"]["compile_s"]) == [False, True]


@pytest.mark.needs("stm")
def test_a_search_of_topics_takes_its_prepared_texts_along(tmp_path: Path) -> None:
    own = search_topics(talking_database(tmp_path / "a.duckdb"), "rmiat", [2, 3], settings=SEARCH, max_em_its=5)
    with ThreadPoolExecutor(2) as threads:
        db = talking_database(tmp_path / "b.duckdb")
        theirs = search_topics(db, "rmiat", [2, 3], settings=SEARCH, max_em_its=5, executor=threads)
    numbers = ["n_topics", "heldout_likelihood", "residual_dispersion", "exclusivity", "bound", "n_words", "seed"]
    assert theirs.select(numbers).equals(own.select(numbers))


def test_the_page_runs_as_it_stands(root: Path, tmp_path: Path) -> None:
    page = (root / "vignettes" / "cluster.Rmd").read_text("utf-8")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    commands = blocks(page, "sh")[1]
    subprocess.run(commands, shell=True, cwd=tmp_path, env=environment, check=True, capture_output=True)
    here, slurm, pool = blocks(page, "python")
    compile(slurm, "slurm.py", "exec")
    for script, said in ((here, r"\d+ fits, .*'ok'"), (pool, r"\d+ rows")):
        (tmp_path / "here.py").write_text(script)
        shown = subprocess.run(
            [sys.executable, "here.py"], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
        )
        assert re.search(said, shown.stdout)


def test_the_page_of_a_handful_of_machines_runs_as_typed_but_for_addresses(root: Path, tmp_path: Path) -> None:
    """Its machines are this one: another port, and no dashboard, which others may have."""
    page = (root / "vignettes" / "cluster.Rmd").read_text("utf-8").replace("alpha:8786", f"127.0.0.1:{free_port()}")
    started, typed = (block for block in blocks(page, "text") if "dask scheduler" in block or "SLANT_CLUSTER" in block)
    port = re.search(r"127.0.0.1:(\d+)", page)[1]  # type: ignore[index]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    small_database(tmp_path / "many.duckdb")
    with contextlib.ExitStack() as stack:
        for line in started.splitlines():
            command = line.partition("$ ")[2]
            more = (
                f"--host 127.0.0.1 --port {port} --dashboard-address :0" if "scheduler" in command else "--no-dashboard"
            )
            words = [*command.split(), *more.split()]
            process = stack.enter_context(subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL))
            stack.callback(process.terminate)
        with distributed.Client(f"tcp://127.0.0.1:{port}", timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        script = "set -e\n" + "\n".join(line.removeprefix("$ ") for line in typed.splitlines())
        shown = subprocess.run(
            ["sh", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
    assert shown.returncode == 0, shown.stderr
    assert len(re.findall(r"tcp://127.0.0.1:\d+", shown.stdout)) == 2
    assert rows_in(tmp_path / "many.duckdb", "SELECT DISTINCT status FROM calls") == [("ok",)]


@contextlib.contextmanager
def scheduler() -> Iterator[str]:
    """The address of a scheduler of this machine, a process of its own."""
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    with subprocess.Popen([*command, "--dashboard-address", ":0"], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        address = next(m.group() for line in process.stderr if (m := re.search(r"tcp://127.0.0.1:\d+", line)))
        try:
            yield address
        finally:
            process.kill()


@contextlib.contextmanager
def worker(address: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A nanny and its worker, with variables of their own."""
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
    more = {**os.environ, **environment}
    with subprocess.Popen(command, env=more, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


@contextlib.contextmanager
def distributed_config(settings: Mapping[str, str]) -> Iterator[None]:
    """Dask with limits of its own, such as when a lost scheduler is given up."""
    import dask

    with dask.config.set(settings):
        yield


def _listener(address: str) -> int:
    port = int(address.rpartition(":")[2])
    return next(
        one.pid
        for one in psutil.net_connections("tcp")
        if one.status == psutil.CONN_LISTEN and one.laddr.port == port and one.pid
    )
