"""From what a check found to a verdict.

ok                 the count can be a dependent variable
usable with care   it can, but the reasons belong into the paper
not usable         the count is absent, stays the same whatever is asked, or is mostly zero
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from slant.collector.records import CheckFacts

Verdict = Literal["ok", "usable with care", "not usable"]
MOVES_FROM = 0.4  # rank correlation; chance reaches it once in 25 checks of 20 questions
ZEROS_DOUBTFUL, ZEROS_TOO_MANY = 0.2, 0.5
SUM_HOLDS_FROM = 0.8


def decide_verdict(facts: CheckFacts, requested_model: str) -> tuple[Verdict, list[str]]:
    """The verdict and the reasons for it, the gravest first."""
    if grave := list(_unusable(facts)):
        return "not usable", grave
    warnings = list(_warnings(facts, requested_model))
    return ("usable with care", warnings) if warnings else ("ok", [])


def _unusable(facts: CheckFacts) -> Iterator[str]:
    if facts.n_answered * 2 < facts.n_asked:
        yield f"only {facts.n_answered} of {facts.n_asked} questions were answered"
    elif facts.n_counted == 0:
        yield "no token count came with the answers"
    elif facts.difficulty_correlation is None:
        yield "the count is the same for every question"
    elif facts.difficulty_correlation < MOVES_FROM:
        yield f"the count does not move with difficulty (rank correlation {facts.difficulty_correlation:.2f})"
    if facts.zero_share is not None and facts.zero_share > ZEROS_TOO_MANY:
        yield f"{facts.zero_share:.0%} of the counts are zero"


def _warnings(facts: CheckFacts, requested_model: str) -> Iterator[str]:
    if facts.counted == "output":
        readable = "; its reasoning can be read: collect recount" if facts.readable_share else ""
        yield f"there is no reasoning count: all output tokens are analysed, the answer's among them{readable}"
    if facts.n_counted < facts.n_answered:
        yield f"{facts.n_answered - facts.n_counted} of {facts.n_answered} answers came without a count"
    if facts.step is not None and facts.step > 1:
        yield f"the count comes in steps of {facts.step}: smaller differences can't be seen"
    if facts.zero_share is not None and facts.zero_share > ZEROS_DOUBTFUL:
        yield f"{facts.zero_share:.0%} of the counts are zero"
    if facts.sum_share is not None and facts.sum_share < SUM_HOLDS_FROM:
        yield f"output is not reasoning and answer together in {1 - facts.sum_share:.0%} of the answers"
    if len(facts.served_models) > 1:
        yield f"several models answered: {', '.join(facts.served_models)}"
    elif facts.served_models and not _is_same(facts.served_models[0], requested_model):
        yield f"another model answered: {facts.served_models[0]}"


def _is_same(served: str, requested: str) -> bool:
    """An alias may be answered by its snapshot (o3-mini by o3-mini-2025-01-31), with or without a vendor before it."""
    return served.rpartition("/")[2].startswith(requested.rpartition("/")[2])
