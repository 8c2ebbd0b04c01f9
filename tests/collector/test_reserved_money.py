"""What requests in flight may cost lies on disk: a run that was killed leaves it to the budget of the next one."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from slant.collector.errors import JournalError
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.reserved_money import KEPT_S, ReservedMoney, left_usd


@pytest.fixture
def db(tmp_path: Path) -> Path:
    journal_folder(tmp_path / "a.duckdb").mkdir()
    return tmp_path / "a.duckdb"


def in_flight(db: Path, usd: float) -> ReservedMoney:
    money = ReservedMoney(journal_folder(db), "run-1", "drinks")
    asyncio.run(money.cover(usd, 2.0))
    return money


def test_what_was_in_flight_when_a_run_was_killed_counts_for_its_study_alone(db: Path) -> None:
    money = in_flight(db, 1.5)
    assert left_usd(db, "drinks") == 0  # that run still goes
    money.close(is_settled=False)
    assert 1.5 <= left_usd(db, "drinks") <= 2.0
    assert left_usd(db, "other") == 0


def test_a_run_that_ended_in_order_leaves_nothing(db: Path) -> None:
    in_flight(db, 1.5).close(is_settled=True)
    assert left_usd(db, "drinks") == 0
    assert list(journal_folder(db).iterdir()) == []


def test_after_thirty_days_nobody_is_billed_for_it_any_more(db: Path) -> None:
    in_flight(db, 1.5).close(is_settled=False)
    (file,) = journal_folder(db).iterdir()
    os.utime(file, (time.time(), time.time() - KEPT_S - 60))
    assert left_usd(db, "drinks") == 0


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"study": "drinks"}', b'{"study": "drinks", "usd": "x"}', b"\0" * 512]
)
def test_a_damaged_note_is_an_error_and_never_no_money(content: bytes, db: Path) -> None:
    (journal_folder(db) / "run-1.reserved").write_bytes(content)
    with pytest.raises(JournalError, match="what requests of a killed run may have cost"):
        left_usd(db, "drinks")
