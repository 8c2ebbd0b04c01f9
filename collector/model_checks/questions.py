"""Choose what `collect check-model` asks: questions of increasing difficulty, and pairs that test a parameter.

The questions are data (calibration.csv; the answers were computed). Their order is seeded. A parameter is tried with an
answer that is never repeated by chance (twelve random digits): the same one twice means that chance was switched off.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slant.collector.providers import (
    anthropic,
    chat_completions,
    deepseek,
    gemini,
    ollama,
    openai,
    openai_responses,
    openrouter,
    together,
)
from slant.collector.providers.services import spoken_by

_FILE = Path(__file__).resolve().parent / "calibration.csv"
_RANDOM = "Write down a random number of twelve digits."
_ENDING = " Answer with the number only."
_HARD = 2  # this many of the hardest questions are asked again with little and with much effort

Settings = Mapping[str, Any]
_OPENAI: Mapping[str, Settings] = {
    "temperature": {"temperature": 0},
    "seed": {"seed": 7},
    "effort_low": {"reasoning_effort": "low"},
    "effort_high": {"reasoning_effort": "high"},
}
_PROBES: tuple[tuple[Any, Mapping[str, Settings]], ...] = (
    (openai, _OPENAI),
    (chat_completions, _OPENAI),
    (deepseek, _OPENAI),
    (openrouter, _OPENAI),
    (together, _OPENAI),
    (
        openai_responses,
        {
            "temperature": {"temperature": 0},
            "effort_low": {"reasoning": {"effort": "low"}},
            "effort_high": {"reasoning": {"effort": "high"}},
        },
    ),
    (
        anthropic,
        {
            "temperature": {"temperature": 0},
            "effort_low": {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 16_000},
            "effort_high": {"thinking": {"type": "enabled", "budget_tokens": 12_000}, "max_tokens": 16_000},
        },
    ),
    (
        gemini,
        {
            "temperature": {"generationConfig": {"temperature": 0}},
            "seed": {"generationConfig": {"seed": 7}},
            "effort_low": {"generationConfig": {"thinkingConfig": {"thinkingBudget": 512}}},
            "effort_high": {"generationConfig": {"thinkingConfig": {"thinkingBudget": 8192}}},
        },
    ),
    (
        ollama,
        {
            "temperature": {"options": {"temperature": 0}},
            "seed": {"options": {"seed": 7}},
            "effort_low": {"think": "low"},
            "effort_high": {"think": "high"},
        },
    ),
)


@dataclass(frozen=True, slots=True)
class CheckQuestion:
    """Hold one request of a check. `purpose` is calibration, plain (no parameter), or the name of a probe."""

    purpose: str
    text: str
    difficulty: int | None = None
    expected: str | None = None
    settings: Settings = field(default_factory=dict)


def check_questions(dialect: Any, seed: int) -> list[CheckQuestion]:
    """Return all requests of one check: the easiest question first (it reveals a wrong key), the others in seeded
    order."""
    first, *rest = calibration()
    rest += list(_pairs(probes(dialect), rest[-_HARD:]))
    random.Random(seed).shuffle(rest)
    return [first, *rest]


def calibration() -> list[CheckQuestion]:
    """Return the calibration questions, the easiest first."""
    with _FILE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        CheckQuestion("calibration", row["question"] + _ENDING, int(row["difficulty"]), row["answer"]) for row in rows
    ]


def probes(dialect: Any) -> Mapping[str, Settings]:
    """Return the parameters to try, by name; a dialect of another package may bring its own as the constant PROBES."""
    known = next((settings for probed, settings in _PROBES if probed is spoken_by(dialect)), None)
    return known if known is not None else getattr(dialect, "PROBES", {})


def _pairs(tried: Mapping[str, Settings], hardest: list[CheckQuestion]) -> Iterator[CheckQuestion]:
    for _ in range(2 if {"temperature", "seed"} & tried.keys() else 0):
        yield CheckQuestion("plain", _RANDOM + _ENDING)
    for name, settings in tried.items():
        if name.startswith("effort"):
            yield from (CheckQuestion(name, q.text, q.difficulty, q.expected, settings) for q in hardest)
        else:
            yield from (CheckQuestion(name, _RANDOM + _ENDING, settings=settings) for _ in range(2))
