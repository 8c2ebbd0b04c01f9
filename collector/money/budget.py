"""What a run may spend: the ledger with what the study has cost before, and the money of each model."""

from __future__ import annotations

from collections.abc import Iterable

from collector.errors import UsageError
from collector.money.earlier import earlier_sizes, spent_before_usd
from collector.money.lane import LaneMoney
from collector.money.ledger import Ledger
from collector.money.prices import Price
from collector.offer import Asked, Offer


def price_of(offer: Offer, asked: Asked) -> Price | None:
    return offer.prices.find(asked.provider.name, asked.model.requested_model)


def open_ledger(offer: Offer, budget_usd: float | None) -> Ledger:
    """The cap is for the study in this database, all its runs together: whoever starts again after a stop must not
    spend it twice. UsageError for a budget that can't be kept, as there is no price."""
    if budget_usd is None:
        return Ledger()
    if budget_usd <= 0:
        raise UsageError(f"--budget must be more than 0 US dollars, not {budget_usd:g}.")
    unpriced = [one for one in offer.paid if price_of(offer, one) is None]
    if unpriced:
        names = ", ".join(f"{one.provider.name}/{one.model.requested_model}" for one in unpriced)
        raise UsageError(
            f"Can't keep a budget: no price is known for {names}.",
            "Give one: --prices FILE (collector/money/prices.toml shows how).",
        )
    return Ledger(budget_usd, spent_usd=spent_before_usd(offer.db, offer.study.name))


def lane_money(offer: Offer, asked: Asked, ledger: Ledger) -> LaneMoney:
    """A model's money. With a budget, its earlier answers say how much one may cost."""
    price = price_of(offer, asked)
    sizes = earlier_sizes(offer.db, offer.study, asked.model) if price and ledger.cap_usd is not None else None
    if sizes is None:
        return LaneMoney(price, ledger)
    return LaneMoney(price, ledger, seen=sizes.n_counted, longest=sizes.max_output_tokens or 0)


def spent_usd(moneys: Iterable[LaneMoney]) -> float | None:
    """What these models cost in this run, in US dollars; None where no cost is known."""
    priced = [money.spent_usd for money in moneys if money.price is not None]
    return sum(priced) if priced else None
