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


def verdict(found: CheckFacts, requested_model: str) -> tuple[Verdict, list[str]]:
    """The verdict and the reasons for it, the gravest first."""
    if grave := list(_unusable(found)):
        return "not usable", grave
    doubts = list(_doubts(found, requested_model))
    return ("usable with care", doubts) if doubts else ("ok", [])


def _unusable(found: CheckFacts) -> Iterator[str]:
    if found.n_answered * 2 < found.n_asked:
        yield f"only {found.n_answered} of {found.n_asked} questions were answered"
    elif found.n_counted == 0:
        yield "no token count came with the answers"
    elif found.difficulty_correlation is None:
        yield "the count is the same for every question"
    elif found.difficulty_correlation < MOVES_FROM:
        yield f"the count does not move with difficulty (rank correlation {found.difficulty_correlation:.2f})"
    if found.zero_share is not None and found.zero_share > ZEROS_TOO_MANY:
        yield f"{found.zero_share:.0%} of the counts are zero"


def _doubts(found: CheckFacts, requested_model: str) -> Iterator[str]:
    if found.counted == "output":
        readable = "; its reasoning can be read: collect recount" if found.readable_share else ""
        yield f"there is no reasoning count: all output tokens are analysed, the answer's among them{readable}"
    if found.n_counted < found.n_answered:
        yield f"{found.n_answered - found.n_counted} of {found.n_answered} answers came without a count"
    if found.step is not None and found.step > 1:
        yield f"the count comes in steps of {found.step}: smaller differences can't be seen"
    if found.zero_share is not None and found.zero_share > ZEROS_DOUBTFUL:
        yield f"{found.zero_share:.0%} of the counts are zero"
    if found.sum_share is not None and found.sum_share < SUM_HOLDS_FROM:
        yield f"output is not reasoning and answer together in {1 - found.sum_share:.0%} of the answers"
    if len(found.served_models) > 1:
        yield f"several models answered: {', '.join(found.served_models)}"
    elif found.served_models and not _is_same(found.served_models[0], requested_model):
        yield f"another model answered: {found.served_models[0]}"


def _is_same(served: str, requested: str) -> bool:
    """An alias may be answered by its snapshot (o3-mini by o3-mini-2025-01-31), with or without a vendor before it."""
    return served.rpartition("/")[2].startswith(requested.rpartition("/")[2])
