"""Plants the faults of tests/planted/ one after the other in a copy of a commit, and says which test finds each first.

python tools/planted.py [--full] [--commit NAME] [--seconds N] [NUMBER …] >> TABLE

The tests that reach the changed file run, the nearest first (reach.py), to the first that fails with the fault and not
without it, for at most so many seconds a fault (default: 300). A fault that no test finds is a row without a file.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from reach import ROOT, Reach

AT_A_TIME = 3  # files of pytest in one process
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?)(?: - .*)?$", re.M)


def copied(commit: str, folder: Path) -> Path:
    copy = folder / "slant"
    subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(copy)], check=True)
    subprocess.run(["git", "-C", str(copy), "checkout", "--quiet", commit], check=True)
    (copy / ".venv").symlink_to(ROOT / ".venv")
    if (shared := ROOT.parent / "shared").exists():
        (folder / "shared").symlink_to(shared)
    return copy


def run(copy: Path, command: list[str]) -> tuple[bool, str]:
    """Whether it went well, and what it said."""
    environment = {**os.environ, "PYTHONPATH": str(copy / "python")}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    return done.returncode in (0, 5), done.stdout + done.stderr  # 5: all tests of it are left out


def commands(tests: list[str], marked: str) -> list[list[str]]:
    """What runs these files in their order: R's one by one, the others a few at a time."""
    pytest = [str(ROOT / ".venv" / "bin" / "pytest"), "-p", "no:xdist", "-p", "no:cacheprovider", "-x", "-m", marked]
    made: list[list[str]] = []
    for test in tests:
        if test.endswith(".R"):
            made.append(["Rscript", "--no-init-file", "tests/testthat.R", f"^{Path(test).stem.removeprefix('test-')}$"])
        elif made and made[-1][0] == pytest[0] and len(made[-1]) < len(pytest) + AT_A_TIME:
            made[-1].append(test)
        else:
            made.append([*pytest, test])
    return made


def found_by(copy: Path, reach: Reach, patch: Path, marked: str, seconds: float) -> str:
    """The first test that fails with the fault and not without it; else nothing."""
    changed = re.findall(r"^\+\+\+ b/(\S+)", patch.read_text("utf-8"), re.M)
    tests = list(reach.tests_of(changed))
    if applied := subprocess.run(["git", "-C", str(copy), "apply", str(patch)], check=False).returncode:
        return f"does not apply ({applied})"
    ends = time.monotonic() + seconds
    try:
        for command in commands(tests, marked):
            if time.monotonic() > ends:
                return ""
            is_good, said = run(copy, command)
            if is_good:
                continue
            failed = FAILED.findall(said)[:1]
            again = [*command[: command.index("-m") + 2], *failed] if failed else command
            subprocess.run(["git", "-C", str(copy), "apply", "--reverse", str(patch)], check=True)
            is_good_without, _ = run(copy, again)
            subprocess.run(["git", "-C", str(copy), "apply", str(patch)], check=True)
            if is_good_without:
                return failed[0] if failed else f"tests/testthat/test-{command[-1].strip('^$')}.R"
    finally:
        subprocess.run(["git", "-C", str(copy), "checkout", "--quiet", "."], check=True)
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("numbers", nargs="*")
    chosen = parser.parse_args()
    marked = "not local" if chosen.full else "not slow and not local"
    with tempfile.TemporaryDirectory(prefix="slant-planted-") as folder:
        copy = copied(chosen.commit, Path(folder))
        reach = Reach(copy)
        for patch in sorted((ROOT / "tests" / "planted").glob("*.patch")):
            if not chosen.numbers or patch.name[:2] in chosen.numbers:
                test = found_by(copy, reach, patch, marked, chosen.seconds)
                print(patch.stem, patch.read_text("utf-8").splitlines()[0], test, sep="\t")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
