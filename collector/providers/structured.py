"""Structured output: the provider itself makes every answer fit a JSON schema. Only where a person asks for it
(`collect --structured-output`), for it takes away the malformed answers that a study of compliance counts.

A dialect that can do it has a function `structured_output(schema, settings)`: what else to send, beside the model's own
settings. One that merely can ask for JSON of any shape (DeepSeek) has none.
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
"""Where a provider wants a name for the schema (or for the tool that stands for it)."""


class Enforcing(DialectMadeFrom):
    """A dialect that asks for answers of one schema in every request, and is otherwise the one that it is made from."""

    def __init__(self, dialect: Any, schema: Mapping[str, Any]) -> None:
        super().__init__(dialect)
        self._schema = schema

    def request(self, base_url: str, key: str | None, model: StudyModel, prompt: Prompt, trial: Trial) -> Request:
        sent: Request = self._dialect.request(base_url, key, model, prompt, trial)
        setting = self._dialect.structured_output(self._schema, model.settings)
        return replace(sent, body=merged(sent.body, setting))


def response_format(schema: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the setting of OpenAI's chat completions, which vLLM, SGLang, llama.cpp, OpenRouter and Together take as
    well.
    """
    named = {"name": NAME, "strict": True, "schema": dict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": named}}
