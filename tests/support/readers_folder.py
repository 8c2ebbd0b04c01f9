"""The README and other pages: their blocks, and their commands, typed in a reader's folder as the shell would."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import pytest
from click.testing import CliRunner
from rich.console import Console

from slant.analysis.cli.main import analyze
from slant.collector.cli import collect
from slant.collector.studies.catalogue import load_study
from tests.support import ROOT
from tests.support.given import database
from tests.support.simulated_rows import simulated_rows
from tests.support.typed_pages import blocks, same

README = "README.md"
COLLECTED, FITTED = "collect --study rmiat --model simulated/o3-mini", "analyze --fit lme4"  # its commands of the paper
PROGRAMS = {"analyze": analyze, "collect": collect}


def blocks_of(page: str, language: str) -> list[str]:
    return blocks((ROOT / page).read_text("utf-8"), language)


def shell_commands(page: str, start: str = "") -> list[str]:
    """The commands of a page's `sh` blocks, or of the one block whose first command begins with `start`."""
    return [line for block in blocks_of(page, "sh") if block.startswith(start) for line in block.splitlines()]


def readers_folder(place: Path) -> Path:
    """A reader's folder: the checkout's R/ and the study of the README are in it."""
    (place / "R").symlink_to(ROOT / "R")
    (place / "callers.toml").write_text(blocks_of(README, "toml")[0], "utf-8")
    return place


def folder_with_rmiat(place: Path) -> Path:
    """One in which COLLECTED was typed: with the answers that the study's design simulates, and that no server gave."""
    study = load_study("rmiat")
    one = replace(study, models=(study.model("simulated/o3-mini"),))
    tests = [{"test": test.test, "test_no": number, "label": test.label} for number, test in enumerate(study.tests, 1)]
    run = {"run_id": "r1", "source": "simulated", "study": "rmiat", "study_version": study.version, "variant": "base"}
    run |= {"models": [{"model": "o3-mini", "model_no": 1}], "tests": tests, "started_at": "2026-01-01"}
    database(place / "slant.duckdb", simulated_rows(one, seed=study.seed), [run])
    return readers_folder(place)


def typed(command: str, folder: Path, end: int = 0, **more: str) -> str:
    """What a command prints to stdout and stderr when it is typed in `folder`; it must end well.

    Our own two programs run in this process, which has read R and all modules already, and the shell gets their rows.
    """
    ours, _, rest = command.partition(" | ")
    program, *words = shlex.split(ours, comments=True)
    if program not in PROGRAMS:
        return in_shell(command, folder)
    with contextlib.chdir(folder):
        answer = CliRunner(env=more).invoke(PROGRAMS[program], words, prog_name=program)
    assert answer.exit_code == end, f"{command}\n{answer.output}\n{answer.exception!r}"
    return (in_shell(rest, folder, answer.stdout) if rest else answer.stdout) + answer.stderr


def in_shell(command: str, folder: Path, stdin: str = "") -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PATH": path},
    )
    assert done.returncode in (0, 141), f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def shown_commands(page: str) -> list[tuple[str, str]]:
    """Each command of a console with what its page shows that it prints."""
    parts = [part for block in blocks_of(page, "console") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def check_printed(command: str, shown: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command is typed, in a terminal as wide as what its page shows, and prints each line of it."""
    lines = [line for line in shown.splitlines() if line.strip()]
    width = 80 if all(len(line) <= 80 for line in lines if line.startswith(" ")) else 120
    monkeypatch.setattr("slant.collector.terminal._console", _screen_of(width))
    check_lines(lines, typed(command, folder, OPENAI_API_KEY=""), command)


def check_lines(lines: list[str], printed: str, command: str) -> None:
    missing = [line for line in lines if not any(same(line, p) for p in printed.splitlines())]
    assert not missing, f"{command} printed\n{printed}"


def _screen_of(width: int) -> Callable[[TextIO], Console]:
    return lambda file: Console(file=file, width=width)
