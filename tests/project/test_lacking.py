"""slant's own tests and commands in Pythons that lack what another system lacks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import SUPPORT

LACKING = SUPPORT / "lacking"
EVERYTHING = ("fdatasync", "posix_fallocate", "sched_getaffinity", "forkserver")
JOURNAL = [
    "tests/collector/test_journal.py",
    "-k",
    "acknowledged or half_written or second_writer or full_disk or simulator_behind",
]
KILL = ["tests/faults/test_sample.py", "-k", "journal"]
WORKER = ["tests/analysis/test_worker.py", "-k", "killed_worker or interrupted_or_killed or guard"]


def without(*lacking: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(LACKING), "SLANT_LACKS": " ".join(lacking), "PYTEST_XDIST_WORKER": ""}


def check_passes(root: Path, folder: Path, lacking: tuple[str, ...], *tests: str) -> None:
    folder.mkdir(exist_ok=True)
    options = ["-x", "-p", "no:cacheprovider", "--basetemp", str(folder / "pytest")]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    done = subprocess.run(command, cwd=root, env=without(*lacking), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lacking", "tests"),
    [
        ("fdatasync", JOURNAL),
        ("posix_fallocate", JOURNAL),
        ("sched_getaffinity", ["tests/analysis/test_worker.py", "-k", "many_jobs"]),
        ("forkserver", WORKER),
        (" ".join(EVERYTHING), KILL),
    ],
)
def test_nothing_is_lost_where_a_system_lacks(root: Path, tmp_path: Path, lacking: str, tests: list[str]) -> None:
    check_passes(root, tmp_path, (lacking,), *tests)


@pytest.mark.slow
def test_nothing_is_lost_where_a_system_lacks_all_of_it(root: Path, tmp_path: Path) -> None:
    check_passes(root, tmp_path, EVERYTHING, *JOURNAL, "tests/collector/test_kill.py")


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["collect", "--study", "rmiat", "--simulated"],
        ["collect", "--help"],
        ["collect", "status"],
        ["analyze", "--fit", "lme4"],
        ["analyze", "report"],
        ["slant", "collect", "studies"],
        ["python", "-m", "slant.collector", "--study", "rmiat", "--simulated"],
        ["python", "-m", "slant.analysis", "tables"],
    ],
    ids=" ".join,
)
def test_on_windows_every_command_ends_in_one_sentence(command: list[str], tmp_path: Path) -> None:
    program = str(Path(sys.executable).with_name(command[0]))
    done = subprocess.run(
        [program, *command[1:]], cwd=tmp_path, env=without("posix"), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "Error: slant does not run on Windows itself, only in its Linux: type `wsl --install`, then install slant "
        "there.\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["collect", "fit", "tables", "open_trials", "import_trials"])
def test_on_windows_python_is_told_the_same(name: str, tmp_path: Path) -> None:
    code = f"from slant import {name}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=without("posix"), capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1].startswith("slant.collector.errors.UsageError: slant does not run on Windows")
