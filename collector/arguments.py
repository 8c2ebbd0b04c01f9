"""Check the arguments of a public function against its annotations: a sentence in place of an error from somewhere
inside."""

from __future__ import annotations

import functools
import inspect
import math
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

from slant.collector.errors import UnknownNameError, UsageError
from slant.collector.sources import Source

_P = ParamSpec("_P")
_R = TypeVar("_R")
_NAMES = {str: "a text", Path: "a path", int: "a whole number", float: "a number", bool: "True or False"}
_KNOWN = {"source": get_args(Source)}  # an argument of that name means that in every function
_ONE_OF = (("workers", "executor"),)  # two ways to say one thing
_SEVERAL = (Sequence, Iterable, Collection, list)


def checked_arguments(
    *, more: Mapping[str, Sequence[str]] | None = None, **least: float
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Make a decorator that raises UsageError for wrong arguments. It must be of its annotation's kind, a finite
    number if it is one, and not below the `least` that is given here for its name. `more`: further kinds that such an
    argument takes in this function only. Arguments of unknown kinds are left to the function.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def with_check(*given: _P.args, **named: _P.kwargs) -> _R:
            values = bound_values(function.__name__, inspect.signature(function), given, named)
            bounds = {name: Bounds(at_least) for name, at_least in least.items()}
            check_values(function.__name__, values, _kinds(function), bounds, more or {})
            return function(*given, **named)

        return with_check

    return decorate


@dataclass(frozen=True)
class Bounds:
    """Say what a number may be: from `least` to `most`, or `above` a number."""

    least: float | None = None
    most: float | None = None
    above: float | None = None

    def problem(self, value: float) -> str | None:
        """Return the rule that the number breaks; None if it is valid."""
        if self.above is not None and not value > self.above:
            return f"above {self.above:g}"
        if self.most is not None and value > self.most:
            return f"at most {self.most:g}"
        if not math.isfinite(value) or (self.least is not None and value < self.least):
            return "a finite number" if self.least is None else f"at least {self.least:g}"
        return None


def bound_values(
    called: str, signature: inspect.Signature, given: Sequence[Any], named: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the values of a call by the names of arguments; UsageError if the function can't be called that way."""
    try:
        return signature.bind(*given, **named).arguments
    except TypeError as error:
        known = f"Its arguments: {', '.join(signature.parameters)}."
        raise UsageError(f"{called}() can't be called like this: {error}.", known) from None


def check_values(
    called: str,
    values: Mapping[str, Any],
    kinds: Mapping[str, Any],
    bounds: Mapping[str, Bounds],
    more: Mapping[str, Sequence[str]],
) -> None:
    """Raise UsageError if a value is not of its kind, is out of bounds, or is one of two that say the same."""
    for name, value in values.items():
        known = (*_KNOWN[name], *more.get(name, ())) if name in _KNOWN else None
        if name in kinds and not _fits(value, kinds[name]):
            raise UsageError(f"{called}(): {name} must be {_described(kinds[name])}, but is {_shown(value)}.")
        if known is not None and isinstance(value, str) and value not in known:
            raise UnknownNameError(name, value, known)
        if isinstance(value, int | float) and (problem := bounds.get(name, Bounds()).problem(value)):
            raise UsageError(f"{called}(): {name} must be {problem}, but is {value}.")
    for pair in _ONE_OF:
        if all(values.get(name) is not None for name in pair):
            raise UsageError(f"{called}(): {' and '.join(pair)} exclude each other: remove one.")


@functools.cache
def _kinds(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations that can be resolved; names that only type checkers import can't."""
    inner = inspect.unwrap(function)
    kinds = {}
    for name, text in inner.__annotations__.items():
        try:
            kinds[name] = eval(text, inner.__globals__) if isinstance(text, str) else text
        except (NameError, TypeError, AttributeError):
            continue
    return kinds


def _fits(value: Any, kind: Any) -> bool:
    origin, parts = get_origin(kind), get_args(kind)
    if kind is None or kind is types.NoneType:
        return value is None
    if origin in (Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return value in parts
    if origin in _SEVERAL:
        return isinstance(value, Iterable) and not isinstance(value, str | bytes) and _all_fit(value, parts)
    if origin is Mapping or origin is dict:
        return isinstance(value, Mapping)
    if origin is tuple:
        return isinstance(value, tuple)
    if kind in (int, float):
        return isinstance(value, kind | int) and not isinstance(value, bool)
    if isinstance(kind, type) and issubclass(kind, IO):  # but no file is an instance of it
        return hasattr(value, "write")
    return not isinstance(kind, type) or getattr(kind, "_is_protocol", False) or isinstance(value, kind)


def _all_fit(values: Iterable[Any], parts: tuple[Any, ...]) -> bool:
    """Check the items of a list; an iterator is left alone."""
    return not isinstance(values, Collection) or not parts or all(_fits(value, parts[0]) for value in values)


def _described(kind: Any) -> str:
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        descriptions = dict.fromkeys(_described(part) for part in parts if part is not types.NoneType)
        return " or ".join([*descriptions, *(["None"] if types.NoneType in parts else [])])
    if origin in _SEVERAL:
        return f"a list, each item {_described(parts[0])}" if parts else "a list"
    if origin is Literal:
        return " or ".join(map(repr, parts))
    if origin in (Mapping, dict):
        return "a dict"
    if isinstance(kind, type) and issubclass(kind, IO):
        return "an open file"
    return _NAMES.get(kind, getattr(kind, "__name__", str(kind)))


def _shown(value: Any) -> str:
    shown = repr(value)
    return f"{shown if len(shown) < 60 else shown[:57] + '…'} ({type(value).__name__})"
