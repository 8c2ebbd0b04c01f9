"""The real command against a server with a fault, and what it came to: tries, lost, doubled, asked again."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from collector.load import load_journals
from collector.store import reading
from tests.conftest import ROOT
from tests.fault_cases import Fault
from tests.raw_server import RawServer
from tests.tiny_study import write_tiny

TRIALS = 8


@dataclass(frozen=True)
class Suffered:
    """`lost`: answers that came whole and are not kept. `doubled`: trials ended twice. `again`: requests beyond one a
    trial. `left`: trials without an end."""

    tries: int
    lost: int
    doubled: int
    again: int
    left: int
    outcomes: dict[str, int] = field(default_factory=dict)
    messages: str = ""


def suffer(fault: Fault, folder: Path) -> Suffered:
    """Ask the eight trials of the tiny study from a server that does this to each first request."""
    with RawServer(fault.act) as server:
        done = collect(folder, server.base_url, "--time-limit", fault.limit_s)
        whole = server.answered + (TRIALS if fault.tries == 1 else 0)
        return counted(folder / "a.duckdb", server.asked.total(), whole, done.stderr)


def collect(folder: Path, base_url: str, *more: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """`collect` on the tiny study in `folder`, as a person would type it."""
    study = folder / "study"
    if not study.exists():
        study.mkdir()
        write_tiny(study)
    words = [
        sys.executable, "-m", "collector", "--study", study / "study.toml", "--model", "local/small", "--yes",
        "--base-url", base_url, "--concurrency", 8, "--max-retries", 3, "--db", folder / "a.duckdb", *more,
    ]  # fmt: skip
    return subprocess.run(
        list(map(str, words)), cwd=ROOT, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def counted(db: Path, tries: int, whole: int, messages: str = "") -> Suffered:
    """What the database has to say about it; `whole` answers were sent to the end."""
    load_journals(db)
    finals, trials = query(db, "SELECT count(*), count(DISTINCT trial_id) FROM trials")[0]
    outcomes = dict(query(db, "SELECT outcome, count(*) FROM trials GROUP BY ALL ORDER BY ALL"))
    return Suffered(
        tries, max(0, whole - finals), finals - trials, max(0, tries - TRIALS), TRIALS - trials, outcomes, messages
    )


def query(db: Path, text: str) -> list[Any]:
    with reading(db) as connection:
        return connection.execute(text).fetchall()
