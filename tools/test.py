"""Runs every kind of test, all of them even where one fails, and says how long each took and what was skipped, and why.

python tools/test.py [--full | --core | --check]
    --full: the slow ones too; --core: what versions of R and Python could break; --check: only lint and types
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from browser import install_browser

ROOT = Path(__file__).resolve().parent.parent
MARKED = {"": "not slow and not local", "--core": "not slow and not local", "--full": "not local"}
CORE = (
    "r_bridge", "r_vectors", "worker", "journal", "run", "views", "fits", "effect_size_parts", "compare", "figures",
    "bayes", "tables", "doctor", "setup",
)  # fmt: skip
CORE_OF_R = "fit_lme4|effect_size|mixed_model_table|welch_test|fit_brms|plot_|run_fit|with_conditions|read_trials"
# Most fits are over before compiled code would have paid for its compiling; it changes no number.
TESTTHAT = ["env", "R_ENABLE_JIT=0", "Rscript", "--no-init-file", "tests/testthat.R"]
PREFIX = "slant-tests-"
LEAST_ROOM_IN_MEMORY = 6_000_000_000
LONGEST_RUN_S = 12 * 3600
READ_CODE = {
    "ruff": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "--quiet", "."],
    "mypy": ["mypy"],
    "mypy of tools": ["mypy", *sorted(str(path) for path in (ROOT / "tools").rglob("*.py"))],
    "lint of R": ["Rscript", "--no-init-file", "tools/lint_r.R"],
}


def folder_in_memory() -> Path | None:
    """A folder in memory for the files of the tests, which need 2 GB; None where there is none. A disk makes each kept
    answer and each commit wait, thousands of times; what they wait for is tested by processes that are killed."""
    folder = Path("/dev/shm")
    if not os.access(folder, os.W_OK) or shutil.disk_usage(folder).free < LEAST_ROOM_IN_MEMORY:
        return None
    for left in folder.glob(f"{PREFIX}*"):  # of a run that was killed
        if time.time() - left.stat().st_mtime > LONGEST_RUN_S:
            shutil.rmtree(left, ignore_errors=True)
    return folder


def stages(chosen: str) -> dict[str, list[str]]:
    if chosen == "--check":
        return READ_CODE
    # Two processes more than there are cores, for many tests wait for another process or a clock; the tests of one file
    # stay together, as some of them go on where others ended.
    processes = ["-n", str((os.cpu_count() or 1) + 2), "--dist", "loadfile"]
    pytest = ["pytest", *processes, "-m", MARKED[chosen]]
    if chosen == "--core":
        files = [str(file) for name in CORE for file in Path("tests").glob(f"*/test_{name}.py")]
        return {"testthat": [*TESTTHAT, CORE_OF_R], "pytest": [*pytest, *files]}
    return {**READ_CODE, "testthat": TESTTHAT, "pytest": pytest}


def run_stages(wanted: dict[str, list[str]], folder: Path) -> list[str]:
    """Run all of them and return the names of those that failed. pytest shows what it does as it goes; the others run
    next to it, one after the other, for each of them leaves a core idle; each is shown when it has ended."""
    failed: list[str] = []

    def run(name: str, output: int | None = None) -> None:
        begun = time.monotonic()
        done = subprocess.run(wanted[name], stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False)
        if done.returncode != 0:
            failed.append(name)
        seconds[name] = time.monotonic() - begun

    def run_others() -> None:
        for number, name in enumerate(name for name in wanted if name != "pytest"):
            with (folder / f"{number}.txt").open("w+", encoding="utf-8", errors="replace") as file:
                run(name, file.fileno())
                file.seek(0)
                show(f"== {name}\n{file.read()}-- {name}: {seconds[name]:.0f} s\n")

    seconds: dict[str, float] = {}
    shown: list[str] = []
    show = shown.append if "pytest" in wanted else sys.stdout.write
    others = threading.Thread(target=run_others)
    others.start()
    if "pytest" in wanted:
        print("== pytest, and next to it what is shown below it", flush=True)
        run("pytest")
        print(f"-- pytest: {seconds['pytest']:.0f} s", flush=True)
    others.join()
    print("".join(shown), flush=True)
    return failed


def counts_of(file: Path) -> tuple[Counter[str], Counter[str]]:
    """How many tests passed, failed and were skipped, and how often for which reason, as tests/ wrote them down."""
    lines = [line.split("\t") for line in file.read_text("utf-8").splitlines()] if file.exists() else []
    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for outcome, number, reason in lines:
        outcomes[outcome] += int(number)
        if outcome == "skipped":
            reasons[reason] += int(number)
    return outcomes, reasons


def main() -> int:
    chosen = "".join(sys.argv[1:])
    if chosen not in {"", "--full", "--core", "--check"}:
        sys.exit(f"{__doc__}")
    os.chdir(ROOT)
    os.environ["PATH"] = os.pathsep.join([str(ROOT / ".venv" / "bin"), os.environ["PATH"]])
    if chosen == "--full":
        os.environ["SLANT_FULL"] = "1"
    os.environ["MYPYPATH"] = os.pathsep.join(["python", "tools", "analysis/bridge"])
    begun = time.monotonic()
    if chosen in MARKED and chosen != "--core":
        install_browser()
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=folder_in_memory()) as folder:
        os.environ["TMPDIR"] = str(Path(folder) / "tmp")
        Path(os.environ["TMPDIR"]).mkdir()
        counts = Path(folder) / "counts"
        os.environ["SLANT_TEST_COUNTS"] = str(counts)
        if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):  # each of the many processes would compile slant anew
            os.environ["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "compiled")
        failed = run_stages(stages(chosen), Path(folder))
        outcomes, reasons = counts_of(counts)
    for name in failed:
        print(f"failed: {name}")
    print(
        f"{len(stages(chosen)) - len(failed)} stages are good, {len(failed)} failed, {time.monotonic() - begun:.0f} s"
    )
    if chosen != "--check":
        why = "; ".join(f"{number} {reason}" for reason, number in reasons.most_common())
        print(f"skipped {sum(reasons.values())}: {why or 'none'}")
        # A stage that failed without a test that failed (lint; R that does not start) counts as a failure, too.
        n_failed = max(outcomes["failed"], len(failed))
        print(f"{outcomes['passed']} passed, {n_failed} failed, {outcomes['skipped']} skipped")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
