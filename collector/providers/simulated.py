"""Speak to the simulated provider (collector/ask/simulator.py): OpenAI's shape, plus the seed of its draws."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from slant.collector.providers.exchange import Request
from slant.collector.providers.openai import LOGPROBS, TAKES_TOOLS, chat_request, reply, structured_output
from slant.collector.records import Prompt, Trial
from slant.collector.study.records import StudyModel

__all__ = ["LOGPROBS", "TAKES_TOOLS", "reply", "request", "structured_output"]


def request(base_url: str, key: str | None, model: StudyModel, prompt: Prompt, trial: Trial) -> Request:
    sent = chat_request(base_url, None, model, prompt, trial)
    metadata: dict[str, Any] = {"repetition": str(trial.repetition)}
    if trial.occasion is not None:
        metadata["occasion"] = str(trial.occasion)
    if trial.game is not None:  # its prompt alone does not say what has happened in the game
        metadata["trial"] = {name: getattr(trial, name) for name in Trial.__slots__}
    return replace(sent, body={**sent.body, "metadata": metadata})
