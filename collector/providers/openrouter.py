"""OpenRouter speaks OpenAI's chat completions, and hands them on to whoever serves the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collector.providers.compatible import LOGPROBS, reply, request
from collector.providers.structured import response_format

__all__ = ["LOGPROBS", "reply", "request", "structured_output"]


def structured_output(schema: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Without the second setting it picks servers that leave the schema aside, and says nothing."""
    return response_format(schema, settings) | {"provider": {"require_parameters": True}}
