"""Columns in the names of requests: who writes `emily-nurse-1` says what was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from slant.collector.designs.proposed_study import AnsweredCell, AnsweredCells
from slant.collector.importing.layouts.cells import SIGNS_IN_IDS
from slant.collector.importing.layouts.tidy import IDS
from slant.collector.importing.layouts.values import is_empty, word
from slant.collector.importing.renamed import parts_of

_SIGNS = "|/:;~-_. "


def parts_of_ids(columns: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the parts of request names ("emily-nurse-1"), as columns that `--map` reaches: all must have as many
    parts, by the signs with which there are most."""
    name = next((name for name in IDS if name in columns), None)
    ids = columns.get(name or "", [])
    if name is None or not all(ids) or (name != IDS[0] and len(set(ids)) * 2 <= len(ids)):
        return {}
    there = "".join(sign for sign in _SIGNS if any(sign in text for text in ids))
    divided = []
    for signs in dict.fromkeys([*there, *map("".join, combinations(there, 2)), there]):
        split = [parts_of(text, signs) for text in ids] if signs else []
        if len({len(parts) for parts in split}) == 1 and len(split[0]) > 1:
            divided.append((signs, split))
    if not divided:
        return {}
    signs, split = max(divided, key=lambda found: (len(found[1][0]), -len(found[0])))
    return {f"{name}#{signs}{place}": list(part) for place, part in enumerate(zip(*split, strict=True), 1)}


def by_id(cells: dict[str, object], place: list[str]) -> list[str]:
    """Return the parts of a request's own name in `item`, for `told_apart`, where no columns say the place."""
    named = next((word(cells[name]) for name in IDS if not is_empty(cells.get(name))), "")
    return [*place[:2], place[2] or f"\0{named}", *place[3:]]


def told_apart(cells: AnsweredCells) -> AnsweredCells:
    """Return cells whose items are ids, by what the parts of these are: the one of two values the condition, whole
    numbers the wording, the one of most values the item, what is left the test."""
    ids = [cell.item.removeprefix("\0") for cell in cells]
    for sign in SIGNS_IN_IDS:
        split = [tuple(part.strip() for part in text.split(sign)) for text in ids]
        if len({len(parts) for parts in split}) != 1 or len(split[0]) < 2:
            continue
        values = [list(dict.fromkeys(column)) for column in zip(*split, strict=True)]
        roles = _roles_of_parts(values)
        told: Counter[AnsweredCell] = Counter()
        for (cell, count), parts in zip(cells.items(), split, strict=True):
            told[cell._replace(**{"item": "", **{ours: parts[place] for ours, place in roles.items()}})] += count
        return told
    return Counter({cell._replace(item=cell.item.removeprefix("\0")): count for cell, count in cells.items()})


def _roles_of_parts(values: Sequence[Sequence[str]]) -> dict[str, int]:
    texts = [place for place, known in enumerate(values) if not all(value.isdecimal() for value in known)]
    numbers = [place for place in range(len(values)) if place not in texts]
    roles = {"item": max(texts, key=lambda place: len(values[place]))} if texts else {}
    left = [place for place in texts if place not in roles.values()]
    if two := [place for place in left if len(values[place]) == 2]:
        roles["condition"] = next(
            (place for place in two if all("gruent" in v or "patible" in v or "sistent" in v for v in values[place])),
            two[-1],
        )
    if tests := [place for place in left if place not in roles.values()]:
        roles["test"] = tests[0]
    if numbers:
        roles["wording"] = numbers[0]
    return roles
