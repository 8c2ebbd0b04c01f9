"""Write and read a registration as RFC 8785 JSON, so that the same content always has the same hash."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import rfc8785

from slant.collector.arguments import checked_arguments
from slant.collector.errors import UsageError
from slant.collector.records import Registration
from slant.collector.stopping.rule import StoppingRule
from slant.collector.system.files import opened, real_file

FORMAT = "slant registration 1"
CANONICAL_FORM = "RFC 8785 (JSON Canonicalization Scheme): sorted keys, no blanks, numbers as ECMAScript writes them"
_MAX_BYTES = 100_000_000
_MAX_PARTS = 2_000_000
"""Limit lists and tables: each takes a hundred bytes of memory or more, and a plan of a thousand variants has
thousands."""
_LONGEST_SEED = 100  # digits
_EXACT = 2**53  # RFC 8785 has no whole numbers beyond it
_DIGITS = re.compile(r"-?\d+")
_Shape = Mapping[str, type | tuple[type, ...]]
_TEXT_OR_NONE = (str, type(None))
_LISTS = ("plans", "fits")
_TABLES = ("study", "prompts", "later_models", "exclusions", "looks")
_SHAPE: _Shape = {**dict.fromkeys(_TABLES, dict), **dict.fromkeys(_LISTS, list), "stopping_rule": str}
_SHAPE_OF_PLAN: _Shape = {
    **dict.fromkeys(("repetitions", "trials_per_model"), int),
    "variant": str,
    "seed": (int, str),
    "models": list,
}
_SHAPE_OF_MODEL: _Shape = {
    **dict.fromkeys(("model", "provider", "requested_model"), str),
    "settings": dict,
    "prompts": _TEXT_OR_NONE,
}


def registered_rule(document: Mapping[str, Any]) -> StoppingRule | None:
    """Return the rule of precision by which collecting is to end; None if all planned trials are asked."""
    return StoppingRule.in_settings(document.get("precision") or {})


def registration_of(document: Mapping[str, Any]) -> Registration:
    """Return a document with its canonical text and the SHA-256 of that. Raise UsageError for a number that JSON lacks
    (NaN).
    """
    try:
        data = rfc8785.dumps(dict(document))
    except rfc8785.CanonicalizationError as error:
        raise UsageError(f"This can't be registered: {error}.", "Every number must be finite.") from None
    return Registration(hashlib.sha256(data).hexdigest(), document["study"]["name"], data.decode("utf-8"))


def canonical_text(value: Any) -> str:
    """Return a value of JSON in the canonical form; equal values give equal texts."""
    return rfc8785.dumps(value).decode("utf-8")


def parsed_json(text: str | bytes) -> Any:
    """Return the value of a text in the canonical form, in which a large float may look like an integer."""
    return json.loads(text, parse_int=lambda digits: n if abs(n := float(digits)) >= _EXACT else int(digits))


def exact(number: int) -> int | str:
    """Return a whole number for RFC 8785: one of more than 53 bits becomes a text of its digits."""
    return number if abs(number) < _EXACT else str(number)


@checked_arguments()
def read_registration(path: str | Path) -> Registration:
    """Return the registration in this file; UsageError if it is not one, or was changed after it was written."""
    try:
        if Path(path).exists() and not Path(path).is_file():  # a pipe would be waited for
            raise _no_registration(path, "it is no file")
        with opened(real_file(path)) as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f'Can\'t read the registration "{path}": {error.strerror}.') from None
    if len(data) > _MAX_BYTES:
        raise _no_registration(path, f"it has more than {_MAX_BYTES:,} bytes")
    return parsed_registration(data, path)


def parsed_registration(data: bytes, name: str | Path) -> Registration:
    """Return the registration in these bytes; `name` is what an error calls them."""
    if data.count(b"[") + data.count(b"{") > _MAX_PARTS:
        raise _no_registration(name, "it has more parts than any plan")
    try:
        document = parsed_json(data)
        is_canonical = rfc8785.dumps(document) == data
    except (ValueError, RecursionError, rfc8785.CanonicalizationError):
        raise _no_registration(name, "it is no JSON that can be canonical") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _no_registration(name, f'its "format" is not "{FORMAT}"')
    if not is_canonical:
        raise _no_registration(name, "it was changed after `collect preregister` wrote it (a line end, say)")
    if problem := _misshapen(document):
        raise _no_registration(name, problem)
    return registration_of(document)


def document_of(registration: Registration) -> dict[str, Any]:
    document: dict[str, Any] = parsed_json(registration.text)
    return document


def _misshapen(document: Mapping[str, Any]) -> str | None:
    """Return the malformed part, so that later readers of a registration need not check again."""
    problem = _other_shape(document, _SHAPE, "it")
    if problem or not all(isinstance(document["study"].get(key), str) for key in ("name", "version")):
        return problem or "its study has no name and version"
    for plan in document["plans"]:
        if problem := _other_shape(plan, _SHAPE_OF_PLAN, "a plan"):
            return problem
        if not _DIGITS.fullmatch(str(plan["seed"])) or len(str(plan["seed"])) > _LONGEST_SEED:
            return "the seed of a plan is no whole number"
        for model in plan["models"]:
            if problem := _other_shape(model, _SHAPE_OF_MODEL, "a model"):
                return problem
    for fit in document["fits"]:
        if problem := _other_shape(fit, {"name": str, "engine": str, "drop_flags": list}, "a fit"):
            return problem
    if not all(isinstance(hashes, list) for hashes in document["prompts"].values()):
        return "its prompts are no lists of hashes"
    at = document["looks"].get("at")
    if not isinstance(document["looks"].get("planned"), int) or not isinstance(at, list):
        return "its looks have no number"
    if not all(type(look) is int and 0 < look < _EXACT for look in at):
        return "a look is at no number of trials"
    if not isinstance(document["later_models"].get("eligible"), list):
        return "its later models are no list"
    return _bad_rule(document.get("precision"))


def _bad_rule(precision: Any) -> str | None:
    shape: _Shape = {"until_width": (int, float), "looks": int, "most_repetitions": int}
    if precision is None:
        return None
    if problem := _other_shape(precision, shape, "its rule of precision"):
        return problem
    try:
        StoppingRule(*(precision[name] for name in shape))
    except UsageError as error:
        return f"its rule of precision can't hold ({error.what})"
    return None


def _other_shape(part: Any, shape: _Shape, what: str) -> str | None:
    for key, kind in shape.items():
        if not isinstance(part, dict) or not isinstance(part.get(key), kind) or isinstance(part[key], bool):
            return f'{what} has no "{key}", or not of the kind it must be'
    return None


def _no_registration(name: str | Path, reason: str) -> UsageError:
    return UsageError(
        f'"{name}" is no registration: {reason}.',
        "It must be the file that `collect preregister` wrote, byte for byte.",
    )
