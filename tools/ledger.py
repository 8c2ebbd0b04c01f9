"""What tests wrote down: what each file cost (tests/support/ledger.py), shown, kept, judged; how many passed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median

LOOP_MS = 5.0  # of the fixed loop on the idle machine for which the limits were set
DEAR_S, TOO_DEAR_S = 10.0, 20.0
NOISE = 1.5  # times what a file takes that a run may measure: R is not the loop, and others use the machine
# What may come on top of it: a machine's first Bayesian fit compiles its model, some 40 s (with the Stan of Debian 13
# some 100), which no loop of Python scales; two files make a whole report, 46 calls of R and 160 of views, which is
# dearer if it is a process's first.
MORE_S = {
    "tests/analysis/test_bayes.py": 200.0,
    "tests/analysis/test_report.py": 15.0,
    "tests/project/test_readme_study.py": 15.0,
}
N_SHOWN = 20


@dataclass(frozen=True)
class Cost:
    """Of one file: processor seconds, those on a machine whose loop takes LOOP_MS, seconds by the clock."""

    file: str
    processor_s: float
    scaled_s: float
    wall_s: float


def costs_of(ledger: Path) -> tuple[list[Cost], float]:
    """The dearest first; and how many times as long as LOOP_MS the loop took in the middle of the run."""
    lines = [line.split("\t") for line in ledger.read_text("utf-8").splitlines()] if ledger.exists() else []
    loops = [float(loop) for *_, loop in lines if loop]
    speed = median(loops) / LOOP_MS if loops else 1.0
    sums: dict[str, tuple[float, float]] = {}
    for file, processor_s, wall_s, _ in lines:
        before = sums.get(file, (0.0, 0.0))
        sums[file] = before[0] + float(processor_s), before[1] + float(wall_s)
    costs = [Cost(file, used, used / speed, wall) for file, (used, wall) in sums.items()]
    return sorted(costs, key=lambda cost: -cost.processor_s), speed


def keep_table(costs: list[Cost], table: Path) -> None:
    table.parent.mkdir(exist_ok=True)
    rows = [f"{cost.file}\t{cost.processor_s:.2f}\t{cost.scaled_s:.2f}\t{cost.wall_s:.2f}\n" for cost in costs]
    table.write_text("file\tprocessor_s\tscaled_s\twall_s\n" + "".join(rows), "utf-8")


def shown(costs: list[Cost], speed: float) -> str:
    used = sum(cost.processor_s for cost in costs)
    lines = [f"{len(costs)} files took {used:.0f} processor seconds (the fixed loop: {speed:.2f} of its usual time);"]
    lines += [f"the dearest {min(N_SHOWN, len(costs))}, with all others in .ledger/:", "processor   clock  file"]
    lines += [f"{cost.processor_s:9.1f} {cost.wall_s:7.1f}  {cost.file}" for cost in costs[:N_SHOWN]]
    return "\n".join(lines)


def too_dear(costs: list[Cost]) -> str:
    """Which files have to give tests to the full suite; empty if none has. Warns of those that may have to soon."""
    dear = [cost for cost in costs if cost.scaled_s > NOISE * (TOO_DEAR_S + MORE_S.get(cost.file, 0.0))]
    for cost in costs:
        if cost.scaled_s > DEAR_S and cost not in dear:
            limit = TOO_DEAR_S if cost.scaled_s > TOO_DEAR_S else DEAR_S
            print(f"warning: {cost.file} takes {cost.scaled_s:.0f} s of a processor, more than {limit:.0f}")
    return "\n".join(
        f"{cost.file} takes {cost.scaled_s:.0f} s of a processor; at most {TOO_DEAR_S:.0f}: make its tests share what "
        "they need, or mark the dearest @pytest.mark.slow (R: test_in_full()) where a quicker one of it stays"
        for cost in dear
    )


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
