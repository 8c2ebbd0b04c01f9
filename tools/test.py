"""Runs every kind of test, all of them even where one fails, and says how long each took, what each file cost, and what
was skipped, and why.

python tools/test.py [--full | --core | --check | --changed UNTIL]
    --full: the slow ones too; --core: what versions of R and Python could break; --check: only lint and types;
    --changed: after `make test`, the slow ones of what changed since they passed last, begun until that second since
    1970 (0: all of them)
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from browser import install_browser
from changed import changed_since, clean_commit, note_passed, read_passed, run_slow
from ledger import costs_of, counts_of, keep_table, shown, too_dear

ROOT = Path(__file__).resolve().parent.parent
COUNTS = ROOT / ".ledger" / "counts"
CORE = (
    "r_bridge", "worker", "journal", "run", "views", "fits", "compare", "figures",
    "bayes", "tables", "doctor", "setup",
)  # fmt: skip
CORE_OF_R = "fit_lme4|effect_size|mixed_model_table|welch_test|fit_brms|plot_|run_fit|with_conditions|read_trials"
# Most fits are over before compiled code would have paid for its compiling; it changes no number.
TESTTHAT = ["env", "R_ENABLE_JIT=0", "Rscript", "--no-init-file", "tests/testthat.R"]
FULL = "SLANT_FULL"  # asks tests of Python and R for more examples, R for those that take long
PREFIX = "slant-tests-"
LEAST_ROOM_IN_MEMORY = 6_000_000_000
LONGEST_RUN_S = 12 * 3600
LINT_OF_R = "lint of R"
READ_CODE = {
    "ruff": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "--quiet", "."],
    "mypy": ["mypy"],
    "mypy of tools": ["mypy", *sorted(str(path) for path in (ROOT / "tools").rglob("*.py"))],
    LINT_OF_R: ["Rscript", "--no-init-file", "tools/lint_r.R"],
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
    # One process more than there are cores, for many tests wait for another process or a clock, and R's tests run next
    # to them; the tests of one file stay together, as some of them go on where others ended.
    processes = ["-n", str((os.cpu_count() or 1) + 1), "--dist", "loadfile"]
    pytest = ["pytest", *processes, "-m", "not slow and not local"]
    if chosen == "--core":
        files = [str(file) for name in CORE for file in Path("tests").glob(f"*/test_{name}.py")]
        return {"testthat": [*TESTTHAT, CORE_OF_R], "pytest": [*pytest, *files]}
    if chosen == "--full":  # with as many examples as the slow tests, which follow
        return {**READ_CODE, "testthat": TESTTHAT, "pytest": ["env", f"{FULL}=1", *pytest]}
    read = {**READ_CODE, LINT_OF_R: lint_of_what_changed()}
    return {**{name: command for name, command in read.items() if command}, "testthat": TESTTHAT, "pytest": pytest}


def lint_of_what_changed() -> list[str]:
    """Linting all of R takes a minute: `make check` and `make test-full` do; here what has changed since the latter."""
    passed = read_passed().get(LINT_OF_R)
    changed = changed_since(passed.commit) if passed else None
    return [] if changed is None else [*READ_CODE[LINT_OF_R], "tools/lint_r.R", *changed]


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


def keep_counts(counts: list[int]) -> list[int]:
    """Where .ci/run adds those of its second part to them."""
    COUNTS.parent.mkdir(exist_ok=True)
    COUNTS.write_text(" ".join(map(str, counts)), "utf-8")
    return counts


def with_those_of_make_test(counts: list[int]) -> list[int]:
    """One that failed is added if `make test` did not come to its end."""
    before = map(int, COUNTS.read_text("utf-8").split()) if COUNTS.exists() else (0, 1, 0)
    return [own + other for own, other in zip(counts, before, strict=True)]


@contextlib.contextmanager
def places_of_tests(chosen: str) -> Iterator[Path]:
    """A folder for this run, in memory if possible, and the environment in which tests find it and this checkout."""
    os.chdir(ROOT)
    os.environ["PATH"] = os.pathsep.join([str(ROOT / ".venv" / "bin"), os.environ["PATH"]])
    os.environ["MYPYPATH"] = os.pathsep.join(["python", "tools", "analysis/bridge"])
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=folder_in_memory()) as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        os.environ["TMPDIR"] = str(folder / "tmp")
        os.environ["SLANT_TEST_COUNTS"], os.environ["SLANT_TEST_LEDGER"] = (
            str(folder / "counts"),
            str(folder / "ledger"),
        )
        if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):  # each of the many processes would compile slant anew
            os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
        yield folder


def main() -> int:
    chosen, *until = sys.argv[1:] or [""]
    if chosen not in {"", "--full", "--core", "--check", "--changed"} or len(until) != (chosen == "--changed"):
        sys.exit(f"{__doc__}")
    begun = time.monotonic()
    with places_of_tests(chosen) as folder:
        if chosen in {"", "--full"}:
            install_browser()
        failed = [] if until else run_stages(stages(chosen), folder)
        n_good = 0 if until else len(stages(chosen)) - len(failed)
        if chosen == "--full" and LINT_OF_R not in failed:
            note_passed(LINT_OF_R, clean_commit(), time.monotonic() - begun)
        slow = run_slow(float(until[0]) if until else 0) if chosen in {"--full", "--changed"} else []
        outcomes, reasons = counts_of(folder / "counts")
        if until and (unknown := [file for file in slow if file not in read_passed()]):
            print(
                f"Not counted: tests of {len(unknown)} files failed ({', '.join(unknown)}). No commit is known at "
                "which they passed (tests/full_passed), so that this change may not have "
                "broken them. Next: make test-full"
            )
            slow = [file for file in slow if file not in unknown]
            outcomes["failed"] = len(slow)
        failed += slow
        costs, speed = costs_of(folder / "ledger")
    if costs:
        keep_table(costs, ROOT / ".ledger" / f"{chosen.strip('-') or 'test'}.tsv")
        print(shown(costs, speed))
    if chosen == "" and (dear := too_dear(costs)):
        print(dear)
        failed.append("ledger")
    for name in failed:
        print(f"failed: {name}")
    print(f"{n_good} stages are good, {len(failed)} failed, {time.monotonic() - begun:.0f} s")
    if chosen != "--check":
        why = "; ".join(f"{number} {reason}" for reason, number in reasons.most_common())
        print(f"skipped {sum(reasons.values())}: {why or 'none'}")
        # A stage that failed without a test that failed (lint; R that does not start) counts as a failure, too.
        own = [outcomes["passed"], max(outcomes["failed"], len(failed)), outcomes["skipped"]]
        print("{} passed, {} failed, {} skipped".format(*(with_those_of_make_test(own) if until else keep_counts(own))))
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
