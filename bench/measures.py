"""What one measure found, and how it is shown."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Measure:
    """One row of the table. `ratio` is value / baseline; `compared` says which of the two the goal is about."""

    name: str
    value: float
    unit: str
    baseline: float | None
    goal: float
    compared: Literal["ratio", "value", "difference"]
    is_least: bool = False

    @property
    def ratio(self) -> float | None:
        return self.value / self.baseline if self.baseline else None

    @property
    def met(self) -> bool:
        base = self.baseline or 0.0
        found = {"ratio": self.ratio or 0.0, "value": self.value, "difference": self.value - base}[self.compared]
        return found >= self.goal if self.is_least else found <= self.goal

    @property
    def goal_text(self) -> str:
        sign = "≥" if self.is_least else "≤"
        if self.compared == "ratio":
            return f"{sign} {self.goal:.0%} of baseline"
        return f"{sign} {self.goal:g} {self.unit}{' over baseline' if self.compared == 'difference' else ''}"

    def row(self) -> dict[str, Any]:
        found = asdict(self) | {"ratio": self.ratio, "goal": self.goal_text, "met": self.met}
        return {key: found[key] for key in ("name", "value", "unit", "baseline", "ratio", "goal", "met")}


def table(measures: Sequence[Measure]) -> str:
    """The rows as a Markdown table."""
    lines = ["| measure | value | baseline | ratio | goal | met |", "|---|---|---|---|---|---|"]
    for m in measures:
        base = "" if m.baseline is None else f"{m.baseline:,.4g} {m.unit}"
        ratio = "" if m.ratio is None else f"{m.ratio:.2f}"
        lines.append(
            f"| {m.name} | {m.value:,.4g} {m.unit} | {base} | {ratio} | {m.goal_text} | {'yes' if m.met else 'NO'} |"
        )
    return "\n".join(lines)


@contextmanager
def server(latency_s: float = 0.0, module: str = "server") -> Iterator[str]:
    """The address of a local server (bench/server.py, or bench/canned.py), which runs in a process of its own."""
    with subprocess.Popen(
        [sys.executable, "-m", f"bench.{module}", str(latency_s)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate()


def measured(module: str, *words: object) -> dict[str, Any]:
    """What `python -m bench.MODULE WORDS` prints."""
    command = [sys.executable, "-m", f"bench.{module}", *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
