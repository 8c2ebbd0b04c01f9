"""Processes as tests see them: in /proc, or as `ps` tells them where there is none (macOS)."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROC = Path("/proc")
HAS_PROC = (PROC / "self" / "stat").exists()


class TypedCommand:
    """`collect` of one model on a study, started in a process of its own as a person would type it."""

    environment: Mapping[str, str] = {}

    def __init__(self, study: Path, model: str, db: Path, *more: object) -> None:
        asked = ["--study", study, "--model", model, "--db", db, *more]
        self.db, self.words = db, [sys.executable, "-m", "slant.collector", *map(str, asked)]

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.words, cwd=ROOT, text=True, env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self) -> tuple[int, str]:
        """How it ended, and its messages."""
        process = self.start()
        _, messages = process.communicate(timeout=60)
        assert "Traceback" not in messages
        return process.returncode, messages


def wait_until(condition: Callable[[], object], patience_s: float = 30.0) -> bool:
    until = time.monotonic() + patience_s
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)
    return bool(condition())


def is_running(pid: int) -> bool:
    """Neither ended, nor ended and waiting for somebody to ask how."""
    return pid in {number for number, _, state, _ in _all() if state != "Z"}


def children_of(pid: int) -> list[int]:
    return [number for number, parent, state, _ in _all() if parent == pid and state != "Z"]


def members_of(session: int) -> list[tuple[int, int]]:
    """(process, group) of each process in a session, where /proc tells it."""
    found = []
    for number, _, _, fields in _all():
        if len(fields) > 5 and int(fields[3]) == session:
            found.append((number, int(fields[2])))
    return found


def command_lines() -> list[bytes]:
    """What `ps` shows of every process."""
    if not HAS_PROC:
        return _ps("command=").splitlines()
    found = []
    for path in PROC.glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            found.append(path.read_bytes())
    return found


def n_open_files() -> int:
    """Of this very process."""
    return len(os.listdir("/dev/fd"))


def _all() -> list[tuple[int, int, str, list[str]]]:
    """Number, parent, state and what else /proc tells of each process."""
    if not HAS_PROC:
        rows = [line.split() for line in _ps("pid=,ppid=,state=").decode().splitlines()]
        return [(int(pid), int(parent), state[0], []) for pid, parent, state in rows]
    found = []
    for path in PROC.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()  # behind the name, which may hold blanks
            found.append((int(path.parent.name), int(fields[1]), fields[0], fields))
    return found


def _ps(columns: str) -> bytes:
    return subprocess.run(["ps", "-A", "-o", columns], capture_output=True, check=True).stdout
