"""Answers of a study as its design simulates them, as rows of `attempts`: no server is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from slant.collector.designs.study import Study
from slant.collector.plan.conversations import plan
from slant.collector.system.json_text import encoded

OF_TRIAL = (
    "trial_id", "model", "test", "condition", "item", "group", "wording", "repetition", "position",
    "option_a", "option_b", "expected",
)  # fmt: skip


def simulated_rows(study: Study, repetitions: int = 1, seed: int = 7) -> Iterator[dict[str, Any]]:
    """One row a trial, of all models of the study, with what its design read."""
    for model in study.models:
        for conversation in plan(study, model, repetitions=repetitions):
            for trial in conversation.trials:
                reply = study.design.simulates.simulate(study, model, trial, seed)
                reading = study.design.reads.read(study, trial, reply)
                yield {name: getattr(trial, name) for name in OF_TRIAL} | {
                    "study": study.name,
                    "study_version": study.version,
                    "outcome": reading.outcome,
                    "choice": reading.choice,
                    "detail": reading.detail,
                    "answer": reply.answer,
                    "tokens": reply.reasoning_tokens,
                    "factors": _json({**reading.factors, **trial.factors}),
                }


def _json(factors: dict[str, Any]) -> str:
    return encoded(factors).decode()
