"""Read what a provider says that it charged for an answer, in US dollars. It takes precedence over any price list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slant.collector.providers.exchange import amount, count

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
