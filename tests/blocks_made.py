"""Forced choices of two models in two domains, few enough to be fitted in seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.given import Row, database

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
_OPTIONS = ("Male + Career", "Female + Family")


def choices(words: int = 6, models: tuple[str, ...] = MODELS) -> Iterator[Row]:
    """Every fifth answer is refused; of the others, every third incongruent one and every ninth congruent one is
    inconsistent.
    """
    number = 0
    for model in models:
        for domain in ("gender_career", "gender_science"):
            for block in ("congruent", "incongruent"):
                for word in range(words):
                    number += 1
                    is_miss = number % (9 if block == "congruent" else 3) == 0
                    outcome = {"outcome": "refused", "choice": None} if number % 5 == 0 else {}
                    yield {
                        "study": "interference", "model": model, "test": domain, "condition": block,
                        "item": f"word {word}", "group": "Male", "option_a": _OPTIONS[0], "option_b": _OPTIONS[1],
                        "expected": _OPTIONS[0], "choice": _OPTIONS[is_miss], "tokens": None, "token_source": None,
                        **outcome,
                    }  # fmt: skip


def database_of_choices(path: Path, **wanted: Any) -> Path:
    return database(path, choices(**wanted), [RUN])
