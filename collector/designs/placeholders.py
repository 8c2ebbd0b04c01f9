"""Fill placeholders in the texts of a study: names in braces, and nothing else that str.format could do."""

from __future__ import annotations

from functools import lru_cache
from string import Formatter

from slant.collector.errors import StudyError, UnknownNameError


def check_placeholders(text: str, needed: tuple[str, ...], allowed: tuple[str, ...], where: str) -> None:
    """Raise StudyError if a placeholder is missing, unknown, or more than a plain name in braces."""
    names = _parsed(text, where)
    for name, is_plain in names.items():
        if not is_plain or name not in (*needed, *allowed):
            raise UnknownNameError(f"placeholder in {where}", name, (*needed, *allowed))
    for name in needed:
        if name not in names:
            raise StudyError(f"The placeholder {{{name}}} is missing in {where}.", f"The text is: {text.strip()}")


@lru_cache(256)  # each of a study's few texts makes hundreds of kinds of trials
def find_placeholders(text: str) -> frozenset[str]:
    """Return the names in braces of a text that has been checked."""
    return frozenset(_parsed(text, "the text"))


def _parsed(text: str, where: str) -> dict[str, bool]:
    """Return the names in braces, each with whether it is alone there (no format, no conversion)."""
    try:
        parts = [(name, not spec and not bang) for _, name, spec, bang in Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise StudyError(f"A brace is left open in {where} ({error}).", "Write {{ or }} for a brace itself.") from None
    return {name: all(plain for other, plain in parts if other == name) for name, _ in parts}
