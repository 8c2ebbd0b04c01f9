"""R that can't start is told of in one sentence: no traceback of a child process, no line of R above it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from slant.analysis.bridge.r_home import r_installation, variables_of_script
from slant.collector.system.operating_system import can_fork_r
from tests.analysis.test_doctor import an_r_home
from tests.support.fitted import small_database

SHELL = '#!/bin/sh\nunset R_HOME\nexec {} "$@"\n'


def drawn(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    db = small_database(folder / "a.duckdb")
    program = Path(sys.executable).with_name("analyze")
    words = ["figures", "refusals", "--image", "svg", "--format", "json", "--db", str(db), "--out", str(folder / "f")]
    environment = {**os.environ, **environment}
    return subprocess.run([str(program), *words], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_an_r_home_without_r_is_passed_over_for_the_r_on_path(tmp_path: Path) -> None:
    done = drawn(tmp_path, R_HOME=str(tmp_path / "nowhere"))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.needs("R")
def test_r_is_told_what_its_own_script_would_tell_it() -> None:
    installation = r_installation()
    assert installation is not None
    variables = variables_of_script(installation.home)
    script = "cat(Sys.getenv(c('R_HOME', 'R_SHARE_DIR', 'R_DOC_DIR', 'LD_LIBRARY_PATH')), sep = '\\n')"
    said = subprocess.run([installation.rscript, "-e", script], capture_output=True, text=True, check=True).stdout
    names = ("R_HOME", "R_SHARE_DIR", "R_DOC_DIR", "LD_LIBRARY_PATH")
    assert [variables.get(name, "") for name in names] == said.splitlines()
    assert variables_of_script(installation.home / "nowhere") == {}


@pytest.mark.slow
def test_an_r_whose_programs_fail_is_named_in_one_sentence(tmp_path: Path) -> None:
    home = an_r_home(tmp_path / "home", "4.2.2")
    done = drawn(tmp_path, R_HOME=str(home))
    assert done.returncode == 1
    assert done.stderr.startswith(f'refusals could not be drawn. The R in "{home}" does not start.\n')
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_an_r_that_ends_its_process_says_so_once(tmp_path: Path) -> None:
    home = an_r_home(tmp_path / "home", "4.2.2")
    for name in ("R", "Rscript"):
        (home / "bin" / name).write_text(SHELL.format(f"/usr/bin/{name}"))
        (home / "bin" / name).chmod(0o755)
    if not Path("/usr/bin/Rscript").exists():
        pytest.skip("R is not in /usr/bin")
    done = drawn(tmp_path, R_HOME=str(home))
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "Error: The process in which R runs could not start."
    assert done.stderr.count("unable to open the base package") == 1


@pytest.mark.slow
def test_without_r_there_is_the_way_to_get_it_and_nothing_else(tmp_path: Path) -> None:
    done = drawn(tmp_path, PATH=str(tmp_path), R_HOME="")
    assert "R is not on this machine" in done.stderr.splitlines()[0]
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not can_fork_r(), reason="R's workers are forked on Linux only")
def test_the_process_that_workers_are_forked_from_is_deaf_to_ctrl_c_and_lays_out_its_memory_alike() -> None:
    """Ctrl-C while R starts was a traceback of this process; its memory decides the last digits of lme4."""
    begun = (
        "from multiprocessing import forkserver\n"
        "from slant.analysis.bridge.worker_start import begin_early\n"
        "begin_early(())\n"
        "of = f'/proc/{forkserver._forkserver._forkserver_pid}'\n"
        "print(open(f'{of}/status').read(), 'personality:', open(f'{of}/personality').read())"
    )
    said = subprocess.run([sys.executable, "-c", begun], capture_output=True, text=True, check=True).stdout
    values = {name: value.strip() for name, _, value in (line.partition(":") for line in said.splitlines())}
    assert int(values["SigBlk"], 16) & 1 << (signal.SIGINT - 1)
    if may_lay_out_alike():
        assert int(values[" personality"], 16) & 0x0040000


def may_lay_out_alike() -> bool:
    """Return whether the system lets a process choose this: containers may not."""
    asked = "import ctypes; print(ctypes.CDLL(None).personality(0x0040000))"
    return int(subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True).stdout) >= 0
