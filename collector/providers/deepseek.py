"""Speak DeepSeek's chat completions. They are OpenAI's, but with only the older kind of structured output: JSON of any
shape (`json_object`). So it has no `structured_output` here."""

from __future__ import annotations

from slant.collector.providers.chat_completions import LOGPROBS, TAKES_TOOLS, reply, request

__all__ = ["LOGPROBS", "TAKES_TOOLS", "reply", "request"]
