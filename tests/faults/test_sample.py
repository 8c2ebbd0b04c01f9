"""A few of the thousand faults of `make test-faults`: real processes, struck at moments that a seed draws."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.engine import Case, Engine, cases
from tests.faults.faults import BEFORE, FAULTS, WRITING
from tests.faults.processes import PROCESSES

SAMPLE = (
    ("journal", "kill -9", WRITING),
    ("load", "kill -9", WRITING),
    ("load", "the database is cut off", BEFORE),
    ("load", "the database's disk is full", BEFORE),
)
SLOW = (
    ("merge", "kill -9", WRITING),
    ("lake", "kill -9", WRITING),
    ("export", "the disk is full", BEFORE),
    ("migration", "SIGTERM", WRITING),
    ("import", "a folder that can't be written", BEFORE),
    ("fit", "kill -9", WRITING),
    ("seal", "kill -9", WRITING),
    ("seal", "the disk is full", BEFORE),
    ("game", "kill -9", WRITING),
    ("replay", "kill -9", WRITING),
    ("bundle", "kill -9", WRITING),
    ("preregister", "the disk is full", BEFORE),
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


@pytest.mark.parametrize(
    "kind", [*SAMPLE, *(pytest.param(kind, marks=pytest.mark.slow) for kind in SLOW)], ids=lambda kind: ", ".join(kind)
)
def test_nothing_is_lost_doubled_or_left_half_written(kind: tuple[str, str, str], engine: Engine) -> None:
    struck = case(*kind, seed=20261123)
    if struck.fault.lacks:
        pytest.skip(struck.fault.lacks)
    assert engine.suffer(struck) == []


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
