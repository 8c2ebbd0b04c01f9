"""Workers: many jobs, few processes, and no death of one that costs the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slant.analysis.bridge.worker import Died, run_jobs
from tests.support.fitted import end, process_id, square_or_die
from tests.support.processes import is_running, wait_until


def test_a_killed_worker_is_one_failed_row_and_the_others_go_on() -> None:
    results = dict(run_jobs(square_or_die, range(8), workers=2))
    assert isinstance(results.pop(3), Died)
    assert results == {n: n * n for n in (0, 1, 2, 4, 5, 6, 7)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("killed", "was killed (SIGKILL): by somebody, or as memory ran out"),
        ("crashed", "crashed (SIGABRT)"),
        ("gave up", "ended by itself with exit status 2"),
    ],
)
def test_a_job_without_a_result_says_how_its_process_ended(how: str, said: str) -> None:
    ((_, died),) = run_jobs(end, [how], workers=1)
    assert died == Died(f"The R process of this fit {said}, also when it ran alone.")


@pytest.mark.slow
def test_a_worker_serves_many_jobs() -> None:
    processes = {pid for _, pid in run_jobs(process_id, range(6), workers=2)}
    assert len(processes) <= 2
    assert os.getpid() not in processes


@pytest.mark.slow
def test_workers_of_an_earlier_call_do_not_serve_a_function_that_they_would_not_find(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)  # the current folder is not on the path of workers, unless their function lies there
    at_once = [run_jobs(len, ["R"], workers=1) for _ in range(3)]
    assert [next(results) for results in at_once] == [(0, 1)] * 3
    assert [list(results) for results in at_once] == [[]] * 3
    assert dict(run_jobs(square_or_die, [5], workers=1)) == {0: 25}


def test_an_error_in_a_job_reaches_the_caller() -> None:
    with pytest.raises(TypeError):
        list(run_jobs(square_or_die, ["three"], workers=1))


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("waits", ["wait_forever", "wait_forever_with_a_child"])
def test_a_worker_and_what_it_started_end_when_its_parent_is_interrupted_or_killed(
    tmp_path: Path, root: Path, waits: str, how: signal.Signals
) -> None:
    noted = tmp_path / "pid"  # of the worker, or of its child
    code = (
        f"import sys; from slant.analysis.bridge.worker import run_jobs; from tests.support.fitted import {waits}\n"
        f"list(run_jobs({waits}, [sys.argv[1]], 1))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(noted)], cwd=root, stderr=subprocess.DEVNULL)
    assert wait_until(lambda: noted.exists() and noted.read_text())
    process = int(noted.read_text())
    assert is_running(process)
    parent.send_signal(how)
    assert parent.wait(20) != 0
    assert wait_until(lambda: not is_running(process))


@pytest.mark.slow
@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.1, 0.2, 0.4])
def test_ctrl_c_while_workers_begin_ends_them_without_a_word(root: Path, after_s: float) -> None:
    code = (
        "import signal; from slant.analysis.bridge.worker import run_jobs\n"
        "from tests.support.fitted import process_id\n"
        "signal.signal(signal.SIGINT, lambda *_: exit(7)); print('ready', flush=True)\n"
        "while True: list(run_jobs(process_id, [1], 1))"
    )
    command, pipe = [sys.executable, "-c", code], subprocess.PIPE
    with subprocess.Popen(command, cwd=root, stdout=pipe, stderr=pipe, start_new_session=True) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        time.sleep(after_s)
        os.killpg(parent.pid, signal.SIGINT)
        assert parent.stderr is not None
        assert (parent.wait(20), parent.stderr.read().decode()) == (7, "")


@pytest.mark.slow
def test_a_worker_that_begins_after_its_parent_has_gone_ends_without_a_word(root: Path) -> None:
    code = (
        "import multiprocessing; from slant.analysis.bridge.worker import _begin\n"
        "begun, say_begun = multiprocessing.Pipe(duplex=False); begun.close(); _begin(say_begun)"
    )
    worker = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=False, timeout=60)
    assert (worker.returncode, worker.stdout + worker.stderr) == (-signal.SIGKILL, b"")


@pytest.mark.slow
def test_a_script_without_a_main_guard_does_not_start_itself_again(tmp_path: Path, root: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from slant.analysis.bridge.worker import run_jobs\nprint('started')\nprint(dict(run_jobs(abs, [-1, -2], 2)))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(root / "python")}
    answer = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines()[0] == "started"
    assert answer.stdout.count("started") == 1
