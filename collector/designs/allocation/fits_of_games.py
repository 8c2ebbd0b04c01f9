"""Fits that every study of games has: what choices go by, which policy plays like this, how a model learns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slant.collector.study.records import Fit

VIEW = "allocation_candidates"
_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "choice": {},
    "policies": {"folds": 5, "seed": 20260101},
    "learning": {"chains": 4, "iterations": 2000, "warmup": 1000, "adapt_delta": 0.9, "seed": 20260101},
}


def choice_fits() -> dict[str, Fit]:
    """Return the fits by name; each is called after its engine and made of all games of a model and variant."""
    return {name: _fit(name, settings) for name, settings in _SETTINGS.items()}


def _fit(engine: str, settings: Mapping[str, Any]) -> Fit:
    return Fit(
        name=engine,
        engine=engine,
        view=VIEW,
        formula=None,
        outcome=None,
        contrast=None,
        by=("model",),
        levels={},
        factors=(),
        drop_flags=(),
        settings=settings,
    )
