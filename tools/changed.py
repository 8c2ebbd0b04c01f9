"""Runs the slow tests of what changed since they passed last (tests/full_passed), the nearest and cheapest first."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from reach import ROOT, Reach, is_test

FULL_PASSED = ROOT / "tests" / "full_passed"  # a line for each file: it, the commit at which it passed, its seconds
SLOW = ("pytest.mark.slow", "skip_but_in_full()", "test_in_full(", "expect_same_figure(", "test_looks(")
UNKNOWN_S = 60.0
NEVER = 1_000
NOTING = threading.Lock()
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


@dataclass(frozen=True)
class Passed:
    commit: str
    seconds: float


def read_passed() -> dict[str, Passed]:
    """When each file with slow tests passed last, as `make test-full` noted it."""
    lines = FULL_PASSED.read_text("utf-8").splitlines() if FULL_PASSED.exists() else []
    return {file: Passed(commit, float(seconds)) for file, commit, seconds in (line.split("\t") for line in lines)}


def clean_commit() -> str:
    """The commit that is checked out; empty where files differ from it, for then no commit says what was tested."""
    differs = ["git", "diff", "--quiet", "HEAD", "--", ".", f":!{FULL_PASSED.relative_to(ROOT)}"]
    if subprocess.run(differs, cwd=ROOT, capture_output=True, check=False).returncode:
        return ""
    head = ["git", "rev-parse", "HEAD"]
    return subprocess.run(head, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def note_passed(file: str, commit: str, seconds: float) -> None:
    """Note it, unless the checkout has changed since the test began: `commit` is what clean_commit() was then."""
    with NOTING:
        if commit and commit == clean_commit():
            noted = {**read_passed(), file: Passed(commit, seconds)}
            lines = [f"{file}\t{at.commit}\t{at.seconds:.0f}\n" for file, at in sorted(noted.items())]
            FULL_PASSED.write_text("".join(lines), "utf-8")


def chosen_files() -> list[str]:
    """In the order in which they should run: those that never passed come last, the dearest of all at the end."""
    passed = read_passed()
    steps: dict[str, dict[str, int]] = {}
    for commit in {at.commit for at in passed.values()}:
        changed = changed_since(commit)
        steps[commit] = dict.fromkeys(slow_files(), 0) if changed is None else Reach().tests_of(changed)
    places = {}
    for file in slow_files():
        at = passed.get(file, Passed("", UNKNOWN_S))
        if not at.commit or file in steps[at.commit]:
            places[file] = (steps.get(at.commit, {}).get(file, NEVER), at.seconds)
    return sorted(places, key=lambda file: places[file])


def _command(file: str) -> list[str]:
    if file.endswith(".R"):
        return ["Rscript", "--no-init-file", "tests/testthat.R", f"^{Path(file).stem.removeprefix('test-')}$"]
    return ["pytest", "-p", "no:xdist", "-m", "slow and not local", file]


def run_slow(until: float) -> list[str]:
    """Run them on all cores, and note those that pass; begin none after `until` (seconds since 1970; 0: begin all).

    Returns the files that failed.
    """
    os.environ["SLANT_FULL"] = "1"
    waiting = deque(chosen_files())
    failed: list[str] = []
    unfinished: list[str] = []
    print(f"== slow tests of {len(waiting)} files, the nearest to what changed first", flush=True)

    def work() -> None:
        while not until or time.time() < until:
            try:
                file = waiting.popleft()
            except IndexError:
                return
            begun, commit = time.monotonic(), clean_commit()
            try:
                done = subprocess.run(
                    _command(file), cwd=ROOT, capture_output=True, text=True, check=False, timeout=LONGEST_S,
                    stdin=subprocess.DEVNULL, errors="replace",
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                unfinished.append(file)
                continue
            seconds = time.monotonic() - begun
            is_good = done.returncode in (0, 5)  # 5: it has none that can run here
            if is_good:
                note_passed(file, commit, seconds)
            else:
                failed.append(file)
            said = "" if is_good else f"\n{done.stdout}{done.stderr}"
            print(f"{seconds:5.0f} s  {file}{said}", flush=True)

    threads = [threading.Thread(target=work) for _ in range(os.cpu_count() or 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if waiting or unfinished:
        print(f"No time was left for the slow tests of {len(waiting) + len(unfinished)} files. Next: make test-full")
        print(
            "".join(
                f"  {file}{' (ended after its 25 minutes)' * (file in unfinished)}\n"
                for file in [*unfinished, *waiting]
            )
        )
    return failed
