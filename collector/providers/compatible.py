"""Servers that speak OpenAI's chat completions: DeepSeek, Together, OpenRouter, vLLM, llama.cpp, Ollama …

The same shape; where they differ (reasoning text as `reasoning_content` or `reasoning`, no count of their own) the
OpenAI reader already takes either and leaves NULL what is not there.
"""

from __future__ import annotations

from collector.providers.openai import LOGPROBS, reply, request

__all__ = ["LOGPROBS", "reply", "request"]
