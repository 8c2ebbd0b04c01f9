"""Speak OpenRouter's chat completions. They are OpenAI's, and it passes them on to any provider of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slant.collector.providers.chat_completions import LOGPROBS, TAKES_TOOLS, reply
from slant.collector.providers.chat_completions import request as chat_request
from slant.collector.providers.exchange import Request
from slant.collector.providers.tools import response_format
from slant.collector.records import Prompt, Trial
from slant.collector.study.records import StudyModel

__all__ = ["LOGPROBS", "TAKES_TOOLS", "reply", "request", "structured_output"]


_ALL_OF_IT = {"provider": {"require_parameters": True}}  # otherwise it picks servers that ignore a schema or a tool


def request(base_url: str, key: str | None, model: StudyModel, prompt: Prompt, trial: Trial) -> Request:
    sent = chat_request(base_url, key, model, prompt, trial)
    return sent if prompt.tool is None else replace(sent, body={**_ALL_OF_IT, **sent.body})


def structured_output(schema: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    return response_format(schema, settings) | _ALL_OF_IT
