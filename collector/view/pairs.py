"""Show pairs: the same question in two conditions, first those whose token counts differ most.

A design says which trials are a pair (`Analyses.pairs_by`). Pairs are of one model, for counts of two models are not
comparable, and of one study, variant and source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any

import duckdb
from duckdb import ColumnExpression, ConstantExpression, FunctionExpression

from slant.collector.errors import UsageError
from slant.collector.system.shipped_files import sql_query
from slant.collector.view.paging import Order, read_key, rows_of
from slant.collector.view.trials import design_of, design_of_study

PAIRS_ON_A_PAGE = 50
CELL = ("study", "source", "variant", "model")
SORTS = {"": ("size", True), "more": ("difference", True), "fewer": ("difference", False)}
"""Order pairs by the largest difference either way, by most tokens more, or most tokens fewer than the reference."""


@dataclass(frozen=True)
class PairChoice:
    """Hold which pairs: in which cell, between which conditions, in which order. `cells` are the ones to choose
    from."""

    cells: list[list[str]]
    cell: list[str]
    pairs_by: tuple[str, ...]
    conditions: list[str]
    reference: str
    other: str
    sort: str

    @property
    def order(self) -> Order:
        return Order((SORTS[self.sort], ("reference_id", False), ("other_id", False)))

    def query(self, **changes: str) -> dict[str, str]:
        whole = dict(zip(CELL, self.cell, strict=True))
        whole |= {"reference": self.reference, "other": self.other, "sort": self.sort, **changes}
        return {name: value for name, value in whole.items() if value}


def paired_cells(connection: duckdb.DuckDBPyConnection) -> list[list[str]]:
    """Return the cells of studies whose design makes pairs, as their runs list them; the latest run first."""
    rows = connection.execute(sql_query("paired_cells")).fetchall()
    return [cell for *cell, name in rows if (design := design_of(name)) is not None and design.analyses.pairs_by]


def pair_choice(connection: duckdb.DuckDBPyConnection, query: Mapping[str, str]) -> PairChoice | None:
    """Return the choice of pairs in an address, with defaults: the latest run's first model, the first two conditions.
    None if no study here makes pairs."""
    cells = paired_cells(connection)
    fitting = [cell for cell in cells if all(query.get(n, "") in ("", v) for n, v in zip(CELL, cell, strict=True))]
    if not cells:
        return None
    if not fitting:
        raise UsageError("There are no pairs of this study, source, variant and model.")
    cell = fitting[0]
    named = connection.execute(sql_query("condition_order"), {"study": cell[0]}).fetchall()
    conditions = [name for (name,) in named]
    design = design_of(design_of_study(connection, cell[0]))
    if design is None or len(conditions) < 2:
        raise UsageError(f"The study {cell[0]} has {len(conditions)} conditions, and a pair needs two.")
    reference, other = query.get("reference") or conditions[0], query.get("other") or conditions[1]
    if {reference, other} - set(conditions) or query.get("sort", "") not in SORTS:
        raise UsageError(f"The conditions of {cell[0]} are {', '.join(conditions)}.")
    return PairChoice(cells, cell, design.analyses.pairs_by, conditions, reference, other, query.get("sort", ""))


def pairs_of(connection: duckdb.DuckDBPyConnection, choice: PairChoice) -> duckdb.DuckDBPyRelation:
    """Return the pairs, unordered, one row each: the columns that they share, both trials, both token counts, the
    difference (other minus reference) and its `size`."""
    trials = connection.view("trials")
    is_of_cell = [ColumnExpression(n) == ConstantExpression(v) for n, v in zip(CELL, choice.cell, strict=True)]
    sides, shared = [], ("study_version", *choice.pairs_by)
    for side, condition in (("reference", choice.reference), ("other", choice.other)):
        is_of_side = ColumnExpression("condition") == ConstantExpression(condition)
        rows = trials.filter(reduce(and_, is_of_cell, is_of_side))
        own = [ColumnExpression(old).alias(f"{side}_{new}") for old, new in _OWN.items()]
        sides.append(rows.select(*(ColumnExpression(name) for name in shared), *own).set_alias(side))
    joined = sides[0].join(sides[1], ", ".join(f'"{name}"' for name in shared), how="inner")
    difference = ColumnExpression("other_tokens") - ColumnExpression("reference_tokens")
    kept = [ColumnExpression(name) for name in joined.columns]
    return joined.select(*kept, difference.alias("difference"), FunctionExpression("abs", difference).alias("size"))


_OWN = {"trial_id": "id", "tokens": "tokens", "outcome": "outcome"}


@dataclass(frozen=True)
class PairSteps:
    """Hold a pair, and the places of those before and after it; None if it is the first or the last."""

    row: dict[str, Any]
    before: str | None
    behind: str | None


def steps_of_pair(pairs: duckdb.DuckDBPyRelation, order: Order, place: str | None) -> PairSteps | None:
    """Return the pair at a place of the list (None: the first); None if there is none."""
    key = read_key(place) if place else None
    rows = rows_of(order.sorted(order.beyond(pairs, key, with_itself=True) if key else pairs).limit(2))
    if not rows:
        return None
    before = []
    if key:
        before = rows_of(order.sorted(order.beyond(pairs, key, is_backwards=True), is_backwards=True).limit(1))
    places = [order.key_of(row) for row in (*before, *rows)]
    return PairSteps(rows[0], places[0] if before else None, places[-1] if len(rows) > 1 else None)
