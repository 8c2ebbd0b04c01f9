"""What one measure gave and how it is shown; what measures share: servers, processes, R, data, memory."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from slant.analysis.bridge.r_home import r_installation
from slant.collector.keep.database import writing

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data" / "rmiat"
FOLDERS = {
    "o3-mini": "o3-mini",
    "deepseek-r1": "DeepSeek-R1",
    "claude-3.7-sonnet": "Claude3.7",
    "gpt-oss-20b": "GPT-OSS-20B",
}
_EVERY_S = 0.25
_PSS = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True)
class Measure:
    """One row of the table. `ratio` is value / baseline; `compared` says which of the two the goal is about.

    `error`: the Monte Carlo error of `value`, where it was simulated; a goal is missed by more than two of them.
    """

    name: str
    value: float
    unit: str
    baseline: float | None
    goal: float
    compared: Literal["ratio", "value", "difference"]
    is_least: bool = False
    error: float | None = None

    @property
    def ratio(self) -> float | None:
        return self.value / self.baseline if self.baseline else None

    @property
    def met(self) -> bool:
        base = self.baseline or 0.0
        found = {"ratio": self.ratio or 0.0, "value": self.value, "difference": self.value - base}[self.compared]
        slack = 2 * (self.error or 0.0)
        return found >= self.goal - slack if self.is_least else found <= self.goal + slack

    @property
    def goal_text(self) -> str:
        if self.error is not None and self.is_least and self.goal == 0:
            return "printed"
        sign = "≥" if self.is_least else "≤"
        if self.compared == "ratio":
            return f"{sign} {self.goal:.0%} of baseline"
        return f"{sign} {self.goal:g} {self.unit}{' over baseline' if self.compared == 'difference' else ''}"

    def row(self) -> dict[str, Any]:
        found = asdict(self) | {"ratio": self.ratio, "goal": self.goal_text, "met": self.met}
        return {key: found[key] for key in ("name", "value", "error", "unit", "baseline", "ratio", "goal", "met")}


def table(measures: Sequence[Measure]) -> str:
    """The rows as a Markdown table."""
    lines = ["| measure | value | baseline | ratio | goal | met |", "|---|---|---|---|---|---|"]
    for m in measures:
        base = "" if m.baseline is None else f"{m.baseline:,.4g} {m.unit}"
        ratio = "" if m.ratio is None else f"{m.ratio:.2f}"
        error = "" if m.error is None else f" (Monte Carlo error {m.error:.1f})"
        value, met = f"{m.value:,.4g} {m.unit}{error}", "yes" if m.met else "NO"
        lines.append(f"| {m.name} | {value} | {base} | {ratio} | {m.goal_text} | {met} |")
    return "\n".join(lines)


@contextmanager
def server(latency_s: float = 0.0, kind: str = "parsing") -> Iterator[str]:
    """The address of a local server (bench/servers.py), which runs in a process of its own."""
    command = [sys.executable, "-m", "bench.servers", kind, str(latency_s)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate()


def in_process(name: str, *words: object) -> list[str]:
    """The command that runs a function of bench/processes.py."""
    return [sys.executable, "-m", "bench.processes", name, *map(str, words)]


def measured(name: str, *words: object) -> dict[str, Any]:
    """What a function of bench/processes.py returns."""
    returned: dict[str, Any] = printed(in_process(name, *words))
    return returned


def printed(command: Sequence[str], environment: Mapping[str, str] | None = None, stderr: int | None = None) -> Any:
    """The last line that a command prints, read as JSON."""
    variables, pipe = {**os.environ, **(environment or {})}, subprocess.PIPE
    done = subprocess.run(command, stdout=pipe, stderr=stderr, text=True, check=True, cwd=ROOT, env=variables)
    return json.loads(done.stdout.splitlines()[-1])


def by_r(script: str, *words: object, **environment: str) -> Any:
    """The last line that a script of bench/ prints, read as JSON."""
    home = r_installation()
    if home is None:
        raise SystemExit("This bench needs R.")
    return printed([str(home.rscript), "--no-init-file", f"bench/{script}", *map(str, words)], environment)


def imported(db: Path) -> Path:
    """The authors' data of four models, as `collect import` brings them in."""
    for model, folder in FOLDERS.items():
        words = ["import", "--study", "rmiat", "--layout", "lee-lai", "--model", model, "--db", db, DATA / folder]
        _collect(*words)
    return db


def simulated(db: Path, study: str, *words: object) -> Path:
    """Simulated answers of all models of a study."""
    _collect("--study", study, "--simulated", "--db", db, *words)
    return db


def _collect(*words: object) -> None:
    command = [sys.executable, "-m", "slant.collector", *map(str, words)]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)


def made_trials(db: Path, trials: int) -> Path:
    """Trials that trials.sql makes. Ten million take minutes and 3 GB of disk."""
    with writing(db) as connection:
        connection.execute("SET threads = 2")
        connection.execute("SET VARIABLE trials = ?", [trials])
        connection.execute((ROOT / "bench" / "trials.sql").read_text(encoding="utf-8"))
    return db


def kept_trials(folder: Path, trials: int) -> Path:
    """The same, or those of the file in the variable SLANT_BENCH_TRIALS, with the views of now."""
    db = Path(os.environ.get("SLANT_BENCH_TRIALS") or folder / "trials.duckdb")
    if not db.exists():
        made_trials(db, trials)
    with writing(db):
        return db


def watched(command: list[str]) -> tuple[dict[str, Any], float]:
    """What the command prints last, as JSON, and the peak of memory in MB: the sum of proportional set sizes."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        peak = [0.0]
        ended = threading.Event()
        watcher = threading.Thread(target=_watch, args=(process.pid, ended, peak))
        watcher.start()
        said, _ = process.communicate()
        ended.set()
        watcher.join()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found, peak[0]


def _watch(pid: int, ended: threading.Event, peak: list[float]) -> None:
    while not ended.wait(_EVERY_S):
        peak[0] = max(peak[0], sum(_held_mb(one) for one in _family(pid)))


def _family(pid: int) -> list[int]:
    """This process and its descendants; those of a fork server are children of its children."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found = [pid]
    for one in found:
        found.extend(children.get(one, []))
    return found


def _held_mb(pid: int) -> float:
    with contextlib.suppress(OSError):
        if held := _PSS.search(Path(f"/proc/{pid}/smaps_rollup").read_text()):
            return int(held[1]) / 1000
    return 0.0
