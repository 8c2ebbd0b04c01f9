"""Read what an answer costs. Prices are data: the user's own, then prices.toml, then those of the package genai-prices.
An unknown price is None, never 0.

Read what a provider says that it charged for an answer, in US dollars. It takes precedence over any price list."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, time
from datetime import date as Date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from slant.collector.errors import UsageError
from slant.collector.providers.exchange import amount, count
from slant.collector.providers.own_providers import provider_file, table_in, tables_of
from slant.collector.records import PriceSource, Reply
from slant.collector.study.toml_table import Table

TICKS = 10**10  # of one US dollar, in xAI's `cost_in_usd_ticks`


def stated_charges(usage: Any) -> dict[str, Any]:
    """Return the charge that `usage` states, by the names of Reply; empty if it states none.

    OpenRouter and others give `cost`, Perplexity a table of its parts, xAI ticks. With the user's own key (`is_byok`)
    OpenRouter charges only its fee, and separately says what the other provider charges.
    """
    if not isinstance(usage, dict) or ("cost" not in usage and "cost_in_usd_ticks" not in usage):
        return {}  # nearly always
    cost = usage.get("cost")
    if cost is None:
        ticks = count(usage, "cost_in_usd_ticks")
        return {} if ticks is None else {"stated_cost_usd": ticks / TICKS}
    stated = amount(cost, "total_cost") if isinstance(cost, Mapping) else amount(usage, "cost")
    if stated is None:
        return {}
    if usage.get("is_byok") is not True:
        return {"stated_cost_usd": stated}
    upstream = amount(usage, "cost_details", "upstream_inference_cost")
    return {} if upstream is None else {"stated_cost_usd": stated, "upstream_cost_usd": upstream}


# what slant calls a provider, as the package calls it; DashScope (qwen) is not in it
_IDS = {
    "openai": "openai", "openai-responses": "openai", "anthropic": "anthropic", "gemini": "google",
    "deepseek": "deepseek", "together": "together", "openrouter": "openrouter", "xai": "x-ai", "mistral": "mistral",
    "groq": "groq", "fireworks": "fireworks", "cerebras": "cerebras", "azure": "azure",
}  # fmt: skip
_DATE = re.compile(r"\b20\d\d-[01]\d-[0-3]\d\b")
PER_TOKENS = 1_000_000
HOUR_BY_MINUTES = 2.0 / 1.25  # Anthropic: an hour of cache costs 2 times the input, five minutes 1.25 times
_SHIPPED = Path(__file__).with_name("prices.toml")
_SAME_PRICES = {"openai-responses": "openai"}
_SNAPSHOT = re.compile(r"-(20\d\d-?[01]\d-?[0-3]\d|latest)$")


@dataclass(frozen=True, slots=True)
class Price:
    """Hold US dollars per million tokens of one model, as of `date`; None if the page says nothing."""

    provider: str
    model: str
    input: float
    output: float
    cached_input: float | None
    cache_write: float | None
    batch_factor: float | None
    date: str
    source: str
    cache_write_1h: float | None = None

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


class PriceList:
    """Hold prices by provider and model. If two rows are for one model, the later one wins; the package genai-prices
    may know prices that no row has."""

    def __init__(self, prices: Iterable[Price]) -> None:
        self._prices: dict[tuple[str, str], Price | None] = {(price.provider, price.model): price for price in prices}

    def __iter__(self) -> Any:
        return iter([price for price in self._prices.values() if price is not None])

    def find(self, provider: str, model: str) -> Price | None:
        """Return a model's price by the requested name; a dated snapshot has the price of its model unless it
        has its own.
        """
        for priced_as in (provider, _SAME_PRICES.get(provider, provider)):
            for name in (model, _SNAPSHOT.sub("", model)):
                if price := self._prices.get((priced_as, name)):
                    return price
        if (provider, model) not in self._prices:
            self._prices[provider, model] = packaged_price(provider, model)
        return self._prices[provider, model]


def load_prices(user_file: str | Path | None = None) -> PriceList:
    """Return slant's prices, overridden by the user's: those of the provider file, then `user_file`, else SLANT_PRICES,
    else ~/.config/slant/prices.toml.

    Raise UsageError if a file can't be read, or was named and does not exist.
    """
    name = user_file or os.environ.get("SLANT_PRICES")
    named = Path(name) if name else None
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    own = named or config / "slant" / "prices.toml"
    rows = read_prices(_SHIPPED)
    if (own_providers_file := provider_file()) is not None:
        rows += [_price(row) for row in tables_of(own_providers_file).rows("prices")]
    if named or own.is_file():
        rows += read_prices(own)
    return PriceList(rows)


def read_prices(file: Path) -> list[Price]:
    """Return the rows of one file of prices; UsageError names the row that breaks the rules."""
    table = table_in(file, "prices")
    prices = [_price(row) for row in table.rows("prices")]
    table.finish()
    return prices


def _price(row: Table) -> Price:
    date = row.optional("date", (Date,), "a date, as in 2026-05-06")
    price = Price(
        row.text("provider"),
        row.text("model"),
        _needed(row, "input"),
        _needed(row, "output"),
        _amount(row, "cached_input"),
        _amount(row, "cache_write"),
        _amount(row, "batch_factor"),
        str(date),
        row.text("source", ""),
        _amount(row, "cache_write_1h"),
    )
    if date is None:
        raise UsageError(f'The price of {price.provider}/{price.model} in {row.where} has no "date", as in 2026-05-06.')
    row.finish()
    return price


def _needed(row: Table, key: str) -> float:
    value = _amount(row, key)
    if value is None:
        raise UsageError(f'{row.where} has no "{key}" (US dollars for a million tokens).')
    return value


def _amount(row: Table, key: str) -> float | None:
    value = row.optional(key, (int, float), "a number of US dollars")
    if value is not None and (isinstance(value, bool) or not 0 <= value < 1e6):
        raise UsageError(f'"{key}" of {row.where} must be a number that is not negative, but it is {value}.')
    return None if value is None else float(value)


def cost_usd(price: Price | None, reply: Reply, *, is_batch: bool = False) -> float | None:
    """Return the cost of a reply, in US dollars: its provider's own charge, otherwise by the price list.

    None if the price or a count is unknown, or there are no such batches.
    """
    if reply.stated_cost_usd is not None:
        return reply.stated_cost_usd + (reply.upstream_cost_usd or 0.0)
    if price is None or reply.input_tokens is None or reply.output_tokens is None:
        return None
    factor = price.batch_factor if is_batch else _tier_factor(price, reply.service_tier)
    if factor is None:
        return None
    cached, written = reply.cached_input_tokens or 0, reply.cache_write_tokens or 0
    for_an_hour = min(reply.cache_write_1h_tokens or 0, written)
    plain = max(0, reply.input_tokens - cached - written)
    write_price = _or(price.cache_write, price.input)
    dollars = (
        plain * price.input
        + cached * _or(price.cached_input, price.input)
        + (written - for_an_hour) * write_price
        + for_an_hour * _or(price.cache_write_1h, write_price * HOUR_BY_MINUTES)
        + reply.output_tokens * price.output
    )
    return factor * dollars / PER_TOKENS


def _tier_factor(price: Price, tier: str | None) -> float | None:
    """Return the factor on the price list's prices in a service tier: OpenAI's flex costs what its batches do; other
    tiers with another price are unknown."""
    is_openai = price.provider in ("openai", "openai-responses", "azure")
    if tier == "flex":
        return price.batch_factor if is_openai else None
    return None if tier == "priority" and is_openai else 1.0


def price_source(cost: float | None, reply: Reply) -> PriceSource | None:
    """Return the source of the cost of a reply: its provider, or the price list; None if it has none."""
    if cost is None:
        return None
    return "list" if reply.stated_cost_usd is None else "provider"


def _or(own: float | None, otherwise: float) -> float:
    return otherwise if own is None else own


def packaged_price(provider: str, model: str, at: datetime | None = None) -> Price | None:
    """Return a model's price at this time (default: now) from the package genai-prices, which is updated from the
    providers' own price pages; None if it knows no such model or no price. If a price depends on the hour, return the
    highest: a budget must hold at any hour. It is for prompts below the length at which they cost more.

    It is imported only if a price is needed that no file has: loading its data takes about a second.
    """
    if provider not in _IDS:
        return None
    listed = _providers()[_IDS[provider]]
    found = listed.find_model(model.lower())
    if found is None:
        return None
    day = at or datetime.now(UTC)
    hours = [datetime.combine(day, time(hour, 30, tzinfo=UTC)) for hour in range(24)]
    dearest = max(hours, key=lambda hour: _dollars(found.get_prices(hour), "output_mtok") or 0.0)
    price = found.get_prices(dearest)
    input_price, output = _dollars(price, "input_mtok"), _dollars(price, "output_mtok")
    if input_price is None or output is None:
        return None
    cached_input, cache_write = _dollars(price, "cache_read_mtok"), _dollars(price, "cache_write_mtok")
    factor = _batch_factor(found, dearest, input_price, output)
    source = f"the package genai-prices {version('genai-prices')}"
    return Price(provider, model, input_price, output, cached_input, cache_write, factor, packaged_date(), source)


def _batch_factor(found: Any, at: datetime, input_price: float, output: float) -> float | None:
    """Return the factor for a batch job; None if the package names no price for batches, or not the same factor for
    all prices.
    """
    # from the circumstances that the package prices separately: {"service_tier": "batch"}
    variants = found.price_variants or ()
    for context in [
        variant.when for variant in variants if any("batch" in f"{k} {v}" for k, v in variant.when.items())
    ]:
        price = found.get_prices(at, context)
        factors = {
            round(part / whole, 6)
            for part, whole in ((_dollars(price, "input_mtok"), input_price), (_dollars(price, "output_mtok"), output))
            if part is not None and whole
        }
        if len(factors) == 1:
            return factors.pop()
    return None


def _dollars(price: Any, name: str) -> float | None:
    value = getattr(price, name, None)
    value = getattr(value, "base", value)  # the first of several tiers
    return None if value is None else float(value)


@functools.cache
def _providers() -> dict[str, Any]:
    from genai_prices.data import providers

    return {listed.id: listed for listed in providers}


@functools.cache
def packaged_date() -> str:
    """Return the newest day, up to today, on which a price of the package was looked up or began: the package has no
    date itself.
    """
    today = datetime.now(UTC).date().isoformat()
    texts = (
        f"{listed.price_comments} {' '.join(str(model.price_comments) for model in listed.models)}"
        for listed in _providers().values()
    )
    return max((day for text in texts for day in _DATE.findall(text) if day <= today), default=today)
