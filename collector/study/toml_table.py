"""Read a TOML table key by key, and then refuse every key that was not read."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

from slant.collector.errors import StudyError, check_known

_Value = TypeVar("_Value")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def shortened(text: object, most: int = 80) -> str:
    """Return a text of a study file as a sentence repeats it: a longer one is cut off."""
    whole = str(text)
    return whole if len(whole) <= most else f"{whole[:most]}…"


def parsed_toml(text: str) -> dict[str, Any]:
    """Return a TOML text as a table. Raise ValueError for one that is not TOML, or has a whole number of more than 64
    bits, which other tools can't hold and Python may not print."""
    values = tomllib.loads(text)
    waiting: list[Any] = [values]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ValueError(f"a whole number in it has {value.bit_length():,} bits; at most 64 can be read")
    return values


def checked_name(name: str, what: str) -> str:
    """Return `name` if it is safe as a file name, a column value and an SQL literal; else raise StudyError."""
    if not _NAME.fullmatch(name):
        raise StudyError(
            f'The {what} can\'t be called "{shortened(name)}".',
            "A name has letters, digits, points, hyphens and underscores, starts with a letter or a digit, "
            "and has at most 64 characters.",
        )
    return name


def unknown_key(key: str, where: str, known: Iterable[str]) -> StudyError:
    """Return the error for an unknown key (or CSV column), with the nearest known one."""
    names = sorted(known)
    near = get_close_matches(key[:80], names, n=1, cutoff=0.5)
    hint = f'Did you mean "{near[0]}"?' if near else f"Known here: {shortened(', '.join(names), 2000)}."
    return StudyError(f'There is no key "{shortened(key)}" in {where}. {hint}')


class Table:
    """Hold one table of a study file. `where` names it for people, as in 'mine.toml, [prompt]'."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._values = values
        self._read: set[str] = set()
        self.where = where

    def has(self, key: str) -> bool:
        """Return True if the table has this key."""
        return key in self._values

    @property
    def names(self) -> set[str]:
        """Return the keys of the table."""
        return set(self._values)

    def text(self, key: str, default: str | None = None) -> str:
        value: str | None = self.optional(key, str, "a text")
        return self._required(key, default if value is None else value)

    def optional_text(self, key: str) -> str | None:
        value: str | None = self.optional(key, str, "a text")
        return value

    def integer(self, key: str, default: int | None = None) -> int:
        value: int | None = self.optional(key, int, "a whole number")
        return self._required(key, default if value is None else value)

    def flag(self, key: str, default: bool) -> bool:
        value: bool | None = self.optional(key, bool, "true or false")
        return default if value is None else value

    def texts(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        value: list[str] | None = self.optional(key, list, "a list of texts")
        if value is not None and not all(isinstance(item, str) for item in value):
            raise StudyError(f'"{key}" in {self.where} must be a list of texts.')
        return self._required(key, default if value is None else tuple(value))

    def choice(self, key: str, known: Sequence[str]) -> str:
        """Return the chosen text, the first of these if it is absent; UnknownNameError for another one."""
        value = self.text(key, known[0])
        check_known(f"{key} in {self.where}", value, known)
        return value

    def mapping(self, key: str) -> dict[str, Any]:
        """Return a table that is kept as it is (empty if absent)."""
        return self.optional(key, dict, "a table") or {}

    def table(self, key: str) -> Table:
        """Return a table inside this one (empty if absent)."""
        inner = f"{self.where[:-1]}.{key}]" if self.where.endswith("]") else f"{self.where}, [{key}]"
        return Table(self.mapping(key), inner)

    def tables(self, key: str) -> dict[str, Table]:
        """Return tables by name, as in [frames.api] and [frames.local]; empty if absent."""
        inner = self.table(key)
        return {checked_name(name, key): inner.table(name) for name in inner._values}

    def rows(self, key: str) -> list[Table]:
        """Return an array of tables, as in [[models]]; empty if absent."""
        value = self.optional(key, list, "an array of tables") or []
        if not all(isinstance(row, dict) for row in value):
            raise StudyError(f'"{key}" in {self.where} must be an array of tables.')
        return [Table(row, f"{self.where}, [[{key}]] number {no}") for no, row in enumerate(value, start=1)]

    def optional(self, key: str, kind: type | tuple[type, ...], described: str) -> Any:
        """Return the value of `key`, or None if it is absent; StudyError if it is of another kind."""
        self._read.add(key)
        value = self._values.get(key)
        if value is not None and (not isinstance(value, kind) or (isinstance(value, bool) and kind is int)):
            raise StudyError(f'"{key}" in {self.where} must be {described}, but it is {shortened(repr(value))}.')
        return value

    def finish(self) -> None:
        """Refuse the first key that was not read."""
        for key in self._values:
            if key not in self._read:
                raise unknown_key(key, self.where, self._read)

    def refuse_misspelled(self, key: str) -> None:
        """Refuse a key that may be meant for `key`, which the table lacks."""
        if near := [name for name in get_close_matches(key, list(self._values), n=1, cutoff=0.7) if name != key]:
            raise unknown_key(near[0], self.where, [key])

    def _required(self, key: str, value: _Value | None) -> _Value:
        if value is None:
            near = [k for k in get_close_matches(key, list(self._values), n=1, cutoff=0.7) if k not in self._read]
            hint = f'It has "{near[0]}": is that meant?' if near else ""
            raise StudyError(f'{self.where} needs the key "{key}".', *filter(None, [hint]))
        return value
