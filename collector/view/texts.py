"""Show texts of models and providers on a page: nothing hidden, nothing endless."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from markupsafe import Markup, escape

from slant.collector.request_messages import values_of

SHOWN_CHARACTERS = 20_000
# All that is invisible and may move, hide or reorder what is around it: control characters except tab and new line,
# those of direction, of no width, of line and paragraph, tags, and what no text should hold.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def visible(text: object) -> Markup:
    """Escape a text for HTML, with each invisible character as its code point in a box."""
    return Markup(_HIDDEN.sub(_code_point, str(escape("" if text is None else str(text)))))


def _code_point(match: re.Match[str]) -> str:
    # without quotes: put into an attribute by mistake, it stays in it
    return f"<b class=hidden-character>U+{ord(match[0]):04X}</b>"


@dataclass(frozen=True)
class LongText:
    """Hold the beginning of a text, and how many characters it has in all."""

    start: str
    n_characters: int

    @property
    def n_left(self) -> int:
        return self.n_characters - len(self.start)


def begun(text: str | None, *, is_whole: bool = False) -> LongText | None:
    if text is None:
        return None
    return LongText(text if is_whole else text[:SHOWN_CHARACTERS], len(text))


def indented(text: str | None) -> str | None:
    """Indent JSON for reading; any other text is unchanged."""
    value = values_of(text)
    return json.dumps(value, ensure_ascii=False, indent=1) if value else text
