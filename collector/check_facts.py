"""Hold what a check of a model found, for the check that fills it and the journal that keeps it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFacts:
    """Hold a check's results, as the table `checks` does. Shares are between 0 and 1; None is unknown."""

    counted: str | None
    n_asked: int
    n_answered: int
    n_right: int
    n_counted: int
    difficulty_correlation: float | None
    step: int | None
    zero_share: float | None
    sum_share: float | None
    readable_share: float | None
    temperature: str
    effort: str
    seed: str
    served_models: tuple[str, ...]
