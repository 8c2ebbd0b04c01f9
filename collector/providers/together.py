"""Together speaks OpenAI's chat completions, but asks for log-probabilities with a number."""

from __future__ import annotations

from typing import Any

from collector.providers.logprobs import MOST_LIKELY
from collector.providers.openai import reply, request

__all__ = ["LOGPROBS", "reply", "request"]

LOGPROBS: dict[str, Any] = {"logprobs": MOST_LIKELY}
