"""The budget's ledger, run by a made-up clock of starts and ends in any order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from slant.collector.ask.lane_money import Ledger

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
