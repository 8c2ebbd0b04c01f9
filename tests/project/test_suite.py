"""The suite itself: what its files cost, which tests a file is reached by, what runs after a change, faults to find."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.ledger import Ledger, processor_seconds

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))  # as the tools find each other

import changed
import ledger
from reach import Reach


@pytest.fixture(scope="module")
def reach() -> Reach:
    return Reach()


BUSY = "import time; ends = time.process_time() + .35\nwhile time.process_time() < ends: pass"
FORKED = f"import os\nif os.fork(): os.wait()\n{BUSY}"
SERVER = "multiprocessing.forkserver"


@pytest.mark.slow
def test_processes_that_go_on_or_ended_count_and_of_the_shared_server_only_its_workers(python: list[str]) -> None:
    before = processor_seconds()
    subprocess.run([*python, "-c", BUSY], check=True)
    assert processor_seconds() - before >= 0.3
    before = processor_seconds()
    for code, named, at_least, at_most in ((BUSY, "own", 0.3, 9), (BUSY, SERVER, 0, 0.29), (FORKED, SERVER, 0.3, 9)):
        with subprocess.Popen(
            [*python, "-c", f"{code}\nprint(1, flush=True); open(0).read()", named], stdin=-1, stdout=-1
        ) as one:
            assert one.stdout is not None
            assert one.stdout.read(1)
            assert at_least <= processor_seconds() - before <= at_most, named
            before = processor_seconds()
            one.kill()
        before = processor_seconds()


def test_the_ledger_has_a_line_for_each_file_and_limits_follow_the_speed_of_the_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = Ledger(tmp_path / "ledger")
    for name in ("a", "a", "b", ""):
        kept.turn_to(name)
    assert [line.split("\t")[0] for line in (tmp_path / "ledger").read_text().splitlines()] == ["a", "b"]
    bayes = "tests/analysis/test_bayes.py"
    rows = (("x", 35, 10), ("x", 34, 10), ("y", 30, 10), (bayes, 90, 10), ("z", 9, ""))
    (tmp_path / "ledger").write_text("\n".join(f"{name}\t{used}\t1\t{loop}" for name, used, loop in rows))
    costs, speed = ledger.costs_of(tmp_path / "ledger")
    assert speed == 2
    assert [(cost.file, cost.scaled_s) for cost in costs] == [(bayes, 45), ("x", 34.5), ("y", 15), ("z", 4.5)]
    (dear,) = ledger.too_dear(costs).splitlines()
    assert dear.startswith("x takes 34 s of a processor; at most 20:")
    assert [line[:20] for line in capsys.readouterr().out.splitlines()] == [
        f"warning: {bayes}"[:20],
        "warning: y takes 15 ",
    ]


@pytest.mark.slow
def test_the_nearest_tests_come_first_through_imports_strings_functions_of_r_and_views(reach: Reach) -> None:
    nearest = {
        "collector/stopping/rule.py": "tests/collector/test_stopping_rule.py",
        "R/welch_test.R": "tests/testthat/test-welch_test.R",
        "sql/views/2_tables/pairing_bias.sql": "tests/analysis/test_views.py",
        "tests/support/slurm.py": "tests/analysis/test_slurm.py",
        "analysis/questions/meta.py": "tests/analysis/test_meta.py",
    }
    found = {name: reach.tests_of([name]) for name in nearest}
    assert {name: test in found[name] and found[name][test] <= 2 for name, test in nearest.items()} == dict.fromkeys(
        nearest, True
    )
    assert next(iter(found["R/welch_test.R"])) == nearest["R/welch_test.R"]


def test_all_slow_files_are_chosen_where_git_can_not_tell_what_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changed, "FULL_PASSED", tmp_path / "none")
    assert changed.chosen_files() == changed.slow_files()
    assert "tests/analysis/test_slurm.py" in changed.slow_files()
    changed.FULL_PASSED.write_text(f"tests/analysis/test_slurm.py\t{'0' * 40}\t7\n")
    assert sorted(changed.chosen_files()) == changed.slow_files()


def test_a_file_that_passed_is_chosen_again_once_what_it_reaches_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changed, "FULL_PASSED", tmp_path / "passed")
    monkeypatch.setattr(changed, "clean_commit", lambda: "a" * 40)
    monkeypatch.setattr(changed, "slow_files", lambda: ["tests/analysis/test_slurm.py", "tests/collector/test_kill.py"])
    for file in changed.slow_files():
        changed.note_passed(file, "a" * 40, 3.2)
    changed.note_passed("tests/x.py", "b" * 40, 3.2)  # another commit was checked out meanwhile
    assert set(changed.read_passed()) == set(changed.slow_files())
    monkeypatch.setattr(changed, "changed_since", lambda commit: ["tests/analysis/test_slurm.py"])
    assert changed.chosen_files() == ["tests/analysis/test_slurm.py"]


def test_what_no_time_is_left_for_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(changed, "chosen_files", lambda: ["tests/a.py", "tests/b.py"])
    monkeypatch.setenv("SLANT_FULL", "")
    assert changed.run_slow(time.time() - 1) == []
    assert "No time was left for the slow tests of 2 files" in (said := capsys.readouterr().out)
    assert "  tests/a.py\n  tests/b.py" in said


def test_most_planted_faults_still_change_a_line_that_is_there(root: Path) -> None:
    """Those that do not are to be planted again, where their lines moved to, once they are many."""
    patches = sorted((root / "tests" / "planted").glob("*.patch"))
    assert len(patches) == 40
    checked = {
        patch.name: subprocess.run(["git", "apply", "--check", patch], cwd=root, capture_output=True)
        for patch in patches
    }
    assert len([name for name, done in checked.items() if done.returncode]) <= 10
