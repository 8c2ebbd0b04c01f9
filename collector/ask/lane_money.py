"""Track the money of one model in one run: what answers cost, and what is reserved for those in flight.

The budget is a ledger: before a request goes out, the most that it can cost is reserved; when its answer arrives, the
reserve is released and the cost is booked. So the cap is exceeded only by as much as a reserve was too small. It uses
no clock and no network.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slant.collector.ask.pace import sleep_unless
from slant.collector.ask.retries import true_status
from slant.collector.ask.run_warnings import limit_at
from slant.collector.providers import Dialect
from slant.collector.providers.exchange import Exchange, request_id
from slant.collector.providers.prices import PER_TOKENS, Price, cost_usd
from slant.collector.records import Outcome, Reply

ROUNDING_USD = 1e-9  # thousands of sums of floats: a cap of 0.08 must hold eight times 0.01


@dataclass
class Ledger:
    """Hold the money of one run, in US dollars. `spent_usd` begins with the study's cost so far; no cap if `cap_usd` is
    None.

    `uncertain_usd` is what requests may have cost that ended without an answer (a time-out, a lost batch job), gave no
    counts, or had no price then; `promised_usd` is what open batch jobs may cost. The provider may bill both, so they
    count against the cap. `shared_by`: how many processes share the budget; the cap is then where this one stops.
    `left`: files of killed runs, and what of `uncertain_usd` each reserves.
    """

    cap_usd: float | None = None
    spent_usd: float = 0.0
    uncertain_usd: float = 0.0
    promised_usd: float = 0.0
    shared_by: int = 1
    left: Mapping[Path, float] = field(default_factory=dict)
    reserved_usd: float = 0.0
    in_flight: int = 0

    @property
    def booked_usd(self) -> float:
        return self.spent_usd + self.uncertain_usd + self.promised_usd

    def is_hopeless(self, amount_usd: float) -> bool:
        """Return True if `amount_usd` does not fit even when nothing is in flight any more: spending only grows."""
        return self.cap_usd is not None and self.booked_usd + amount_usd > self.cap_usd + ROUNDING_USD

    def has_room(self, amount_usd: float) -> bool:
        """Return True if `amount_usd` fits now."""
        taken = self.booked_usd + self.reserved_usd + amount_usd
        return self.cap_usd is None or taken <= self.cap_usd + ROUNDING_USD

    def reserve(self, amount_usd: float) -> bool:
        """Set `amount_usd` aside and return True, or return False if it does not fit now."""
        if not self.has_room(amount_usd):
            return False
        self.reserved_usd += amount_usd
        self.in_flight += 1
        return True

    def settle(self, reserved_usd: float, cost_usd: float | None, *, is_uncertain: bool = False) -> None:
        """End a reservation. An unknown cost is booked as the full reserve if it may have been billed."""
        self.in_flight -= 1
        self.reserved_usd = self.reserved_usd - reserved_usd if self.in_flight else 0.0
        if cost_usd is not None:
            self.spent_usd += cost_usd
        elif is_uncertain:
            self.uncertain_usd += reserved_usd


ASSUMED_MAX_OUTPUT_TOKENS = 16_000  # until enough answers are seen, for a model whose request sets no limit
ENOUGH_ANSWERS = 30
MARGIN = 2.0  # times the longest answer seen: lengths of reasoning have a long tail
LOOK_AGAIN_S = 0.05
UNCERTAIN = "requests that were interrupted, lost, or answered without counts or a price"
_USAGE = {"usage", "usageMetadata"}
_BILLED = (
    *("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens", "cache_write_1h_tokens"),
    *("reasoning_tokens", "count_conflict", "stated_cost_usd", "upstream_cost_usd", "service_tier"),
)
_LIMITS = (
    ("max_completion_tokens",), ("max_output_tokens",), ("max_tokens",),
    ("generationConfig", "maxOutputTokens"), ("options", "num_predict"),
)  # fmt: skip


@dataclass
class LaneMoney:
    """Hold the money of one lane, in US dollars. `seen` and `longest` describe answers of this model, earlier ones
    included; `n_unknown` requests of this run may have an unknown cost."""

    price: Price | None = None
    ledger: Ledger = field(default_factory=Ledger)
    seen: int = 0
    longest: int = 0
    spent_usd: float = 0.0
    n_unknown: int = 0

    def reserve_usd(self, body: Mapping[str, Any]) -> float:
        """Return the highest expected cost of this request; an upper bound if the request limits its answer.
        0 if there is no budget to keep."""
        return 0.0 if self.ledger.cap_usd is None else self.max_usd(body)

    def max_usd(self, body: Mapping[str, Any]) -> float:
        """Return reserve_usd() with or without a budget; 0 if no price is known."""
        if self.price is None:
            return 0.0
        sent = len(str(body).encode("utf-8", "replace"))  # a token is at least a byte
        output = limit_at(_LIMITS, body)
        if output is None:
            unseen = max(0.0, 1 - self.seen / ENOUGH_ANSWERS)  # each answer says a little more about how long they get
            output = round(max(unseen * ASSUMED_MAX_OUTPUT_TOKENS, MARGIN * self.longest))
        input_price = max(self.price.input, self.price.cache_write or 0.0)
        return (sent * input_price + output * self.price.output) / PER_TOKENS

    async def reserve(
        self, body: Mapping[str, Any], stopping: asyncio.Event, is_over: Callable[[], bool]
    ) -> float | None:
        """Reserve the cost of a request, in US dollars; wait for those in flight if that frees enough.

        Raise BudgetReached if the budget has no room for it; return None and reserve nothing if the run is stopping.
        """
        while not (stopping.is_set() or is_over()):
            amount = self.reserve_usd(body)
            if self.ledger.reserve(amount):
                return amount
            if self.ledger.is_hopeless(amount):
                raise BudgetReached(self._sentence(amount))
            await sleep_unless(stopping, LOOK_AGAIN_S)
        return None

    def settle(self, reserved_usd: float, exchange: Exchange, reply: Reply, *, is_read: bool = False) -> float | None:
        """Book what an exchange cost and return it, in US dollars; None if that is unknown. `is_read`: it is known to
        have been an answer."""
        cost = cost_usd(self.price, reply)
        is_uncertain = cost is None and (is_read or may_be_billed(exchange))
        self.ledger.settle(reserved_usd, cost, is_uncertain=is_uncertain)
        if reply.output_tokens is not None:
            self.seen += 1
            self.longest = max(self.longest, reply.output_tokens)
        if cost is not None:
            self.spent_usd += cost
        elif is_uncertain:
            self.n_unknown += 1
        return cost

    def _sentence(self, amount_usd: float) -> str:
        ledger = self.ledger
        unsure = f" and up to ${ledger.uncertain_usd:,.4f} for {UNCERTAIN}" if ledger.uncertain_usd else ""
        unsure += f" and up to ${ledger.promised_usd:,.4f} for open batch jobs" if ledger.promised_usd else ""
        if ledger.left:
            names = ", ".join(map(str, ledger.left))
            unsure += (
                f" (${sum(ledger.left.values()):,.4f} of it was in flight when a run was killed; if the provider's "
                f"bill shows that it was less, delete {names} to release it)"
            )
        cap, more = f"the budget of ${_amount(ledger.cap_usd)}", ""
        if ledger.shared_by > 1:
            cap = f"the share of one of {ledger.shared_by} processes, up to ${_amount(ledger.cap_usd)} of the budget,"
            more = ", or fewer --processes"
        return (
            f"{cap} can't cover one more request, which may cost ${amount_usd:,.4f}: "
            f"${ledger.spent_usd:,.4f} is spent{unsure}. To continue: a higher --budget{more}"
        )


def _amount(usd: float | None) -> str:
    """Return a budget as it was typed, with at least two decimals."""
    return f"{usd or 0.0:,.{2 if round(usd or 0.0, 2) == usd else 4}f}"


class BudgetReached(Exception):
    """Say why the budget has no room for another request of this model."""


def unanswered(dialect: Dialect, exchange: Exchange, outcome: Outcome, reason: str) -> Reply:
    """Return the reply of an unanswered exchange. If its body has counts anyway, they are billed."""
    body = exchange.json() if exchange.body else None
    counts = dialect.reply(body, exchange.headers) if body and _USAGE & body.keys() else Reply()
    billed: dict[str, Any] = {name: getattr(counts, name) for name in _BILLED}
    return Reply(outcome=outcome, detail=reason, request_id=request_id(exchange.headers, body), **billed)


NOT_SENT = ("ClientConnector", "ClientProxyConnectionError", "ClientHttpProxyError", "no connection within")
"""List how the client's errors begin if there was no connection to send anything over."""


def may_be_billed(exchange: Exchange) -> bool:
    """Return True if a request reached its server and no answer says what it cost; an HTTP error is not billed, nor is
    one that a gateway puts into a 200.
    """
    if exchange.status is None:
        return not (exchange.error or "").startswith(NOT_SENT)
    return exchange.status == 200 and not 400 <= true_status(200, exchange.json()) < 500
