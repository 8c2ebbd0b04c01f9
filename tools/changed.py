"""Runs the slow tests of what changed since all tests passed (tests/full_passed), the nearest and cheapest first."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections import deque
from pathlib import Path

from reach import ROOT, Reach, is_test

FULL_PASSED = ROOT / "tests" / "full_passed"  # the commit at which all tests passed, and what each file cost
SLOW = ("pytest.mark.slow", "skip_but_in_full()", "test_in_full(", "expect_same_figure(", "test_looks(")
UNKNOWN_S = 60.0
LONGEST_S = 25 * 60  # of one file, so that continuous integration, which ends after 90 minutes, is told what is slow


def slow_files() -> list[str]:
    files = [*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("tests/testthat/test-*.R")]
    slow = [file for file in files if is_test(file) and any(mark in file.read_text("utf-8") for mark in SLOW)]
    return sorted(file.relative_to(ROOT).as_posix() for file in slow)


def changed_since(commit: str) -> list[str] | None:
    """The files that differ now; None if git can't tell."""
    command = ["git", "diff", "--name-only", commit]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False) if commit else None
    return None if done is None or done.returncode else done.stdout.splitlines()


def commit_of_full() -> str:
    """The commit at which all tests passed; empty if none is known."""
    return FULL_PASSED.read_text("utf-8").partition("\n")[0] if FULL_PASSED.exists() else ""


def chosen_files() -> list[str]:
    """In the order in which they should run; all that have slow tests if it can't be told what changed."""
    lines = FULL_PASSED.read_text("utf-8").splitlines()[1:] if FULL_PASSED.exists() else []
    costs = {file: float(cost) for file, cost in (line.split("\t") for line in lines)}
    changed = changed_since(commit_of_full())
    if changed is None:
        print("What changed since all tests passed can't be told (tests/full_passed): all slow tests are chosen.")
    steps = {} if changed is None else Reach().tests_of(changed)
    chosen = [file for file in slow_files() if changed is None or file in steps]
    return sorted(chosen, key=lambda file: (steps.get(file, 0), costs.get(file, UNKNOWN_S)))


def _command(file: str) -> list[str]:
    if file.endswith(".R"):
        return ["Rscript", "--no-init-file", "tests/testthat.R", f"^{Path(file).stem.removeprefix('test-')}$"]
    return ["pytest", "-p", "no:xdist", "-m", "slow and not local", file]


def run_changed(until: float) -> list[str]:
    """Run them on all cores, and begin none after `until` (seconds since 1970). Return those that failed."""
    waiting = deque(chosen_files())
    failed: list[str] = []
    unfinished: list[str] = []
    print(f"== slow tests of {len(waiting)} files, the nearest to what changed first", flush=True)

    def work() -> None:
        while time.time() < until:
            try:
                file = waiting.popleft()
            except IndexError:
                return
            begun = time.monotonic()
            try:
                done = subprocess.run(
                    _command(file), cwd=ROOT, capture_output=True, text=True, check=False, timeout=LONGEST_S,
                    stdin=subprocess.DEVNULL, errors="replace",
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                unfinished.append(file)
                continue
            is_good = done.returncode in (0, 5)  # 5: it has none that can run here
            if not is_good:
                failed.append(file)
            said = "" if is_good else f"\n{done.stdout}{done.stderr}"
            print(f"{time.monotonic() - begun:5.0f} s  {file}{said}", flush=True)

    threads = [threading.Thread(target=work) for _ in range(os.cpu_count() or 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if waiting or unfinished:
        print(
            f"No time was left for the slow tests of {len(waiting) + len(unfinished)} files: make test-full runs them"
        )
        print(
            "".join(
                f"  {file}{' (ended after its 25 minutes)' * (file in unfinished)}\n"
                for file in [*unfinished, *waiting]
            )
        )
    return failed
