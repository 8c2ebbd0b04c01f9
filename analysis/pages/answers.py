"""Say in one to three sentences what a fit answers: for the factor that the study names first, never for the largest
effect, with p corrected for all that was compared."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import polars as pl

from slant.analysis.fitting.fits import FitResult
from slant.analysis.pages.report_tables import rounded, term_words
from slant.analysis.rows.cells import FEW_DF, GRAIN
from slant.collector.provenance.methods import listed
from slant.collector.screen_tables import shown_p
from slant.collector.studies.catalogue import Fit, Study, fits_of
from slant.collector.terminal import count_text

ALPHA = 0.05
MOST_SENTENCES = 3
_LINEAR = ("mean_contrasts", "amce", "paired", "lme4", "lm", "t_test")
_FIRST = ("mean_contrasts", "amce", "paired", "lme4", "t_test", "effect_size", "lm", "logistic", "clm", "clogit")
"""Engines whose fits answer a question, the first in a report; contrasts have p for all pairs."""
_CELL = ("model", "test")
_BELOW = {"below": "yes", "not below": "no", "undecided": "undecided"}
_MEASURED = ("measured", "chosen", "rating", "scored")  # outcomes that are what a question asks for


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
    def rule(self) -> str:
        """Return the criterion for a difference."""
        if self.has_p:
            return f"corrected p < {ALPHA:.2f}".replace("0.", ".")
        return f"95 % interval{f' for all {self.n_tests} at once' if self.n_tests > 1 else ''} excludes 0"

    def _is_different(self, row: Mapping[str, Any]) -> bool:
        """Return whether corrected p is below alpha, or without p, if the widened interval excludes 0."""
        if self.has_p:
            return row["p"] is not None and bool(row["p"] < ALPHA)
        low, high = row["conf_low"], row["conf_high"]
        if None in (low, high):
            return False
        normal = NormalDist()
        wider = normal.inv_cdf(1 - ALPHA / 2 / self.n_tests) / normal.inv_cdf(1 - ALPHA / 2)
        at = row["estimate"]
        return bool((at - wider * (at - low)) * (at + wider * (high - at)) > 0)

    @property
    def limit(self) -> float | None:
        """Return the largest difference that some 95 % interval holds; None if an interval is unknown."""
        ends = [row[end] for row in self.rows for end in ("conf_low", "conf_high")]
        return None if None in ends or not ends else max(map(abs, ends))


def report_answers(study: Study, fits: Mapping[str, FitResult], grain: Mapping[str, str]) -> list[str]:
    """Return the answers of the study's first fit in the data of one source, version and variant; nothing if no fit
    compares anything."""
    engines = {name: definition.engine for name, definition in fits_of(study).items()}
    by_engine = sorted(fits, key=lambda name: (*_FIRST, engines.get(name)).index(engines.get(name)))
    names = [name for name in (*study.fits, *by_engine) if name in fits]
    for name in names:
        if said := answers_of_fit(study, name, fits[name], grain):
            return said
    return []


def answers_of_fit(study: Study, name: str, result: FitResult, grain: Mapping[str, str]) -> list[str]:
    """Return sentences on the fit of that name: one for each model and test if these are few, else their counts."""
    grain = {**grain, "fit": name}  # results of an engine may hold several fits
    if fits_of(study)[name].engine == "impact_ratio":
        return list(_of_ratios(result.tables["impact_ratio"]["ratios"].filter(**grain)))
    said = sentences(list(_cells(study, name, result, grain)))
    return said + list(_of_other_attributes(result, grain)) if fits_of(study)[name].engine == "amce" else said


def _of_other_attributes(result: FitResult, grain: Mapping[str, str]) -> Iterator[str]:
    """Yield in how many cells levels of each attribute but the first differ from its reference level, corrected for all
    levels of these attributes in all cells."""
    rows = _with_p(result, result.tables["amce"]["levels"].filter(**grain))
    others = rows.filter(pl.col("attribute") != rows["attribute"][0]) if rows.height else rows
    if others.is_empty():
        return
    of_cells = _corrected(others, over=()).group_by("attribute", *_CELL, maintain_order=True)
    found = of_cells.agg((pl.col("p") < ALPHA).any()).group_by("attribute", maintain_order=True)
    counts = {name.replace("_", " "): n for name, n in found.agg(pl.col("p").sum()).iter_rows()}
    n_cells = others.select(_CELL).n_unique()
    differ = [f"{name} ({n} of {n_cells} cells)" if n_cells > 1 else name for name, n in counts.items() if n]
    none = [name for name, n in counts.items() if not n]
    said = [f"levels of {listed(differ)} differ (p < .05, corrected for all of them)"] if differ else []
    said += [f"no difference was found for {listed(none)}"] if none else []
    yield f"Of the other attributes, {'; '.join(said)}."


def _of_ratios(ratios: pl.DataFrame) -> Iterator[str]:
    """Yield the lowest ratio of the first attribute in each cell if these are few, else how many are below .8."""
    known = ratios.filter(attribute=ratios["attribute"][0]).drop_nulls("ratio") if ratios.height else ratios
    cells = [rows.sort("ratio", maintain_order=True).head(1) for _, rows in known.group_by(_CELL, maintain_order=True)]
    lowest = pl.concat(cells) if cells else known
    counts = {verdict: lowest.filter(verdict=verdict).height for verdict in ("below", "undecided")}
    if lowest.height > MOST_SENTENCES + 1:
        yield (
            f"The lowest ratio of {lowest['attribute'][0].replace('_', ' ')} is below four fifths in {counts['below']} "
            f"of {lowest.height} cells (model and test), and undecided in {counts['undecided']}."
        )
        return
    for row in lowest.to_dicts():
        head = ", ".join(row[name].replace("_", " ") for name in _CELL if row[name] is not None)
        low, ratio, high = (
            "?" if row[name] is None else f"{row[name]:.2f}" for name in ("conf_low", "ratio", "conf_high")
        )
        yield (
            f"{head}: the favourable answer is {ratio} times as frequent for {row['level']} as for {row['reference']} "
            f"(95 % interval {low} to {high}); below four fifths: {_BELOW[row['verdict']]}."
        )


def sentences(cells: Sequence[Cell]) -> list[str]:
    """Return a sentence for each cell if these are few, else their counts."""
    n_tests = sum(len(cell.rows) for cell in cells if not cell.has_p)
    cells = [cell if cell.has_p else replace(cell, n_tests=n_tests) for cell in cells]
    if len(cells) <= MOST_SENTENCES:
        return [_of_cell(cell) for cell in cells]
    of_units: dict[str, list[Cell]] = {}  # points of a scale and percentage points are not counted together
    for cell in cells:
        of_units.setdefault(cell.unit, []).append(cell)
    if len(of_units) == 1:
        return list(_of_many(cells))
    return [sentence for of_unit in of_units.values() for sentence in _of_unit(of_unit)]


def _of_unit(cells: Sequence[Cell]) -> Iterator[str]:
    if len(cells) <= MOST_SENTENCES:
        yield from map(_of_cell, cells)
        return
    tests = dict.fromkeys(cell.test for cell in cells if cell.test is not None)
    head, *more = _of_many(cells)
    yield f"{listed([test.replace('_', ' ') for test in tests])}: {head}" if len(tests) <= MOST_SENTENCES else head
    yield from more


def _cells(study: Study, name: str, result: FitResult, grain: Mapping[str, str]) -> Iterator[Cell]:
    definition = fits_of(study)[name]
    if definition.engine not in _FIRST:
        return
    levels = {**study.design.analyses.factor_levels(study), **definition.levels}
    if definition.engine in ("mean_contrasts", "amce"):
        table = "contrasts" if definition.engine == "mean_contrasts" else "levels"
        rows = _of_first_attribute(result, definition.engine, table, grain)
    else:
        rows = _of_first_term(result, levels, grain)
    if rows.is_empty():
        return
    terms = result.table.filter(**grain)["term"].unique(maintain_order=True).to_list()
    others = [one.model for one in study.models if f"model{one.model}" not in terms]
    references = {"model": others, **levels} if len(others) == 1 else levels
    at = _reference_levels(terms, rows["term"].unique().to_list(), references, str(definition.formula))
    middle = definition.settings.get("mu", 0) if definition.engine == "t_test" else 0
    what = f"than {middle:g}" if definition.engine == "t_test" else ""
    outcome = definition.fitted
    for cell, of_cell in rows.group_by(_CELL, maintain_order=True):
        model, test = (None if key is None else str(key) for key in cell)
        if test is None and len(asked := definition.where.get("question", ())) == 1:
            test = asked[0]
        own_unit = study.design.analyses.measured_in(study, test) if outcome in _MEASURED else ""
        is_share = _is_linear(definition) and (bool(definition.flag) or own_unit.startswith("share"))
        factor = 100 if is_share else 1
        numbers = of_cell.with_columns((pl.col("estimate", "conf_low", "conf_high") - middle) * factor)
        unit = "percentage points" if is_share else _unit(definition, outcome, own_unit)
        test = ", ".join(filter(None, (test, definition.flag))) or None
        yield Cell(model, test, what or _compared(of_cell, levels), unit, numbers.to_dicts(), at=at)


def _reference_levels(
    terms: Collection[str], compared: Collection[str], levels: Mapping[str, Sequence[Any]], formula: str
) -> str:
    """Return the reference levels of the factors that interact with the terms `compared`: as R codes factors, their
    effects hold there."""
    compared_words = {term_words(term, levels) for term in compared}
    others: dict[str, str] = {}
    for parts in (term_words(term, levels).split(" × ") for term in terms):
        if len(parts) > 1 and compared_words.intersection(parts):
            others |= {_variable(part, formula): part for part in parts if part not in compared_words}
    return listed([f"{name.replace('_', ' ')} is {_reference(name, others[name], levels)}" for name in others])


def _variable(part: str, formula: str) -> str:
    """Return the variable of a part of a coefficient: "model" for R's "modelgpt-5"."""
    known = [name for name in re.findall(r"[\w.]+", formula) if part.startswith(name)]
    return max(known, key=len, default=part.partition(": ")[0])


def _reference(name: str, part: str, levels: Mapping[str, Sequence[Any]]) -> str:
    return "0" if part == name else str(levels[name][0]) if name in levels else "at its reference level"


def _is_linear(definition: Fit) -> bool:
    return definition.engine in _LINEAR and definition.settings.get("family", "gaussian") == "gaussian"


def _unit(definition: Fit, outcome: str, own_unit: str) -> str:
    if definition.engine == "effect_size":
        return "SD"
    if not _is_linear(definition):
        is_of_odds = definition.settings.get("family", "binomial") == "binomial"
        return "log odds" if is_of_odds else "units of the link"
    if outcome in _MEASURED:
        return own_unit.replace("points from", "points on a scale from") or (
            "units" if outcome == "measured" else "points"
        )
    return outcome.replace("_", " ")


def _of_first_attribute(result: FitResult, engine: str, table: str, grain: Mapping[str, str]) -> pl.DataFrame:
    rows = result.tables[engine][table].filter(**grain)
    if rows.is_empty():
        return rows
    rows = rows.filter(attribute=rows["attribute"][0])
    if engine == "amce":
        rows = _with_p(result, rows)
        sides = {"first": pl.col("reference"), "second": pl.col("level")}
        return _corrected(rows.with_columns(**sides), over=_CELL if _has_several(rows) else ())
    rows = rows.filter(pl.col("level").is_null())
    return rows.with_columns(p=pl.col("p_adjusted")) if _has_several(rows) else _corrected(rows, over=())


def _with_p(result: FitResult, levels: pl.DataFrame) -> pl.DataFrame:
    return levels.join(result.table, on=[*GRAIN, *_CELL, "term", "fit"], nulls_equal=True)


def _has_several(rows: pl.DataFrame) -> bool:
    """Return True if a cell has several pairs, over which p is corrected; a single one is corrected over the cells."""
    return rows.select(_CELL).is_duplicated().any()


def _of_first_term(result: FitResult, levels: Mapping[str, Sequence[Any]], grain: Mapping[str, str]) -> pl.DataFrame:
    """Return the first coefficient of each fit but the intercept, which answers where it is alone, and all those of a
    factor of several levels; with refusals left out where the study fits with and without them."""
    rows = result.table.filter(**grain).filter(pl.col("p_value").is_not_null())
    if rows["refusals_removed"].n_unique() > 1:
        rows = rows.filter("refusals_removed")
    others = rows.filter(pl.col("term") != "intercept")
    rows = rows if others.is_empty() else others
    rows = rows.filter(pl.col("measure").eq_missing(rows["measure"][0])) if rows.height else rows
    words = {term: term_words(term, levels) for term in rows["term"].unique(maintain_order=True)}
    factor = next(iter(words.values()), "").partition(": ")[0]
    of_factor = {
        term: said for term, said in words.items() if said in {f"{factor}: {n}" for n in levels.get(factor, ())}
    }
    if len(of_factor) > 1:
        level = pl.col("term").replace_strict(of_factor, default=None).str.strip_prefix(f"{factor}: ")
        sides = {"first": pl.lit(str(levels[factor][0])), "second": level, "attribute": pl.lit(factor)}
        return _corrected(rows.with_columns(**sides).drop_nulls("second"), over=_CELL)
    rows = rows.unique(_CELL, keep="first", maintain_order=True)
    return _corrected(rows.with_columns(first=None, second=None, attribute="term"), over=())


def _corrected(rows: pl.DataFrame, over: Sequence[str]) -> pl.DataFrame:
    """Add Holm's p, as `stats::p.adjust()` computes it, over all rows or those of each cell."""
    rank = pl.col("p_value").rank("ordinal")
    left = pl.col("p_value").count() - rank + 1
    ordered = pl.col("p_value").sort(nulls_last=True), left.sort(descending=True, nulls_last=True)
    holm = (ordered[0] * ordered[1]).cum_max().clip(upper_bound=1)
    p = holm.gather(rank.cast(pl.Int64) - 1)
    return rows.with_columns(p=p.over(over) if over else p)


def _compared(rows: pl.DataFrame, levels: Mapping[str, Sequence[Any]]) -> str:
    row = rows.row(0, named=True)
    if row["term"] == "intercept":
        return "than 0"
    if row["second"] is None:
        words = term_words(row["term"], levels)
        factor = next((name for name in levels if words == f"{name}: {levels[name][-1]}"), None)
        is_pair = factor is not None and len(levels[factor]) == 2
        return f"{levels[factor][1]} than {levels[factor][0]}" if is_pair and factor is not None else words
    return f"{row['second']} than {row['first']}" if rows.height == 1 else row["attribute"].replace("_", " ")


def _of_cell(cell: Cell) -> str:
    test = None if cell.test is None else cell.test.replace("_", " ")
    where = cell.at and f"{'where' if cell.model or test else 'Where'} {cell.at}"
    head = ", ".join(filter(None, (cell.model, test, where)))
    return f"{head}: {_finding(cell)}" if head else _finding(cell)


def _finding(cell: Cell) -> str:
    excluded = "" if cell.limit is None else f"; {_excluded(cell, '95 % intervals')}"
    if len(cell.rows) > 1:
        if not cell.found:
            return f"no difference between levels of {cell.what} was found in {len(cell.rows)} pairs{excluded}."
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
    varying = [name for name in _CELL if len({getattr(cell, name) for cell in cells}) > 1]
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
        yield f"In the other {'one' if n_others == 1 else n_others} no difference was found; {excluded}."
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
