"""What is left of the requests and tokens that a provider allows, as far as its headers told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from slant.collector.ask.rate_limits import StatedBudget

_SMOOTHING = 0.1  # how much one answer moves the expected size of the next


@dataclass(slots=True)
class _Budget:
    limit: float
    left: float
    known_s: float
    refill_per_s: float
    told_by: int


class Budgets:
    """One model's budgets. They refill steadily, as the token buckets of OpenAI and Anthropic do: `reset` says when
    a budget is full again, so what is missing over that time is the refill. Times in seconds of one clock.
    """

    def __init__(self) -> None:
        self._budgets: dict[str, _Budget] = {}
        self._sizes: dict[str, float] = {}
        self._sent = 0

    def spend(self, now_s: float) -> int:
        """A request goes out; returns its number."""
        self._sent += 1
        for kind, budget in self._budgets.items():
            budget.left = self._left(budget, now_s) - self._cost(kind)
            budget.known_s = now_s
        return self._sent

    def learn(self, budgets: Iterable[StatedBudget], number: int, sent_s: float) -> None:
        """Headers of the answer to request `number`; the news of an older request than the last one changes nothing.

        They are taken to tell how it was when that request was let in: what was sent since is taken off, what was
        refilled since is added.
        """
        for budget in budgets:
            old = self._budgets.get(budget.kind)
            if old is not None and old.told_by > number:
                continue
            missing = budget.limit - budget.remaining
            known = budget.reset_s is not None and budget.reset_s > 0 and missing > 0
            refill = missing / budget.reset_s if known and budget.reset_s else (old.refill_per_s if old else 0.0)
            left = budget.remaining - self._cost(budget.kind) * (self._sent - number)
            self._budgets[budget.kind] = _Budget(budget.limit, left, sent_s, refill, number)

    def used(self, input_tokens: int | None, output_tokens: int | None) -> None:
        """What an answer cost, as an expectation for the next one."""
        sizes = {"input_tokens": input_tokens, "output_tokens": output_tokens}
        if input_tokens is not None and output_tokens is not None:
            sizes["tokens"] = input_tokens + output_tokens
        for kind, size in sizes.items():
            if size is not None:
                before = self._sizes.get(kind, float(size))
                self._sizes[kind] = before + _SMOOTHING * (size - before)

    def wait_s(self, now_s: float) -> tuple[float, str]:
        """Seconds until the next request fits into every budget, and the budget that it waits for ("" for none)."""
        longest, waits_for = 0.0, ""
        for kind, budget in self._budgets.items():
            missing = min(self._cost(kind), budget.limit) - self._left(budget, now_s)
            # without a known refill nothing says how long: then a 429 has to
            if missing > 0 and budget.refill_per_s > 0 and missing / budget.refill_per_s > longest:
                longest, waits_for = missing / budget.refill_per_s, kind
        return longest, waits_for

    def _cost(self, kind: str) -> float:
        """What the next request is expected to take; 1 until an answer has told its tokens."""
        return self._sizes.get(kind, 1.0)

    @staticmethod
    def _left(budget: _Budget, now_s: float) -> float:
        return min(budget.limit, budget.left + budget.refill_per_s * (now_s - budget.known_s))
