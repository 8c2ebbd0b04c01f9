"""A small database whose answers talk of something: texts drawn from a few words, by model and condition."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from tests.support.given import Row, database

QUICK = {"lower_thresh": 5, "max_em_its": 8}
TESTS = ("flowers_insects", "instruments_weapons")
MODELS = ("deepseek-r1", "claude-3.7-sonnet", "gpt-oss-20b")
RUN: Row = {
    "run_id": "r1",
    "source": "imported",
    "study": "rmiat",
    "study_version": "v1",
    "variant": "base",
    "models": [{"model": model, "model_no": number} for number, model in enumerate(MODELS, 2)],
    "tests": [{"test": test, "test_no": number, "label": test} for number, test in enumerate(TESTS, 1)],
    "started_at": "2026-01-01",
}
_WORDS = {
    "deepseek-r1": "think sure check mix didnt maybe okay wait let look",
    "claude-3.7-sonnet": "bias stereotyp racial implicit people ethnic harmful concern careful associate",
    "gpt-oss-20b": "output brother sister thus repres prompt say says done produce",
}
_COMMON = ["list", "group", "belong", "answer", "question", "user", "ask", "mean", "clear", "whether"]


def talking(n_words: int = 12) -> Iterator[Row]:
    """3 models x 2 tests x 2 conditions x 20 answers. When incompatible, everyone talks a bit more of bias."""
    chance = random.Random(11)
    for model in MODELS:
        for test in TESTS:
            for condition in ("compatible", "incompatible"):
                for number in range(20):
                    own = _WORDS[model].split() * 2 + _COMMON
                    if condition == "incompatible":
                        own = own + _WORDS["claude-3.7-sonnet"].split()
                    yield {
                        "source": "imported",
                        "model": model,
                        "requested_model": model,
                        "test": test,
                        "condition": condition,
                        "item": f"word{number}",
                        "wording": number + 1,
                        "tokens": round(chance.gauss(200 + 40 * (condition == "incompatible"), 30)),
                        "token_source": "output",
                        "reasoning_text": " ".join(chance.choices(own, k=n_words)) + ".",
                    }


def talking_database(path: Path) -> Path:
    unreadable = [{"source": "imported", "condition": side, "tokens": 64} for side in ("compatible", "incompatible")]
    return database(path, [*talking(), *unreadable * 3], [RUN])
