"""A few of the thousand faults of `make test-faults`: real processes, struck at moments that a seed draws."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.engine import Case, Engine, cases
from tests.faults.faults import BEFORE, FAULTS, WRITING
from tests.faults.processes import PROCESSES
from tests.support.kill_budgets import BUDGET_USD, killed_budget

SAMPLE = (
    ("journal", "kill -9", WRITING),
    ("load", "kill -9", WRITING),
    ("load", "the database is cut off", BEFORE),
    ("load", "the database's disk is full", BEFORE),
    ("load", "the disk gives errors as it is written (EIO)", WRITING),
    ("journal", "lines of the journal stand twice", BEFORE),
    ("journal", "bits of the journal are flipped, and the database is gone", BEFORE),
)
SLOW = (
    ("merge", "kill -9", WRITING),
    ("lake", "kill -9", WRITING),
    ("export", "the disk is full", BEFORE),
    ("renewal", "SIGTERM", WRITING),
    ("import", "a folder that can't be written", BEFORE),
    ("fit", "kill -9", WRITING),
    ("seal", "kill -9", WRITING),
    ("seal", "the disk is full", BEFORE),
    ("game", "kill -9", WRITING),
    ("replay", "kill -9", WRITING),
    ("bundle", "kill -9", WRITING),
    ("preregister", "the disk is full", BEFORE),
    ("until-width", "kill -9", WRITING),
    ("recode", "kill -9", WRITING),
    ("journal", "the clock jumps", WRITING),
    ("journal", "the disk gives errors as it is written (EIO)", WRITING),
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(tmp_path_factory.mktemp("faults")) as running:
        yield running


def case(process: str, fault: str, moment: str, seed: int) -> Case:
    [struck], [done] = (
        [row for row in rows if row.name == name]  # type: ignore[attr-defined]
        for rows, name in ((PROCESSES, process), (FAULTS, fault))
    )
    return Case(struck, done, moment, seed)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [*SAMPLE, *(pytest.param(kind, marks=pytest.mark.slow) for kind in SLOW)], ids=lambda kind: ", ".join(kind)
)
def test_nothing_is_lost_doubled_or_left_half_written(kind: tuple[str, str, str], engine: Engine) -> None:
    struck = case(*kind, seed=20261123)
    if struck.fault.lacks:
        pytest.skip(struck.fault.lacks)
    assert engine.suffer(struck) == []


@pytest.mark.slow
def test_killed_runs_are_billed_no_more_than_their_budget(tmp_path: Path) -> None:
    billed = killed_budget(tmp_path, 3, seed=20261126)
    assert billed.traceback == ""
    assert 0 < billed.usd <= BUDGET_USD


@pytest.mark.slow
def test_every_kind_of_fault_is_among_a_thousand() -> None:
    drawn = list(cases(1000, 1))
    assert len(drawn) == 1000
    assert {(c.process.name, c.fault.name, c.moment) for c in drawn} == {
        (name, fault.name, moment)
        for fault in FAULTS
        if not fault.lacks
        for name in fault.processes
        for moment in fault.moments
    }
    assert drawn == list(cases(1000, 1))
