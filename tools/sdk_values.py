"""Print every value with which the installed SDKs say why an answer ended, as CSV: sdk, version, dialect, value.

    .venv/bin/python tools/sdk_values.py                  those of the SDKs that are installed
    pip install google-genai mistralai together groq ollama, then again: all seven

tests/collector/sdk_values.csv is a dated copy of the five that slant does not depend on.
"""

from __future__ import annotations

import csv
import enum
import importlib
import sys
import typing
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any


def values_of(annotation: Any) -> Iterator[str]:
    """The texts in a type: of literals, enumerations, and unions of them."""
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        yield from (str(member.value) for member in annotation)
    for part in typing.get_args(annotation):
        if isinstance(part, str):
            yield part
        else:
            yield from values_of(part)


def _field(module: str, model: str, name: str) -> Callable[[], Any]:
    """The annotation of a field of one of the SDK's models."""
    return lambda: getattr(importlib.import_module(module), model).model_fields[name].annotation


def _name(module: str, name: str) -> Callable[[], Any]:
    return lambda: getattr(importlib.import_module(module), name)


_MISTRAL = "mistralai.client.models"
# sdk, dialect, what holds its values
SOURCES: tuple[tuple[str, str, Callable[[], Any]], ...] = (
    ("openai", "chat", _field("openai.types.chat.chat_completion", "Choice", "finish_reason")),
    ("openai", "responses", _name("openai.types.responses.response_status", "ResponseStatus")),
    ("openai", "responses", _field("openai.types.responses.response", "IncompleteDetails", "reason")),
    ("openai", "error", _field("openai.types.responses.response_error", "ResponseError", "code")),
    ("anthropic", "anthropic", _name("anthropic.types.stop_reason", "StopReason")),
    ("anthropic", "anthropic", _name("anthropic.types.beta.beta_stop_reason", "BetaStopReason")),
    ("google-genai", "gemini", _name("google.genai.types", "FinishReason")),
    ("mistralai", "chat", _field(f"{_MISTRAL}.chatcompletionchoice", "ChatCompletionChoice", "finish_reason")),
    ("together", "chat", _field("together.types.chat.chat_completion", "Choice", "finish_reason")),
    ("groq", "chat", _field("groq.types.chat.chat_completion", "Choice", "finish_reason")),
    ("ollama", "ollama", _field("ollama._types", "ChatResponse", "done_reason")),
)  # fmt: skip


def sdk_values() -> list[tuple[str, str, str, str]]:
    """(sdk, version, dialect, value) of the SDKs that are installed. One whose values are any text has the value ""."""
    rows: dict[tuple[str, str, str, str], None] = {}
    for sdk, dialect, source in SOURCES:
        try:
            its_version = version(sdk)
            values = list(values_of(source())) or [""]
        except (PackageNotFoundError, ImportError):
            continue
        rows |= dict.fromkeys((sdk, its_version, dialect, value) for value in values)
    return list(rows)


if __name__ == "__main__":
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("sdk", "version", "dialect", "value"))
    writer.writerows(sdk_values())
