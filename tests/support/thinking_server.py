"""What a reasoning model's server would say to the questions of a check: counts that grow with difficulty, or don't."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from slant.collector.model_checks.check import calibration
from tests.support.local_server import completion, error

DIFFICULTY = {question.text: (question.difficulty or 0, question.expected) for question in calibration()}


@dataclass
class Thinker:
    """`reasoning(difficulty, body)` is the count of an answer (None: no such count); a set parameter may be refused."""

    reasoning: Callable[[int, dict[str, Any]], int | None] = lambda difficulty, body: 64 * difficulty + 7
    answer_tokens: int = 4
    served_model: str = "thinker-2026-01-31"
    rejects: tuple[str, ...] = ()
    text: str | None = None

    def __post_init__(self) -> None:
        self.chance = random.Random(1)

    async def __call__(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if refused := [name for name in self.rejects if name in body]:
            return error(400, "unsupported_parameter", f"Unsupported parameter: '{refused[0]}'")
        difficulty, answer = DIFFICULTY.get(body["messages"][-1]["content"], (1, None))
        return web.json_response(self._completion(body, answer or self._digits(body), self.reasoning(difficulty, body)))

    def _digits(self, body: dict[str, Any]) -> str:
        chance = random.Random(body["seed"]) if "seed" in body else self.chance
        return "123456789012" if body.get("temperature") == 0 else str(chance.randrange(10**12))

    def _completion(self, body: dict[str, Any], answer: str, reasoning: int | None) -> dict[str, Any]:
        usage: dict[str, Any] = {"completion_tokens": self.answer_tokens + (reasoning or 0)}
        usage["completion_tokens_details"] = {} if reasoning is None else {"reasoning_tokens": reasoning}
        said = completion(answer, **usage) | {"model": self.served_model}
        if self.text is not None:
            said["choices"][0]["message"]["reasoning_content"] = self.text
        return said


def by_effort(difficulty: int, body: dict[str, Any]) -> int:
    return 100 * difficulty * {"low": 1, "high": 4}.get(body.get("reasoning_effort", ""), 2) + difficulty**2
