"""What `make test-fresh` says of numbers that differ between versions of R and its packages; none is hidden."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

Numbers = dict[str, dict[str, Any]]  # as tools/measure_numbers.py prints them
N_SHOWN = 5
ROUNDING = 1e-9  # relative; below it two numbers are the same
N_ERRORS = 4  # Monte Carlo errors of a difference, beyond which two posteriors are not the same


def differences(by_suite: dict[str, Numbers]) -> list[str]:
    """Sentences: how far two suites are apart in each kind of number, and the largest differences of all."""
    measured = {suite: numbers for suite, numbers in by_suite.items() if numbers}
    lines = [f"{suite}: no numbers, as a step failed" for suite in by_suite if suite not in measured]
    for first, second in combinations(measured, 2):
        for kind in ("lme4", "effect sizes"):
            lines += of_estimates(f"{first} and {second}, {kind}", measured[first][kind], measured[second][kind])
        lines += of_posteriors(f"{first} and {second}, brms", measured[first]["brms"], measured[second]["brms"])
    return [*lines, *of_print(measured)]


def relative(first: float, second: float) -> float:
    return abs(first - second) / max(abs(first), abs(second), 1e-300)


def of_estimates(what: str, first: dict[str, float], second: dict[str, float]) -> list[str]:
    lines = [f"{what}: only one has {name}" for name in sorted(first.keys() ^ second.keys())]
    apart = sorted(((relative(first[name], second[name]), name) for name in first.keys() & second.keys()), reverse=True)
    differing = [(by, name) for by, name in apart if by > ROUNDING]
    lines.append(f"{what}: {len(apart)} numbers, {len(differing)} differ by more than {ROUNDING:g} of themselves")
    return lines + [f"  {name}: {first[name]!r}, {second[name]!r} (by {by:.1g})" for by, name in differing[:N_SHOWN]]


def of_posteriors(what: str, first: dict[str, list[float]], second: dict[str, list[float]]) -> list[str]:
    apart = []
    for name in first.keys() & second.keys():
        (a, error_a), (b, error_b) = first[name], second[name]
        apart.append((abs(a - b) / math.hypot(error_a, error_b), name))
    apart.sort(reverse=True)
    beyond = [(by, name) for by, name in apart if by > N_ERRORS]
    largest = apart[0][0] if apart else 0.0
    said = f"{what}: {len(apart)} means, the largest difference is {largest:.1f} Monte Carlo errors"
    return [said, *(f"  {name}: {first[name][0]:.4f}, {second[name][0]:.4f} ({by:.1f} errors)" for by, name in beyond)]


def of_print(measured: dict[str, Numbers]) -> list[str]:
    """How many numbers agree with the printed ones, in each table and suite."""
    tables = {suite: numbers["print"] for suite, numbers in measured.items() if "print" in numbers}
    if not tables:
        return ["print: not compared, as the authors' raw data (../shared) are not here"]
    first = next(iter(tables.values()))
    lines = []
    for name in first:
        counts = {suite: tuple(table[name]) for suite, table in tables.items()}
        if len(set(counts.values())) > 1:
            said = ", ".join(f"{suite} {agree} of {data}" for suite, (agree, data) in counts.items())
            lines.append(f"print, table {name}: {said} agree")
    agree, data = (sum(counts[at] for counts in first.values()) for at in (0, 1))
    same = f"print: {agree} of {data} numbers agree in {', '.join(tables)}"
    return lines or [same]
