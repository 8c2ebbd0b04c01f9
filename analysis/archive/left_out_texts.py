"""Remove texts that may not be shared from journals and results: their hashes stay, and what tables count in them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from slant.collector.keep.people_texts import stand_in

REASONING = "reasoning"
PEOPLE = "people"
"""Texts that people wrote: left out unless they are asked for."""
KINDS = (REASONING,)
"""List what `--without` takes."""
_OF_REASONING = re.compile(r"reason|think|thought|signature|encrypted|summary", re.IGNORECASE)
_WITH_MESSAGES = ("messages", "input", "contents", "prompt")


def without_reasoning(record: dict[str, Any]) -> dict[str, Any]:
    """Return a line of a journal without the texts of reasoning: the field itself, the raw response, which has it in
    each provider's own form, and what later requests of a conversation gave back of it. Answers stay.
    """
    changed = dict(record)
    if record.get("kind") == "answers":
        rows = dict(record["rows"])
        if responses := rows.get("response"):
            rows["response"] = [text and _left_out(text) for text in responses]
        return changed | {"shared": [without_reasoning(shared) for shared in record["shared"]], "rows": rows}
    if record.get("kind") == "readings":
        return changed | {"rows": [without_reasoning(row) for row in record["rows"]]}
    if text := record.get("reasoning_text"):
        changed["reasoning_text"] = stand_in(text)
    if isinstance(record.get("response"), str):
        changed["response"] = _left_out(record["response"])
    if isinstance(record.get("request"), str):
        changed["request"] = _request(record["request"])
    if record.get("kind") == "check" and isinstance(record.get("answers"), str):
        changed["answers"] = _left_out(record["answers"])
    return changed


def _left_out(text: str) -> str:
    return json.dumps({"left_out": stand_in(text)})


def _request(text: str) -> str:
    try:
        body = json.loads(text)
    except ValueError:
        return text
    if not isinstance(body, dict):
        return text
    shared = {name: _shared(value) if name in _WITH_MESSAGES else value for name, value in body.items()}
    return text if shared == body else json.dumps(shared, ensure_ascii=False)


def _shared(part: Any) -> Any:
    """Return messages without what gives reasoning back, whatever a provider calls it."""
    if isinstance(part, list):
        return [_shared(value) for value in part]
    if not isinstance(part, Mapping):
        return part
    if _OF_REASONING.search(str(part.get("type", ""))) or part.get("thought") is True:
        return {"type": part.get("type"), "left_out": stand_in(json.dumps(part, sort_keys=True))}
    return {
        name: stand_in(value if isinstance(value, str) else json.dumps(value, sort_keys=True))
        if _OF_REASONING.search(name) and value not in (None, "", [], {})
        else _shared(value)
        for name, value in part.items()
    }


def texts_left_out(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table of results without the texts that it quotes."""
    names = [name for name in ("text", "reasoning_text") if frame.schema.get(name) == pl.String]
    return frame.with_columns(pl.col(name).map_elements(stand_in, return_dtype=pl.String) for name in names)
