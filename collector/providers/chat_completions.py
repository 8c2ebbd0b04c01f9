"""Speak chat completions as OpenAI-compatible servers do: DeepSeek, OpenRouter, vLLM, SGLang, llama.cpp, Ollama …

They have the same shape. Where they differ (reasoning text as `reasoning_content` or `reasoning`, no reasoning count),
the OpenAI reader already takes either form and leaves NULL what is missing. Reasoning that a server leaves in the
answer's text is split off (collector/providers/reasoning.py). One thing it can't know: some servers don't count
reasoning and still report 0 (vLLM if the prompt opens the thinking, older SGLang always), and a 0 is not NULL.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slant.collector.providers import openai
from slant.collector.providers.openai import LOGPROBS, TAKES_TOOLS, structured_output
from slant.collector.providers.openai import chat_request as request
from slant.collector.providers.reasoning import without_template
from slant.collector.providers.token_counts import without_false_zero
from slant.collector.records import Reply

__all__ = ["LOGPROBS", "TAKES_TOOLS", "reply", "request", "structured_output"]


_REASONING = ("reasoning_content", "reasoning", "reasoning_details")


def reply(body: Mapping[str, Any], headers: Mapping[str, str]) -> Reply:
    return without_false_zero(without_template(openai.reply(body, headers, kept=_REASONING)))
