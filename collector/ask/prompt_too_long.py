"""Whether a server says that a prompt does not fit its model. That ends one trial, and says nothing about the others.

OpenAI      400, code context_length_exceeded
Anthropic   400, "prompt is too long: 208310 tokens > 200000 maximum"
DeepSeek, vLLM, OpenRouter  400, "This model's maximum context length is 65536 tokens. However, you requested …"
Gemini      400, "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."
llama.cpp   400 (older: 500), type exceed_context_size_error, "… exceeds the available context size"
"""

from __future__ import annotations

import re

_STATUSES = {400, 413, 422, 500}
_CODES = {"context_length_exceeded", "string_above_max_length", "exceed_context_size_error", "context_exceeded",
          "request_too_large"}  # fmt: skip
_SAID = re.compile(
    r"maximum (?:context|model|sequence) length|prompt is too long|longer than the maximum model length"
    r"|exceeds? (?:the )?(?:available )?context (?:limit|size|length|window)"
    r"|input token count\b.{0,40}exceeds the maximum|max_new_tokens.{0,20}must be <=",
    re.IGNORECASE | re.DOTALL,
)


def is_too_long(status: int, code: str, sentence: str) -> bool:
    """`code` and `sentence` as the provider's error has them."""
    return status == 413 or (status in _STATUSES and (code in _CODES or bool(_SAID.search(sentence))))
