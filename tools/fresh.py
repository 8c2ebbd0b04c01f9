"""Tries what is committed here on machines that have nothing: demo and core tests on Debian 12, 13 and the next one.

python tools/fresh.py [--suite SUITE]… [--cran FOLDER] [--mirror ADDRESS] [--keep FOLDER] [--run COMMAND]

    make test-fresh                                                the table of all three, without SLANT_CRAN
    make test-fresh ARGS='--suite trixie --cran ../shared/cran'    one of them, with a folder of R packages
    python tools/fresh.py --suite sid --run 'make test'            another command there

It needs root, debootstrap, and 4 GB of disk. What the roots print goes to fresh/SUITE.txt; numbers that differ between
versions are listed below the table.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from fresh_numbers import differences
from fresh_root import ROOT, bring, check_rights, command_in, make_root, mirror
from steps import Step

SUITES = ("bookworm", "trixie", "sid")
OUT = ROOT / "fresh"
SHOWN = ("lme4", "brms", "testthat", "ggplot2")
STEPS = {
    "set-up": "make setup",
    "demo": "make demo",
    "core tests": ".venv/bin/python tools/test.py --core",
}
NUMBERS = ".venv/bin/python tools/measure_numbers.py"
VERSIONS = "python3 --version; R --version | head -n 1; Rscript R/package_versions.R " + " ".join(SHOWN)


@dataclass
class Tried:
    """One suite: versions by name, and for each step how it ended."""

    suite: str
    versions: dict[str, str] = field(default_factory=dict)
    steps: dict[str, tuple[str, str, float]] = field(default_factory=dict)  # passed, skipped, seconds
    numbers: dict[str, dict[str, object]] = field(default_factory=dict)


class Machine:
    """A fresh root and what runs in it; its output goes to `log`."""

    def __init__(self, suite: str, folder: Path, asked: argparse.Namespace) -> None:
        self.suite, self.folder, self.log = suite, folder, OUT / f"{suite}.txt"
        self.log.write_text("")
        make_root(folder, suite, asked.mirror or mirror(), self.log)
        bring(folder)
        self.bound: dict[str, Path] = {}
        self.environment: dict[str, str] = {}
        if (ROOT.parent / "shared").is_dir():
            self.bound["/fresh/shared"] = (ROOT.parent / "shared").resolve()
        if asked.cran:
            self.bound["/fresh/cran"] = Path(asked.cran).resolve()
            self.environment["SLANT_CRAN"] = "/fresh/cran"

    def run(self, command: str) -> tuple[int, str]:
        """Exit status and what was printed."""
        words = command_in(self.folder, command, self.bound, self.environment)
        with self.log.open("r+", encoding="utf-8", errors="replace") as file:
            file.seek(0, os.SEEK_END)
            file.write(f"$ {command}\n")
            file.flush()
            start = file.tell()
            status = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=file, stderr=file, check=False).returncode
            file.seek(start)
            return status, file.read()


def try_suite(machine: Machine) -> Tried:
    tried = Tried(machine.suite)
    for name, command in STEPS.items():
        begun = time.monotonic()
        with Step(f"fresh: {machine.suite}: {name}"):
            status, printed = machine.run(command)
        counts = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", printed, re.MULTILINE)
        passed, failed, skipped = counts[-1] if counts else ("yes", "", "")
        says = passed if status == 0 else f"FAILED ({failed})" if failed else "FAILED"
        tried.steps[name] = (says, skipped, time.monotonic() - begun)
        if status and name != "core tests":
            return tried
    tried.versions = versions_in(machine)
    with Step(f"fresh: {machine.suite}: numbers"):
        status, printed = machine.run(NUMBERS)
    if status == 0:
        tried.numbers = json.loads(printed[printed.index("{") : printed.rindex("}") + 1])
    return tried


def versions_in(machine: Machine) -> dict[str, str]:
    _, printed = machine.run(VERSIONS)
    python, r, *packages = printed.splitlines()
    found = {"Python": python.split()[1], "R": r.split()[2]}
    return {**found, **{row["package"]: row["version"] for row in csv.DictReader(packages)}}


def table(all_tried: list[Tried]) -> list[str]:
    """One line for each suite and step: suite, versions, passed, skipped, seconds."""
    head = ["suite", "R", "Python", *SHOWN, "step", "passed", "skipped", "seconds"]
    rows = []
    for tried in all_tried:
        versions = [tried.versions.get(name, "?") for name in ("R", "Python", *SHOWN)]
        for step, (says, skipped, seconds) in tried.steps.items():
            rows.append([tried.suite, *versions, step, says, skipped, f"{seconds:.0f}"])
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    padded = [[f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)] for row in [head, *rows]]
    return ["  ".join(row).rstrip() for row in padded]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", action="append", choices=SUITES, help="default: all three")
    parser.add_argument("--cran", help="folder of R packages, for SLANT_CRAN; default: none")
    parser.add_argument("--mirror", help="address of a mirror of Debian; default: the one that apt has here")
    parser.add_argument("--keep", help="folder for the roots, which stay; default: they are deleted")
    parser.add_argument("--run", metavar="COMMAND", help="a command of your own in a clone there")
    return parser.parse_args()


def main() -> int:
    asked = arguments()
    check_rights()
    os.environ["LC_ALL"] = "C.UTF-8"
    OUT.mkdir(exist_ok=True)
    roots = Path(asked.keep).resolve() if asked.keep else OUT / "roots"
    all_tried: list[Tried] = []
    status = 0
    for suite in asked.suite or SUITES:
        machine = Machine(suite, roots / suite, asked)
        if asked.run:
            begun = time.monotonic()
            status, printed = machine.run(asked.run)
            sys.stdout.write(
                f"{printed}\nfresh: {suite}: {time.monotonic() - begun:.0f} s, status {status}: {asked.run}\n"
            )
        else:
            all_tried.append(try_suite(machine))
        if not asked.keep:
            shutil.rmtree(roots / suite)
    if all_tried:
        lines = [*table(all_tried), "", *differences({tried.suite: tried.numbers for tried in all_tried})]
        (OUT / "table.txt").write_text("\n".join(lines) + "\n", "utf-8")
        sys.stdout.write("\n".join(lines) + "\n")
        status = int(any(says.startswith("FAILED") for tried in all_tried for says, *_ in tried.steps.values()))
    return status


if __name__ == "__main__":
    sys.exit(main())
