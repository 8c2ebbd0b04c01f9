"""Read a codebook: which codes texts may be given, what each means, and how a coder is shown them.

A text gets one of the codes (`one`), any number of them (`several`), or a point of a scale (`scale`).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slant.collector.designs.placeholders import check_placeholders
from slant.collector.errors import StudyError
from slant.collector.study.toml_table import Table, checked_name

ONE, SEVERAL, SCALE = "one", "several", "scale"
_MOST_CODES, _MOST_POINTS = 99, 101


@dataclass(frozen=True, slots=True)
class Code:
    """Hold one code. `label` is what a coder is shown for it, and may name columns of the text in braces. One that
    `comes_last` stays there if the order of the others is drawn."""

    name: str
    label: str
    definition: str = ""
    examples: tuple[str, ...] = ()
    counter_examples: tuple[str, ...] = ()
    comes_last: bool = False

    def shown(self, number: int, columns: Mapping[str, str]) -> str:
        """Return the lines of a prompt about this code."""
        text = self.label.format(**columns)
        lines = [f"{number}. {text}: {self.definition}" if self.definition else f"{number}. {text}"]
        for begins, examples in (("For example", self.examples), ("But not", self.counter_examples)):
            if examples:
                quoted = "; ".join(f'"{example}"' for example in examples)
                lines.append(f"   {begins}: {quoted}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Codebook:
    """Hold the codes in their order; `points` are the lowest and the highest of a scale."""

    kind: str
    codes: tuple[Code, ...]
    is_drawn: bool
    points: tuple[int, int] = (0, 0)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the codes that a text may get, in the codebook's order."""
        if self.kind == SCALE:
            return tuple(str(point) for point in range(self.points[0], self.points[1] + 1))
        return tuple(code.name for code in self.codes)

    def order(self, *drawn_by: object) -> tuple[str, ...]:
        """Return the codes in the order in which a coder is shown them for a text."""
        if not self.is_drawn:
            return self.names
        first = [code.name for code in self.codes if not code.comes_last]
        random.Random("\x1f".join(map(str, ("coding", *drawn_by)))).shuffle(first)
        return (*first, *(code.name for code in self.codes if code.comes_last))

    def shown(self, order: Sequence[str], columns: Mapping[str, str]) -> str:
        """Return the list of codes as a coder reads it, numbered in this order."""
        known = {code.name: code for code in self.codes}
        if self.kind == SCALE:
            return "\n".join(known[name].shown(int(name), columns) for name in order if name in known)
        return "\n".join(known[name].shown(number, columns) for number, name in enumerate(order, 1))

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of an answer: the number of a code as it was shown, their numbers, or the point."""
        low, high = self.points if self.kind == SCALE else (1, len(self.codes))
        number: dict[str, Any] = {"type": "integer", "minimum": low, "maximum": high}
        many = {"type": "array", "items": number}
        key, schema = ("codes", many) if self.kind == SEVERAL else ("code", number)
        return {"type": "object", "properties": {key: schema}, "required": [key], "additionalProperties": False}


def parse_codebook(table: Table, shown: tuple[str, ...]) -> Codebook:
    """Return the codebook of a study file whose coders see the columns `shown` of a text. StudyError for one with fewer
    than two codes (or points), with a code that can't be told from another, or of which nobody could code.
    """
    kind = table.choice("kind", (ONE, SEVERAL, SCALE))
    is_drawn = not table.flag("in_order", True)
    codes = tuple(_code(name, row, shown) for name, row in table.tables("codes").items())
    points = (table.integer("lowest"), table.integer("highest")) if kind == SCALE else (0, 0)
    table.finish()
    labels = [code.label.casefold() for code in codes]
    if len(set(labels)) < len(labels):
        raise StudyError(f"Two codes of {table.where} have the same label: nobody could tell them apart.")
    if kind == SCALE:
        _check_scale(codes, points, is_drawn, table.where)
    elif not 2 <= len(codes) + (kind == SEVERAL) <= _MOST_CODES:
        raise StudyError(f"{table.where} must have 2 to {_MOST_CODES} codes, and has {len(codes)}.")
    return Codebook(kind, codes, is_drawn, points)


def _code(name: str, row: Table, shown: tuple[str, ...]) -> Code:
    checked_name(name, "code")
    label = row.text("label", name.replace("_", " "))
    check_placeholders(label, (), shown, f"the label of {row.where}")
    examples = row.texts("examples", ()), row.texts("counter_examples", ())
    code = Code(name, label, row.text("definition", ""), *examples, row.flag("comes_last", False))
    row.finish()
    return code


def _check_scale(codes: Sequence[Code], points: tuple[int, int], is_drawn: bool, where: str) -> None:
    low, high = points
    if not low < high or high - low >= _MOST_POINTS:
        raise StudyError(f"The scale of {where} must go from lowest to highest in 1 to {_MOST_POINTS - 1} steps.")
    if is_drawn:
        raise StudyError(f"The points of a scale ({where}) have their order: leave out in_order.")
    for code in codes:
        if not code.name.isdecimal() or not low <= int(code.name) <= high:
            raise StudyError(f'"{code.name}" in {where} is no point of the scale from {low} to {high}.')
