"""Columns in the names of requests: who writes `emily-nurse-1` says what was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from slant.collector.importing.layouts.tidy import IDS
from slant.collector.importing.renamed import parts_of

_SIGNS = "|/:;~-_. "


def parts_of_ids(columns: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return what the names of requests are made of ("emily-nurse-1"), as columns that `--map` reaches: all must have
    as many parts, by the signs with which there are most."""
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
