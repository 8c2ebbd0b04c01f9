"""Forced choices of two models in two domains, few enough to be fitted in seconds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from tests.support.given import Row, database

MODELS = ("gpt-5", "claude-sonnet-4")
RUN: Row = {
    "run_id": "r1", "source": "simulated", "study": "interference", "study_version": "v1", "variant": "base",
    "models": [
        {"model": "claude-sonnet-4", "model_no": 1, "label": "Claude Sonnet-4"},
        {"model": "gpt-5", "model_no": 3, "label": "GPT-5"},
    ],
    "tests": [
        {"test": "gender_career", "test_no": 1, "label": "Gender-Career"},
        {"test": "gender_science", "test_no": 2, "label": "Gender-Science"},
    ],
    "started_at": "2026-01-01",
}  # fmt: skip
QUICK: dict[str, Any] = {"chains": 1, "iterations": 200, "warmup": 100}
"""Settings of chains that are short, and not long enough to be trusted."""
_DOMAINS, _BLOCKS = ("gender_career", "gender_science"), ("congruent", "incongruent")
_OPTIONS = ("Male + Career", "Female + Family")


def choices(words: int = 6, models: tuple[str, ...] = MODELS, repetitions: int = 1) -> Iterator[Row]:
    """Every fifth answer is refused; of the others, every third incongruent one and every seventh congruent one
    is inconsistent.
    """
    cells = product(range(1, repetitions + 1), models, _DOMAINS, _BLOCKS, range(words))
    for number, (repetition, model, domain, block, word) in enumerate(cells, start=1):
        is_miss = (number + repetition) % (7 if block == "congruent" else 3) == 0
        outcome = {"outcome": "refused", "choice": None} if number % 5 == 0 else {}
        yield {
            "study": "interference",
            "model": model,
            "test": domain,
            "condition": block,
            "item": f"word {word}",
            "repetition": repetition,
            "group": "Male",
            "option_a": _OPTIONS[0],
            "option_b": _OPTIONS[1],
            "expected": _OPTIONS[0],
            "choice": _OPTIONS[is_miss],
            "tokens": None,
            "token_source": None,
            **outcome,
        }


def database_of_choices(path: Path, **wanted: Any) -> Path:
    return database(path, choices(**wanted), [RUN])
