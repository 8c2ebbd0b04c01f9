"""DeepSeek speaks OpenAI's chat completions, but of its structured output it has the older half only: some JSON, of any
shape (`json_object`). So it has no `structured_output` here."""

from __future__ import annotations

from slant.collector.providers.chat_completions import LOGPROBS, TAKES_TOOLS, reply, request

__all__ = ["LOGPROBS", "TAKES_TOOLS", "reply", "request"]
