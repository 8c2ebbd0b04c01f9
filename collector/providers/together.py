"""Speak Together's chat completions. They are OpenAI's, but log-probabilities are requested with a number, and the
reasoning of some models is left in the answer."""

from __future__ import annotations

from typing import Any

from slant.collector.providers.chat_completions import TAKES_TOOLS, reply, request, structured_output
from slant.collector.providers.logprobs import MAX_LOGPROBS

__all__ = ["LOGPROBS", "TAKES_TOOLS", "reply", "request", "structured_output"]

LOGPROBS: dict[str, Any] = {"logprobs": MAX_LOGPROBS}
