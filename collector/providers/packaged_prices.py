"""Read prices from the package genai-prices, which is kept up to date from the providers' own price pages. What it does
not know stays unknown.

It is imported only if a price is needed that no file has: loading its data takes about a second.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time
from importlib.metadata import version
from typing import Any

# what slant calls a provider, as the package calls it; DashScope (qwen) is not in it
_IDS = {
    "openai": "openai", "openai-responses": "openai", "anthropic": "anthropic", "gemini": "google",
    "deepseek": "deepseek", "together": "together", "openrouter": "openrouter", "xai": "x-ai", "mistral": "mistral",
    "groq": "groq", "fireworks": "fireworks", "cerebras": "cerebras", "azure": "azure",
}  # fmt: skip
_DATE = re.compile(r"\b20\d\d-[01]\d-[0-3]\d\b")


@dataclass(frozen=True, slots=True)
class PackagedPrice:
    """Hold US dollars per million tokens, for prompts below the length at which they cost more."""

    input: float
    output: float
    cached_input: float | None
    cache_write: float | None
    batch_factor: float | None


def packaged_price(provider: str, model: str, at: datetime | None = None) -> PackagedPrice | None:
    """Return what the package says about a model at this time (default: now); None if it knows no such model or no
    price. If a price depends on the hour, return the highest: a budget must hold at any hour.
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
    return PackagedPrice(
        input_price,
        output,
        _dollars(price, "cache_read_mtok"),
        _dollars(price, "cache_write_mtok"),
        _batch_factor(found, dearest, input_price, output),
    )


def _batch_factor(found: Any, at: datetime, input_price: float, output: float) -> float | None:
    """Return the factor for a batch job; None if the package names no price for batches, or not the same factor for
    all prices.
    """
    for context in _context_of_batches(found):
        price = found.get_prices(at, context)
        factors = {
            round(part / whole, 6)
            for part, whole in ((_dollars(price, "input_mtok"), input_price), (_dollars(price, "output_mtok"), output))
            if part is not None and whole
        }
        if len(factors) == 1:
            return factors.pop()
    return None


def _context_of_batches(found: Any) -> list[Mapping[str, str]]:
    """Return, from the circumstances that the package prices separately, those of batches: {"service_tier":
    "batch"}."""
    variants = found.price_variants or ()
    return [variant.when for variant in variants if any("batch" in f"{k} {v}" for k, v in variant.when.items())]


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


@functools.cache
def packaged_source() -> str:
    return f"the package genai-prices {version('genai-prices')}"
