"""The JSON schema of an answer to several questions at once, for providers that enforce one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from slant.collector.designs.factorial.questions import AskedQuestion
from slant.collector.reading.choices import YES_NO


def schema_of(questions: Iterable[AskedQuestion]) -> dict[str, Any]:
    """Return an object with a key for each question. Points of scales and ranges are left to the reader: few providers
    take enums of numbers or `minimum`, and an answer beyond them is to be counted.
    """
    properties = {question.name: _property(question) for question in questions}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _property(question: AskedQuestion) -> dict[str, Any]:
    if question.kind == "scale":
        return {"type": "integer"}
    if question.kind == "number":
        return {"type": "integer" if question.amount.whole else "number"}
    named = YES_NO if question.kind == "yes_no" else question.options  # profiles are called otherwise by template
    return {"type": "string", "enum": list(named)} if named else {"type": "string"}
