"""Compile regular expressions when they are first used: most runs never need most of them."""

from __future__ import annotations

import re
from typing import Any, cast

_ATTRIBUTES = (
    "search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn", "flags", "groups", "groupindex"
)  # fmt: skip


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern like that of re.compile(). Raise re.error at its first use rather than now."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


class _LazyPattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _ATTRIBUTES:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        self.__dict__.update((attribute, getattr(compiled, attribute)) for attribute in _ATTRIBUTES)
        return self.__dict__[name]
