"""What requests in flight may cost lies on disk: a run that was killed leaves it to the budget of the next one. The
budget's ledger is run by a made-up clock of starts and ends in any order."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


# a request: what is reserved for it, what it costs in the end (None: it broke off), and which one in flight ends before
amounts = st.integers(0, 1000).map(lambda cents: cents / 100)
requests = st.lists(st.tuples(amounts, st.none() | amounts, st.integers(0, 5)), max_size=60)


@given(st.integers(0, 5000).map(lambda cents: cents / 100), requests)
def test_the_cap_is_passed_by_no_more_than_the_reserves_were_too_small(
    cap: float, asked: list[tuple[float, float | None, int]]
) -> None:
    ledger = Ledger(cap)
    in_flight: list[tuple[float, float | None]] = []
    too_small = billed = 0.0
    for reserve, cost, ending in [*asked, *[(cap + 1, 0.0, 0)] * len(asked)]:
        if in_flight and ending < len(in_flight):
            reserved, actual = in_flight.pop(ending)
            ledger.settle(reserved, actual, is_uncertain=True)
            billed += actual if actual is not None else reserved
            too_small += max(0.0, (actual or 0.0) - reserved)
        if ledger.reserve(reserve):
            in_flight.append((reserve, cost))
        # what is booked and reserved stays below the cap at every moment, but for what costs went over their reserve
        assert ledger.booked_usd + ledger.reserved_usd <= cap + too_small + 1e-6
        assert abs(ledger.booked_usd - billed) < 1e-6
        assert abs(ledger.reserved_usd - sum(reserved for reserved, _ in in_flight)) < 1e-6


@given(requests)
def test_without_a_cap_everything_fits_and_is_counted(asked: list[tuple[float, float | None, int]]) -> None:
    ledger = Ledger()
    for reserve, cost, _ in asked:
        assert ledger.reserve(reserve)
        ledger.settle(reserve, cost)
    assert abs(ledger.spent_usd - sum(cost or 0.0 for _, cost, _ in asked)) < 1e-6
    assert ledger.reserved_usd == 0


def test_a_sum_of_many_small_costs_fits_a_cap_of_just_that_much() -> None:
    ledger = Ledger(0.8)
    for _ in range(8):
        assert ledger.reserve(0.1)
        ledger.settle(0.1, 0.1)
    assert not ledger.reserve(0.1)
    assert ledger.is_hopeless(0.1)


def test_what_an_http_error_had_reserved_is_given_back_and_what_broke_off_is_not() -> None:
    ledger = Ledger(1.0)
    ledger.reserve(0.4)
    ledger.settle(0.4, None)
    assert ledger.booked_usd == 0
    ledger.reserve(0.4)
    ledger.settle(0.4, None, is_uncertain=True)
    assert (ledger.spent_usd, ledger.uncertain_usd) == (0, 0.4)
