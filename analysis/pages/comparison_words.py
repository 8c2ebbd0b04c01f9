"""Put comparisons into words: what differs, by how much, and what the data exclude where no difference was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

from slant.analysis.pages.report_tables import rounded
from slant.analysis.rows.cells import FEW_DF
from slant.collector.provenance.methods import listed
from slant.collector.screen_tables import shown_p
from slant.collector.terminal import count_text

ALPHA = 0.05
MOST_SENTENCES = 3
CELL = ("model", "test")
NO_ERROR = "standard errors are 0 or unknown"


@dataclass(frozen=True)
class Cell:
    """Hold what was compared in one model and test: a row for each comparison, `p` corrected. `what`: the two sides of
    a single comparison, or the attribute. `at`: the levels of other factors that it is of, if these interact. Without p
    (`has_p`), an interval that excludes 0 decides, widened for `n_tests` comparisons (Bonferroni; its ends moved out as
    those of a normal distribution)."""

    model: str | None
    test: str | None
    what: str
    unit: str
    rows: list[dict[str, Any]]
    has_p: bool = True
    n_tests: int = 1
    at: str = ""

    @property
    def found(self) -> list[dict[str, Any]]:
        return [row for row in self.rows if self._is_different(row)]

    @property
    def untested(self) -> list[dict[str, Any]]:
        """Return the comparisons without a test: answers that follow from what was shown alone have no error."""
        needed = ("p",) if self.has_p else ("conf_low", "conf_high")
        return [row for row in self.rows if None in map(row.get, needed)]

    @property
    def rule(self) -> str:
        """Return the criterion for a difference."""
        if self.has_p:
            return f"corrected p < {ALPHA:.2f}".replace("0.", ".")
        return f"95 % interval{f' for all {self.n_tests} at once' if self.n_tests > 1 else ''} excludes 0"

    def _is_different(self, row: Mapping[str, Any]) -> bool:
        """Return whether corrected p is below alpha, or without p, if the widened interval excludes 0."""
        if row in self.untested:
            return False
        if self.has_p:
            return bool(row["p"] < ALPHA)
        low, high = row["conf_low"], row["conf_high"]
        normal = NormalDist()
        wider = normal.inv_cdf(1 - ALPHA / 2 / self.n_tests) / normal.inv_cdf(1 - ALPHA / 2)
        at = row["estimate"]
        return bool((at - wider * (at - low)) * (at + wider * (high - at)) > 0)

    @property
    def limit(self) -> float | None:
        """Return the largest difference that some 95 % interval holds; None if an interval is unknown."""
        ends = [row[end] for row in self.rows for end in ("conf_low", "conf_high")]
        return None if None in ends or not ends else max(map(abs, ends))


def sentences(cells: Sequence[Cell]) -> list[str]:
    """Return a sentence for each cell if these are few, else their counts."""
    n_tests = sum(len(cell.rows) for cell in cells if not cell.has_p)
    cells = [cell if cell.has_p else replace(cell, n_tests=n_tests) for cell in cells]
    if len(cells) <= MOST_SENTENCES:
        return [_of_cell(cell) for cell in cells]
    untested = sum(cell.untested == cell.rows for cell in cells)
    cells = [cell for cell in cells if cell.untested != cell.rows]
    more = [f"{untested} of {len(cells) + untested} cells could not be tested ({NO_ERROR})."] if untested else []
    of_units: dict[str, list[Cell]] = {}  # points of a scale and percentage points are not counted together
    for cell in cells:
        of_units.setdefault(cell.unit, []).append(cell)
    said = _of_many if len(of_units) == 1 else _of_unit
    return [sentence for of_unit in of_units.values() for sentence in said(of_unit)] + more


def _of_unit(cells: Sequence[Cell]) -> Iterator[str]:
    if len(cells) <= MOST_SENTENCES:
        yield from map(_of_cell, cells)
        return
    tests = dict.fromkeys(cell.test for cell in cells if cell.test is not None)
    head, *more = _of_many(cells)
    yield f"{listed([test.replace('_', ' ') for test in tests])}: {head}" if len(tests) <= MOST_SENTENCES else head
    yield from more


def _of_cell(cell: Cell) -> str:
    test = None if cell.test is None else cell.test.replace("_", " ")
    where = cell.at and f"{'where' if cell.model or test else 'Where'} {cell.at}"
    head = ", ".join(filter(None, (cell.model, test, where)))
    return f"{head}: {_finding(cell)}" if head else _finding(cell)


def _finding(cell: Cell) -> str:
    excluded = "" if cell.limit is None else f"; {_excluded(cell, '95 % intervals')}"
    if cell.untested == cell.rows:
        return f"{_largest(cell)}, without an interval or test ({NO_ERROR})."
    if len(cell.rows) > 1:
        if not cell.found:
            n_tested = count_text(len(cell.rows) - len(cell.untested), "pair")
            untested = f"; {len(cell.untested)} could not be tested ({NO_ERROR})" if cell.untested else ""
            found = f"no difference between levels of {cell.what} was found in {n_tested}"
            return f"{found}{uncorrected(cell.rows)}{untested}{excluded}."
        largest = max(cell.found, key=lambda row: abs(row["estimate"]))
        of = f"{len(cell.rows)} pairs of levels of {cell.what}"
        most = _amount(largest, cell.unit, f"for {largest['second']} than {largest['first']}")
        if len(cell.found) == 1:
            return f"1 of {of} differs: {most} ({cell.rule})."
        return f"{len(cell.found)} of {of} differ, by {_span(cell.found)} {cell.unit} ({cell.rule}); most: {most}."
    row = cell.rows[0]
    is_corrected = row.get("p_value") not in (None, row["p"])
    p = f"{'corrected ' * is_corrected}{_p(row['p'])}" if cell.has_p else ""
    if not cell.found:
        return f"no difference was found {_for(cell.what).replace('than ', 'against ')}{p and f' ({p})'}{excluded}."
    low, high = (rounded(row[end], _narrowest([row])) for end in ("conf_low", "conf_high"))
    return f"{_amount(row, cell.unit, _for(cell.what))} (95 % interval {low} to {high}{p and f', {p}'})."


def uncorrected(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the number of these comparisons, none of which differs, that a reader of the table would take for
    different; empty if there is none."""
    n = sum((row.get("p_value") or 1) < ALPHA for row in rows)
    return f" ({n} with p < .05 before correction)" if n else ""


def _largest(cell: Cell) -> str:
    """Return the largest of differences that could not be tested."""
    row, is_single = max(cell.rows, key=lambda row: abs(row["estimate"])), len(cell.rows) == 1
    if not round(row["estimate"], 9):
        sides = _for(cell.what).replace(" than ", " and ") if is_single else f"at all levels of {cell.what}"
        return f"exactly the same {sides}"
    return _amount(
        row, cell.unit, _for(cell.what) if is_single else f"at most, for {row['second']} than {row['first']}"
    )


def _amount(row: Mapping[str, Any], unit: str, what: str) -> str:
    """Return the size and direction of a difference in words; the ends of a scale come last."""
    points, of, scale = unit.partition(" on a scale")
    more = "more" if row["estimate"] > 0 else "less"
    return f"{rounded(abs(row['estimate']), _narrowest([row]))} {points} {more} {what}{of}{scale}"


def _excluded(cell: Cell, intervals: str) -> str:
    """Return the differences that the data exclude, in words, and the number of clusters at a level, if the errors
    of an AMCE are over a few; intervals of shares may be wider than any difference."""
    row, limit = cell.rows[0], cell.limit or 0
    said = f"{intervals} lie within ±{rounded(limit)} {cell.unit}"
    if cell.unit == "percentage points" and limit >= 100:
        said = "the answers are too few to exclude any difference"
    if row.get("n_clusters") is None or row["df"] is None or row["df"] >= FEW_DF or row["clusters"] == "row":
        return said
    return f"{said} (a level has {count_text(row['n_clusters'], row['clusters'])}, and repetitions add none)"


def _for(what: str) -> str:
    return what if what.startswith("than ") else f"for {what}"


def _of_many(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield the number of cells that differ, and the direction if each compares two sides; then the differences that
    the others exclude."""
    found = [cell for cell in cells if cell.found]
    varying = [name for name in CELL if len({getattr(cell, name) for cell in cells}) > 1]
    n = f"{len(cells)} {varying[0]}s" if len(varying) == 1 else f"{len(cells)} cells ({' and '.join(varying)})"
    first = cells[0]
    at = first.at and f"Where {first.at}, "
    if len(first.rows) > 1:
        yield f"{at}{'levels' if at else 'Levels'} of {first.what} differ in {len(found)} of {n} ({first.rule})."
    else:
        ups = [cell.found[0] for cell in found if cell.found[0]["estimate"] > 0]
        downs = [cell.found[0] for cell in found if cell.found[0]["estimate"] <= 0]
        by = [f" (by {_span(rows)})" if rows else "" for rows in (ups, downs)]
        yield (
            f"{at}{len(ups)} of {n} have more {first.unit} {_for(first.what)}{by[0]}, "
            f"{len(downs) or 'none'} less{by[1]} ({first.rule})."
        )
    if others := [cell for cell in cells if not cell.found and cell.limit is not None]:
        excluded = _excluded(max(others, key=lambda cell: cell.limit or 0), "95 % intervals there")
        n_others = len(cells) - len(found)
        before = uncorrected([row for cell in others for row in cell.rows])
        yield f"In the other {'one' if n_others == 1 else n_others} no difference was found{before}; {excluded}."
    if len(first.rows) == 1 and (models := list(_by_model(cells))):
        yield f"Found by model: {listed(models)}."


def _by_model(cells: Sequence[Cell]) -> Iterator[str]:
    models = dict.fromkeys(cell.model for cell in cells)
    if 1 < len(models) <= 6 and None not in models:
        for model in models:
            own = [cell for cell in cells if cell.model == model]
            yield f"{model} {sum(bool(cell.found) for cell in own)} of {len(own)}"


def _narrowest(rows: Iterable[Mapping[str, Any]]) -> float | None:
    """Return the width of the narrowest interval, if all are known."""
    ends = [(row["conf_low"], row["conf_high"]) for row in rows]
    return None if any(None in pair for pair in ends) else min(high - low for low, high in ends)


def _span(rows: Sequence[Mapping[str, Any]]) -> str:
    sizes, width = sorted(abs(row["estimate"]) for row in rows), _narrowest(rows)
    low, high = rounded(sizes[0], width), rounded(sizes[-1], width)
    return low if low == high else f"{low} to {high}"


def _p(value: float | None) -> str:
    shown = shown_p(value)
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"
