"""What requests in flight may cost lies on disk: a run that was killed leaves it to the budget of the next one."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path

import pytest

from slant.collector.ask.lane_money import BudgetReached, LaneMoney, Ledger
from slant.collector.errors import JournalError
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.reserved_money import KEPT_S, ReservedMoney, left_files, left_usd
from slant.collector.providers.prices import Price


@pytest.fixture
def db(tmp_path: Path) -> Path:
    journal_folder(tmp_path / "a.duckdb").mkdir()
    return tmp_path / "a.duckdb"


def in_flight(db: Path, usd: float) -> ReservedMoney:
    money = ReservedMoney(journal_folder(db), "run-1", "drinks")
    asyncio.run(money.cover(usd))
    return money


def test_what_was_in_flight_when_a_run_was_killed_counts_for_its_study_alone(db: Path) -> None:
    money = in_flight(db, 1.5)
    assert left_usd(db, "drinks") == 0  # that run still goes
    money.close(is_settled=False)
    assert left_usd(db, "drinks") == 1.5
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


def test_what_is_on_disk_is_what_is_in_flight_and_never_less(db: Path) -> None:
    async def sent_and_answered() -> list[tuple[float, float]]:
        money, in_flight_usd, seen = ReservedMoney(journal_folder(db), "run-1", "drinks"), 0.0, []
        for change in (2.0, 0.5, -0.5, -1.5, 0.1, 1.0, -1.6, 0.05):
            in_flight_usd += change
            if change > 0:
                await money.cover(in_flight_usd)
            else:
                money.settled(in_flight_usd)
                await asyncio.sleep(0.05)
            seen.append((in_flight_usd, json.loads(next(journal_folder(db).iterdir()).read_bytes())["usd"]))
        await money.idle()
        money.close(is_settled=False)
        return seen

    seen = asyncio.run(sent_and_answered())
    assert all(in_flight_usd <= usd <= max(2 * in_flight_usd, 1e-9) + 1e-9 for in_flight_usd, usd in seen), seen


def test_a_budget_without_room_names_the_file_that_a_killed_run_left(db: Path) -> None:
    in_flight(db, 1.5).close(is_settled=False)
    ledger = Ledger(2.0, uncertain_usd=1.5, left=left_files(db, "drinks"))
    money = LaneMoney(Price("openai", "m", 1.0, 1_000_000.0, None, None, None, "", ""), ledger)
    with pytest.raises(BudgetReached, match=r"\$1\.5000 of it was in flight .* delete .*run-1\.reserved to release it"):
        asyncio.run(money.reserve({"max_tokens": 10}, asyncio.Event(), lambda: False))
