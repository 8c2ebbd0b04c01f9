"""Share whole conversations of a plan out among collectors, evenly over tests and conditions.

The conversations of each cell (test and condition) are dealt out in the order of the plan, one to each shard in turn.
So a shard is itself a plan with the same order, seed and positions; shards share nothing, and together they are the
whole. Shard s of n consists of the shards s, s + n, s + 2n … of a multiple of n.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate, islice

from slant.collector.designs.study import Study
from slant.collector.errors import UsageError
from slant.collector.study.records import StudyModel

MAX_SHARDS = 10_000


@dataclass(frozen=True)
class Shard:
    """Name one of `of` parts of a plan; `number` counts from 1."""

    number: int
    of: int

    def __post_init__(self) -> None:
        if not (1 <= self.number <= self.of <= MAX_SHARDS):
            raise UsageError(
                f'There is no shard "{self}".',
                f"It must be K/N with K from 1 to N, and N from 1 to {MAX_SHARDS:,}: the second of eight is 2/8.",
            )

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def read(cls, text: str | tuple[int, int]) -> Shard:
        """Read "2/8", or (2, 8); UsageError if that is not a shard."""
        if not isinstance(text, str):
            return cls(*text)
        if not (match := re.fullmatch(r"(\d{1,6})/(\d{1,6})", text.strip())):
            raise UsageError(f'"{text}" is no shard.', "It must be K/N: the second of eight is 2/8.")
        return cls(int(match[1]), int(match[2]))

    def part(self, number: int, of: int) -> Shard:
        """Return one of `of` equal parts of this shard, itself a shard of the plan."""
        return Shard(self.number + (number - 1) * self.of, self.of * of)


@dataclass(frozen=True)
class Share:
    """Hold a shard's part of a model's plan: `trials` of them, by test in `tests`; `others` has one byte for
    each conversation of the plan, 1 if it belongs to another shard (empty: none does)."""

    trials: int
    others: bytes = b""
    tests: Mapping[str, int] = field(default_factory=dict)


def share_of(study: Study, model: StudyModel, seed: int, repetitions: int, shard: Shard) -> Share:
    """Return the share of a shard. A million conversations take about two seconds."""
    plan = study.design.asks.plan(study, model, seed)
    n_turns = 1 if plan.mixes_tests else max(map(plan.n_trials, islice(plan.places(1), 1)), default=1)
    starts = _starts(study, repetitions, n_turns)
    met: Counter[tuple[str, str]] = Counter()
    others, trials = bytearray(), Counter[str]()
    for place in plan.places(repetitions):
        cell = plan.cell(place)
        is_other = (starts.get(cell[0], 0) + met[cell]) % shard.of != shard.number - 1
        met[cell] += 1
        others.append(is_other)
        if not is_other:
            trials[cell[0]] += plan.n_trials(place)
    tests = _of_games(study, repetitions, others) if plan.mixes_tests else trials
    return Share(trials.total(), bytes(others), dict(tests))


def _of_games(study: Study, repetitions: int, others: bytes | bytearray) -> dict[str, int]:
    """Return the trials of games by test; each game has the same number."""
    n_mine = others.count(0)
    return {test.test: test.planned * repetitions * n_mine // max(1, len(others)) for test in study.tests}


def _starts(study: Study, repetitions: int, n_turns: int) -> dict[str, int]:
    """Return the first shard of each test: after the last one of the test before, or the first
    shards would be the largest. It is the same in all conditions of a test, so that a pair of conditions stays
    together. `n_turns`: turns of each conversation, which is never cut."""
    n_conditions = max(1, len(study.conditions))
    sizes = [test.planned * repetitions // n_conditions // n_turns for test in study.tests]
    return {test.test: start for test, start in zip(study.tests, accumulate(sizes, initial=0), strict=False)}
