"""Printed numbers that other printed numbers decide: means over printed cells, shares that add up to 1."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean

from slant.analysis.paper.family import Row
from slant.analysis.paper.hiring import names, published
from slant.analysis.paper.hiring.design import Key
from slant.analysis.paper.hiring.questions import TABLES
from slant.collector.studies.catalogue import Study

SUM = "sum_of_shares"
_BOUNDS = {"si": 2.0, "bgd": math.sqrt(math.log(2)), "gasi": math.sqrt(math.log(2))}
"""An index lies between 0 and this: SI of four classes, and a Jensen-Shannon distance in natural logarithms."""
_OUT = (published.TEXT, None, None, None, None, "n_out_of_bounds")
_RATIO = (published.TEXT, "claude-sonnet-4 / claude-3-haiku", "main", None, "direct")
_LATER = "v4 Table 2"


def printed(study: Study) -> Iterator[Row]:
    """What must hold of printed numbers: shares add up to 1, indices keep within their bounds; and whether a ratio of
    more than 8 can be: the lower model is then under what is printed of random choices."""
    for key in _shares(study):
        yield (*key, SUM, "1")
    said = {row[:-1]: row[-1] for row in published.printed(study)}
    if said:
        yield (*_OUT, "0")
    if random := said.get((published.TEXT, "random", "main", None, None, "si")):
        yield (*_RATIO, "si_of_second", f"< {random}")


def found(study: Study) -> Iterator[tuple[Key, float]]:
    shares = _shares(study)
    yield from (((*key, SUM), sum(its.values())) for key, its in shares.items())
    for test, table in TABLES.items():
        for rank in names.RANKS:
            cells = [its[rank] for key, its in shares.items() if key[0] == table]
            if cells:
                pooled = next(iter(name for name in names.SEVERAL if "+" in name and "gpt-4o" in name))
                yield (published.TEXT, pooled, test, None, None, f"percent_{rank}"), 100 * fmean(cells)
    yield from _of_frontier(study)
    said = {row[:-1]: row[-1] for row in published.printed(study)}
    yield _OUT, float(sum(map(_is_out, said, said.values())))
    highest = float(said[published.TEXT, "claude-sonnet-4", "main", None, "direct", "si"])
    yield (*_RATIO, "si_of_second"), highest / float(said[*_RATIO, "si_ratio"].removeprefix("> "))


def _is_out(key: Key, value: str) -> bool:
    bound = _BOUNDS.get(key[-1].partition("_")[0])
    is_number = value.removeprefix("-").replace(".", "", 1).isdigit()
    return bound is not None and is_number and not 0 <= float(value) <= bound


def _shares(study: Study) -> dict[tuple[str, str | None, str | None, None, str | None], dict[str, float]]:
    rows: dict[tuple[str, str | None, str | None, None, str | None], dict[str, float]] = defaultdict(dict)
    for table, model, test, _, condition, quantity, value in published.printed(study):
        rank = quantity.removeprefix("share_")
        if table in TABLES.values() and rank in names.RANKS:
            rows[table, model, test, None, condition][rank] = float(value)
    return dict(rows)


def _of_frontier(study: Study) -> Iterator[tuple[Key, float]]:
    """GASI from Table 1. Ten of the twelve SI stand only in a later version; those of reasoning models in the text."""
    rows = [row for row in (*published.printed(study), *published.later(study)) if row[2] == "main"]
    gasi = [float(row[-1]) for row in rows if row[0] == "Table 1" and row[4]]
    si = [float(row[-1]) for row in rows if row[-2] == "si" and row[0] == _LATER and row[4]]
    si += [float(row[-1]) for row in rows if row[-2] == "si" and row[4] == "reasoning"]
    people = [float(row[-1]) for row in rows if row[:2] == (published.TEXT, "humans") and row[-2] == "si"]
    key = (published.TEXT, names.FRONTIER, "main", None, None)
    yield (*key, "gasi"), fmean(gasi)
    yield (*key, "si"), fmean(si)
    yield (*key, "n_cells_above_people"), float(sum(one > people[0] for one in si))
