"""Describe a record's settings for all that show or take them: the shell, Python, R, the row of a run.

Make a Python function that takes the settings of a record: its signature, its help, the check of its arguments."""

from __future__ import annotations

import builtins
import functools
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, MISSING, dataclass, fields
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

from slant.collector.arguments import Bounds, bound_values, check_values

Kept = Literal["live", "batch", "both"]
_UNITS = {"s": "seconds", "usd": "US dollars"}


@dataclass(frozen=True)
class Setting:
    """Describe a setting in its field's annotation. `help` names other settings as options: --budget.

    `section` is its heading in --help. Numbers are from `least` to `most`, or `above` a bound. `unit` ends its name in
    the row of a run, which has it if it is `kept` (of live runs, of batch jobs, or both). `file`: it is a path. If it
    isn't given, shell and R take the environment's `variable`, then what is `usual`. A setting that is not `in_shell`
    is Python's alone; `only_in_shell` is a sentence about what Python can't do.
    """

    help: str
    _: KW_ONLY
    section: str = ""
    metavar: str | None = None
    least: int | None = None
    most: int | None = None
    above: float | None = None
    unit: str = ""
    kept: Kept | None = None
    file: bool = False
    variable: str | None = None
    usual: str | None = None
    in_shell: bool = True
    only_in_shell: str = ""
    since: str = "0.1.0"

    @property
    def in_units(self) -> str:
        """Return a sentence for readers who don't see the option's metavar."""
        return f" In {_UNITS[self.unit]}." if self.unit else ""


@dataclass(frozen=True)
class Declared:
    """Hold a setting as its record declares it: the field's name, type and default (MISSING: there is none)."""

    name: str
    kind: Any
    default: Any
    setting: Setting

    @property
    def option(self) -> str:
        """Return its name in the shell. A list is an option that may be repeated: `models` are --model."""
        name = self.name.removesuffix("s") if self.is_list else self.name
        return f"--{name.replace('_', '-')}"

    @property
    def stored_name(self) -> str:
        """Return its name in the settings of a run, with its unit."""
        return "_".join(filter(None, [self.name, self.setting.unit]))

    @property
    def kinds(self) -> tuple[Any, ...]:
        """Return its possible types, without None."""
        parts = get_args(self.kind) if get_origin(self.kind) not in (None, Literal) else (self.kind,)
        parts = (self.kind,) if self.is_list and type(None) not in parts else parts
        return tuple(part for part in parts if part is not type(None))

    @property
    def choices(self) -> tuple[Any, ...]:
        return next((get_args(kind) for kind in self.kinds if get_origin(kind) is Literal), ())

    @property
    def is_list(self) -> bool:
        return any(
            getattr(get_origin(kind), "__name__", "") == "Sequence" for kind in (self.kind, *get_args(self.kind))
        )

    @property
    def is_flag(self) -> bool:
        return self.kind is bool

    @property
    def is_required(self) -> bool:
        return self.default is MISSING


class _Names(dict[str, Any]):
    """Resolve names as modules do; what they import for type checkers only may be anything."""

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        return Any


@functools.cache
def settings_of(record: type) -> dict[str, Declared]:
    """Return the settings of a record by name, in its order. Other fields are left out."""
    names = _Names()
    for base in reversed(record.__mro__):
        names.update(vars(sys.modules[base.__module__]))
    hints = get_type_hints(record, localns=names, include_extras=True)
    found = {}
    for field in fields(record):
        hint = hints[field.name]
        setting = next((part for part in get_args(hint) if isinstance(part, Setting)), None)
        if get_origin(hint) is Annotated and setting is not None:
            found[field.name] = Declared(field.name, get_args(hint)[0], field.default, setting)
    return found


def respelled(text: str, spelled: Callable[[str], str]) -> str:
    """Return a help text whose options are spelled as the names of another language."""
    return re.sub(r"--([a-z][a-z-]*)", lambda found: spelled(found[1].replace("-", "_")), text)


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
