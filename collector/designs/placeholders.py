"""Fill placeholders in the texts of a study: names in braces, and nothing else that str.format could do. Designs in
packages of others import it, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from string import Formatter

from slant.collector.errors import StudyError, UnknownNameError

_BRACES = "Write {{ or }} for a brace itself."


def check_placeholders(text: str, needed: tuple[str, ...], allowed: tuple[str, ...], where: str) -> None:
    """Raise StudyError if a placeholder is missing, unknown, or more than a plain name in braces."""
    names = _parsed(text, where)
    for name in names:
        if name not in (*needed, *allowed):
            how = () if name.isidentifier() else (_BRACES,)
            raise UnknownNameError(f"placeholder in {where}", name, (*needed, *allowed), *how)
    for name in needed:
        if name not in names:
            raise StudyError(f"The placeholder {{{name}}} is missing in {where}.", f"The text is: {text.strip()}")


@lru_cache(256)  # each of a study's few texts makes hundreds of kinds of trials
def find_placeholders(text: str) -> frozenset[str]:
    """Return the names in braces of a text that has been checked."""
    return frozenset(_parsed(text, "the text"))


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a checked text with the values of its placeholders, which are searched for none; one without a value stays
    as it is written."""
    parts = Formatter().parse(text)
    return "".join(said + (values.get(name, f"{{{name}}}") if name else "") for said, name, _, _ in parts)


def _parsed(text: str, where: str) -> dict[str, None]:
    """Return the contents of braces as they are written: a name, and any format or conversion after it."""
    try:
        parts = [part for part in Formatter().parse(text) if part[1] is not None]
    except ValueError as error:
        raise StudyError(f"A brace is left open in {where} ({error}).", _BRACES) from None
    return {f"{name}{f'!{bang}' if bang else ''}{f':{spec}' if spec else ''}": None for _, name, spec, bang in parts}
