"""The real command against a server with a fault, and what it came to: tries, lost, doubled, asked again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from slant.collector.keep.database import kept_open
from slant.collector.keep.journal_loader import load_journals
from tests.conftest import ROOT
from tests.support.fault_cases import Fault
from tests.support.processes import TypedCommand
from tests.support.raw_server import RawServer
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

TRIALS = 8


@dataclass(frozen=True)
class Suffered:
    """`tries`: requests that the server saw. `lost`: answers that came whole and are not kept. `doubled`: trials ended
    twice. `again`: requests beyond one a trial. `left`: trials without an end."""

    tries: int
    lost: int
    doubled: int
    again: int
    left: int
    outcomes: Mapping[str, int] = field(default_factory=dict)


def suffer_all(faults: Mapping[str, Fault], folder: Path) -> dict[str, Suffered]:
    """Each fault is what one model's server does; models with the same time limit are asked by one process."""
    found: dict[str, Suffered] = {}
    for limit_s in sorted({fault.limit_s for fault in faults.values()}):
        alike = {name: fault for name, fault in faults.items() if fault.limit_s == limit_s}
        found |= suffer(alike, folder / f"{limit_s:g}", limit_s)
    return {name: found[name] for name in faults}


def suffer(faults: Mapping[str, Fault], folder: Path, limit_s: float) -> dict[str, Suffered]:
    """Ask the eight trials of the tiny study of a model for each fault, which is done to each first request."""
    models = {name: f"fault-{number}" for number, name in enumerate(faults)}
    with RawServer({models[name]: fault.act for name, fault in faults.items()}) as server:
        others = [word for model in list(models.values())[1:] for word in ("--model", f"local/{model}")]
        collect(folder, server.base_url, "--time-limit", limit_s, *others, model="local/fault-0")
        load_journals(folder / "a.duckdb")
        with kept_open(folder / "a.duckdb"):
            return {
                name: counted(
                    folder / "a.duckdb",
                    server.asked[model],
                    server.answered[model] + (TRIALS if faults[name].tries == 1 else 0),
                    model=f"local/{model}",
                )
                for name, model in models.items()
            }


def command(folder: Path, base_url: str, *more: object, model: str = "local/small") -> list[str]:
    """`collect` on the tiny study in `folder`, as a person would type it."""
    study = folder / "study"
    if not study.exists():
        study.mkdir(parents=True)
        write_tiny(study)
    more = ("--yes", *(["--base-url", base_url] if model.startswith("local/") else []), *more)
    return TypedCommand(
        study / "study.toml", model, folder / "a.duckdb", *more, "--concurrency", 8, "--max-retries", 3
    ).words


def collect(
    folder: Path, base_url: str, *more: object, model: str = "local/small", **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(folder, base_url, *more, model=model),
        cwd=ROOT,
        env={**os.environ, "OPENAI_BASE_URL": base_url, **environment},  # --base-url is for servers without a key
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def counted(db: Path, tries: int, whole: int, trials: int = TRIALS, model: str = "%") -> Suffered:
    """What the database, into which the journals are loaded, has to say about it; `whole` answers were sent to the
    end."""
    its = f"FROM trials WHERE model LIKE '{model}'"
    finals, ended = rows_in(db, f"SELECT count(*), count(DISTINCT trial_id) {its}")[0]
    outcomes = dict(rows_in(db, f"SELECT outcome, count(*) {its} GROUP BY ALL ORDER BY ALL"))
    return Suffered(tries, max(0, whole - finals), finals - ended, max(0, tries - trials), trials - ended, outcomes)
