"""What an exchange was: an answer, one that a filter withheld, or a failure. The same live and for one that is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from slant.collector.ask.lane_money import unanswered
from slant.collector.ask.retries import NextStep, backoff_s
from slant.collector.providers import Dialect
from slant.collector.providers.exchange import Exchange
from slant.collector.records import Outcome, Reply, Trial, Turn

TOO_LONG = "too_long"
"""The finish reason of a turn whose conversation does not fit its model any more, as slant says it."""


def read_exchange(
    dialect: Dialect, exchange: Exchange, verdict: NextStep, trial: Trial, try_no: int
) -> tuple[Reply, NextStep]:
    """The reply, and what to do about it. `verdict` is judge()'s of that exchange."""
    if verdict.action == "fail" and trial.game is not None:
        # a game can't be made shorter, and to ask the same again is in vain: it ends here, with an outcome
        return replace(unanswered(dialect, exchange, "truncated", verdict.reason), finish_reason=TOO_LONG), verdict
    if verdict.action != "read":
        outcome: Outcome = "filtered" if verdict.action == "filtered" else "failed"
        return unanswered(dialect, exchange, outcome, verdict.reason), verdict
    reply = dialect.reply(verdict.body, exchange.headers)
    if reply.outcome == "failed":  # a response that says of itself that it is no answer
        return reply, NextStep("again", reply.detail or "the response failed", wait_s=backoff_s(try_no))
    return reply, verdict


def next_turn_no(history: Sequence[Turn], trial: Trial) -> int:
    """1 for a trial that has not been asked; more after reminders."""
    return 1 + sum(1 for _ in takewhile(lambda turn: turn.trial_id == trial.trial_id, reversed(history)))
