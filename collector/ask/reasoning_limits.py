"""Detect reasoning that a server cuts at its own budget and then ends with `stop`: no finish reason shows it, and
counts at that limit are lower bounds (a censored dependent variable).

If the budget is among a model's settings, it is known. Otherwise it shows as a pile of equal counts at the largest one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from slant.collector.records import Reply
from slant.collector.terminal import count_text

# llama.cpp, DashScope, SGLang, vLLM, OpenRouter, LM Studio, Anthropic, Gemini
_BUDGETS = (
    ("thinking_budget",), ("reasoning_budget",), ("thinking_budget_tokens",), ("thinking_token_budget",),
    ("chat_template_kwargs", "thinking_budget"), ("custom_params", "thinking_budget"), ("reasoning", "max_tokens"),
    ("thinking", "budget_tokens"), ("generationConfig", "thinkingConfig", "thinkingBudget"),
)  # fmt: skip
FEWEST_IN_PILE = 5
NEAR = 0.99  # of the budget: a server stops within the sentence, or adds its own closing words
_TIMES_THE_NEXT = 3  # a pile is this many times as high as the count below it


def reasoning_budget(settings: Mapping[str, Any]) -> int | None:
    """Return the most tokens of reasoning that a model's settings allow, in any server's words; None without a
    limit.
    """
    for path in _BUDGETS:
        value: Any = settings
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def pile(counts: Mapping[int, int]) -> tuple[int, int] | None:
    """Return the largest count and how often it came, if answers pile up there; `counts`: how often each count came.
    Return None if they don't, as if the largest count is one of many or nearly all counts are alike.
    """
    largest_first = sorted(counts, reverse=True)
    if len(largest_first) < FEWEST_IN_PILE or largest_first[0] == 0:
        return None
    largest, following = largest_first[:2]
    is_pile = counts[largest] >= max(FEWEST_IN_PILE, _TIMES_THE_NEXT * counts[following])
    return (largest, counts[largest]) if is_pile else None


@dataclass
class ReasoningLimit:
    """Count the reasoning of one model in one run. Counts of the complete output are used if there are no others: the
    answers to a forced choice are short."""

    counts: Counter[int] = field(default_factory=Counter)

    def count(self, reply: Reply) -> None:
        """Take note of one reply that ended as an answer does."""
        tokens = reply.output_tokens if reply.reasoning_tokens is None else reply.reasoning_tokens
        if tokens is not None and reply.outcome in (None, "refused"):
            self.counts[tokens] += 1

    def notes(self, model: str, settings: Mapping[str, Any]) -> list[str]:
        """Return the sentences about it for the end of a run."""
        total, budget = self.counts.total(), reasoning_budget(settings)
        if budget is not None:
            n = sum(times for tokens, times in self.counts.items() if tokens >= NEAR * budget)
            finding = f"reached the reasoning budget of {budget:,} tokens that its settings set"
            return [self._note(model, n, total, finding)] if n else []
        if (found := pile(self.counts)) is None:
            return []
        return [self._note(model, found[1], total, f"have the largest count there is, {found[0]:,} tokens")]

    @staticmethod
    def _note(model: str, n: int, total: int, finding: str) -> str:
        return (
            f"{n:,} of {count_text(total, 'answer')} of {model} {finding}. If the server cuts reasoning there, these "
            "counts are lower bounds (censored): analyze check counts them by condition."
        )
