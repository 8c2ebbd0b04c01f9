"""Texts that people wrote: archives and bundles leave them out unless they are asked for; choices and numbers stay."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

COUNTED_WORDS = ("IAT",)
"""List words that a view seeks in reasoning (sql/views/2_tables/iat_mentions.sql); whether a text has them is kept."""
FIELDS = ("answer", "choice", "detail", "factors")
"""List the fields of an attempt that may hold such a text."""


def stand_in(text: str) -> str:
    """Return the replacement of a text: its SHA-256, its length, and those of COUNTED_WORDS that it has."""
    words = "".join(f", with the word {word}" for word in COUNTED_WORDS if word in text)
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"[left out: sha256 {digest}, {len(text)} characters{words}]"


def without_texts_of_people(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return an attempt without what a person wrote in their own words, as is what a model answered."""
    changed = dict(record)
    if record.get("kind") == "answers":
        return changed | {"shared": [without_texts_of_people(shared) for shared in record["shared"]]}
    answer = record.get("answer")
    if record.get("source") != "human" or not answer:
        return changed
    factors = _factors(record.get("factors"))
    written = _written(factors)
    if not written and _is_plain(record, str(answer)):
        return changed
    changed["answer"] = stand_in(str(answer))
    if record.get("choice") in written:
        changed["choice"] = stand_in(str(record["choice"]))
    if written:
        values = [stand_in(value) if value in written else value for value in factors["values"]]
        changed["factors"] = json.dumps({**factors, "values": values}, ensure_ascii=False, separators=(",", ":"))
    return changed


def _factors(text: Any) -> dict[str, Any]:
    try:
        factors = json.loads(text) if isinstance(text, str) else {}
    except ValueError:
        return {}
    return factors if isinstance(factors, dict) else {}


def _written(factors: Mapping[str, Any]) -> Sequence[str]:
    """Return the answers to questions for a text."""
    kinds, values = factors.get("kinds") or (), factors.get("values") or ()
    return [value for kind, value in zip(kinds, values, strict=False) if kind == "text" and value]


def _is_plain(record: Mapping[str, Any], answer: str) -> bool:
    """Return True for an answer that says no more than which option was chosen, or a number."""
    known = (record.get("choice"), record.get("option_a"), record.get("option_b"))
    return answer in known or answer.strip().lstrip("+-").replace(".", "", 1).isdecimal()
