"""What differs between two texts of a study: the keys of its TOML and the rows of its CSVs, by name."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

NOT_ASKED = ("title", "source", "note", "published", "fits", "sensitivity", "simulation", "figures", "variant_labels")
"""Tables of a study that no prompt is made of: their differences are named only where nothing else differs."""


def text_differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The places that differ, as `[prompt] option_order`, `[prompt.wordings] 3`, `stimuli.csv "lungo"`; what decides
    the prompts first. Each text is its files by name, its own first."""
    toml = [(_name(path), path[0] in NOT_ASKED) for path in _changed(_toml(before), _toml(after))]
    files = [
        (row, False)
        for name in dict.fromkeys((*list(before)[1:], *list(after)[1:]))
        for row in _rows(name, before.get(name, ""), after.get(name, ""))
    ]
    places = [*toml, *files]
    return [place for place, is_other in places if not is_other] or [place for place, _ in places]


def _toml(files: Mapping[str, str]) -> dict[str, Any]:
    try:
        return tomllib.loads(next(iter(files.values()), ""))
    except tomllib.TOMLDecodeError:
        return {}


def _changed(before: Any, after: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of all values that are not the same; rows of an array of tables go by their first value."""
    was, current = _by_name(before), _by_name(after)
    if was is not None and current is not None:
        yield from ((*at, name) for name in dict.fromkeys((*was, *current)) if was.get(name) != current.get(name))
    elif isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            yield from _changed(before.get(key), after.get(key), (*at, str(key)))
    elif before != after:
        yield at


def _by_name(value: Any) -> dict[str, Any] | None:
    """An array of tables by the first value of each; None of what is no such array, or has two of one name."""
    if not isinstance(value, list) or not value or not all(isinstance(row, dict) and row for row in value):
        return None
    named = {str(next(iter(row.values()))): row for row in value}
    return named if len(named) == len(value) else None


def _name(path: tuple[str, ...]) -> str:
    return path[0] if len(path) == 1 else f"[{'.'.join(path[:-1])}] {path[-1]}"


def _rows(name: str, before: str, after: str) -> Iterator[str]:
    """Rows of a CSV that only one of the texts has, each once: by the first cell where that names a row."""
    tables = [list(csv.reader(io.StringIO(text))) for text in (before, after)]
    rows = [[tuple(cell.strip() for cell in row) for row in table] for table in tables]
    changed = [row for row in rows[1] if row not in set(rows[0])] + [row for row in rows[0] if row not in set(rows[1])]
    named = all(len({row[:1] for row in table}) == len(table) for table in rows)
    labels = dict.fromkeys(row[0] if named else ", ".join(row) for row in changed if row)
    yield from (f"{name} {label if named else json.dumps(label, ensure_ascii=False)}" for label in labels)
