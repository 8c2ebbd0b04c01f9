"""Tools that a model is offered, and the calls of them in an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model is offered in a conversation: a function of one argument, which is one of `options`."""

    name: str
    description: str
    argument: str
    options: tuple[str, ...]

    @property
    def schema(self) -> dict[str, Any]:
        """Its arguments as JSON schema."""
        values = {"type": "string", "enum": list(self.options)}
        needed = {"properties": {self.argument: values}, "required": [self.argument]}
        return {"type": "object", **needed, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool in an answer, under the provider's own name for it (None: it gave none)."""

    call_id: str | None
    name: str
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        given = json.dumps(dict(self.arguments), ensure_ascii=False, separators=(",", ":"))
        return f"{self.name}({given})"
