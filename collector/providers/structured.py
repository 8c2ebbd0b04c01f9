"""Ask for structured output: the provider itself makes every answer fit a JSON schema. A person must ask for it
(`collect --structured-output`), for it removes the malformed answers that a study of compliance counts.

A dialect that supports it has a function `structured_output(schema, settings)`: what to send besides the model's own
settings. One that can only ask for JSON of any shape (DeepSeek) has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slant.collector.providers.exchange import Request
from slant.collector.providers.logprobs import DialectMadeFrom, merged
from slant.collector.records import Prompt, Trial
from slant.collector.study.records import StudyModel

NAME = "answer"
"""Name the schema (or the tool in its place) if a provider wants a name."""


class Enforcing(DialectMadeFrom):
    """Ask for answers of one schema in every request; otherwise behave as the wrapped dialect."""

    def __init__(self, dialect: Any, schema: Mapping[str, Any]) -> None:
        super().__init__(dialect)
        self._schema = schema

    def request(self, base_url: str, key: str | None, model: StudyModel, prompt: Prompt, trial: Trial) -> Request:
        sent: Request = self._dialect.request(base_url, key, model, prompt, trial)
        setting = self._dialect.structured_output(self._schema, model.settings)
        return replace(sent, body=merged(sent.body, setting))


def response_format(schema: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the setting of OpenAI's chat completions, which vLLM, SGLang, llama.cpp, OpenRouter and Together accept,
    too.
    """
    named = {"name": NAME, "strict": True, "schema": dict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": named}}
