"""Make a Python function that takes the settings of a record: its signature, its help, the check of its arguments."""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar, get_type_hints

from slant.collector.arguments import Bounds, bound_values, check_values
from slant.collector.request.setting import Declared, respelled, settings_of

_P = ParamSpec("_P")
_Record = TypeVar("_Record")
_R = TypeVar("_R")
_WIDTH = 100


def takes(
    record: Callable[_P, _Record], names: Mapping[str, Any]
) -> Callable[[Callable[[_Record], _R]], Callable[_P, _R]]:
    """Return a decorator: a function of a record becomes one of the record's fields, each with its type and default.

    `help()` lists every setting. The function raises UsageError if a value is not of its kind or out of bounds. `names`
    are types that the record's module imports for type checkers only.
    """
    assert isinstance(record, type)
    settings, kinds = settings_of(record), get_type_hints(record, localns=dict(names))
    bounds = {
        name: Bounds(declared.setting.least, declared.setting.most, declared.setting.above)
        for name, declared in settings.items()
    }
    parameters = inspect.signature(record).parameters.values()
    plain = [parameter.replace(annotation=_written(kinds[parameter.name])) for parameter in parameters]

    def decorate(function: Callable[[_Record], _R]) -> Callable[_P, _R]:
        signature = inspect.Signature(plain, return_annotation=inspect.signature(function).return_annotation)

        @functools.wraps(function)
        def with_fields(*given: _P.args, **named: _P.kwargs) -> _R:
            values = bound_values(function.__name__, signature, given, named)
            check_values(function.__name__, values, kinds, bounds, {})
            return function(record(*given, **named))

        vars(with_fields)["__signature__"] = signature
        vars(with_fields).pop("__wrapped__")
        with_fields.__doc__ = "\n".join(
            [inspect.cleandoc(function.__doc__ or ""), "", *_listed(settings.values(), kinds)]
        )
        return with_fields

    return decorate


def _written(kind: Any) -> str:
    """Return a type as the record spells it, without the modules of its names."""
    return re.sub(r"\b(\w+\.)+", "", inspect.formatannotation(kind))


def _listed(settings: Iterable[Declared], kinds: Mapping[str, Any]) -> list[str]:
    """Return the lines of help about settings, under the headings of the shell's --help."""
    sections: dict[str, list[str]] = {}
    for declared in settings:
        default = "" if declared.is_required else f" = {declared.default!r}"
        since = "" if declared.setting.since == "0.1.0" else f" Since {declared.setting.since}."
        text = respelled(f"{declared.setting.help}{declared.setting.in_units}", lambda name: f"`{name}`") + since
        lines = sections.setdefault(declared.setting.section or "Settings", [])
        lines.append(f"    {declared.name}: {_written(kinds[declared.name])}{default}")
        lines += textwrap.wrap(text, _WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8)
    return [line for title, lines in sections.items() for line in (f"{title}:", *lines, "")][:-1]
