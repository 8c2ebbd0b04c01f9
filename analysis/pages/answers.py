"""Say in one to three sentences what a fit answers: for the factor that the study names first, never for the largest
effect, with p corrected for all that was compared."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from slant.analysis.fitting.fits import FitResult
from slant.analysis.pages.comparison_words import ALPHA, CELL, MOST_SENTENCES, NO_ERROR, Cell, sentences, uncorrected
from slant.analysis.pages.report_tables import term_words
from slant.analysis.rows.cells import GRAIN
from slant.collector.provenance.methods import listed
from slant.collector.studies.catalogue import Fit, Study, fits_of

_LINEAR = ("mean_contrasts", "amce", "paired", "lme4", "lm", "t_test")
# Engines whose fits answer a question, the first in a report; contrasts have p for all pairs.
_FIRST = (*_LINEAR[:4], "t_test", "lm", "logistic", "clm", "clmm", "clogit")
_BELOW = {"below": "yes", "not below": "no", "undecided": "undecided"}
_MEASURED = ("measured", "chosen", "rating", "scored", "number")  # outcomes that are what a question asks for
THRESHOLD = r"^(.+: )?-?[\d.]+\|-?[\d.]+$"  # terms that compare nothing: "2|3", "gpt-5: 2|3"


def report_answers(study: Study, fits: Mapping[str, FitResult], grain: Mapping[str, str]) -> list[str]:
    """Return the answers of the study's first fit in the data of one source, version and variant, and if it is of one
    question, of those of other questions (three at most); nothing if no fit compares anything."""
    engines = {name: definition.engine for name, definition in fits_of(study).items()}
    by_engine = sorted(fits, key=lambda name: (*_FIRST, engines.get(name)).index(engines.get(name)))
    names = [name for name in (*study.fits, *by_engine) if name in fits]
    answers: dict[tuple[str, ...] | None, list[str]] = {}
    for name in names:
        question = study.fits[name].where.get("question") if name in study.fits else None
        is_new = question not in answers and None not in answers and (question or not answers)
        if is_new and (said := answers_of_fit(study, name, fits[name], grain)):
            answers[question] = said
    return [sentence for said in list(answers.values())[:MOST_SENTENCES] for sentence in said]


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
    of_cells = _corrected(others, over=()).group_by("attribute", *CELL, maintain_order=True)
    found = of_cells.agg((pl.col("p") < ALPHA).any(), is_tested=pl.col("p").count() > 0)
    counts = found.group_by("attribute", maintain_order=True).agg(pl.col("p").sum(), pl.col("is_tested").any()).rows()
    n_cells = others.select(CELL).n_unique()
    words = {name: name.replace("_", " ") for name, *_ in counts}
    differ = [f"{words[name]} ({n} of {n_cells} cells)" if n_cells > 1 else words[name] for name, n, _ in counts if n]
    same = [name for name, n, is_tested in counts if is_tested and not n]
    before = uncorrected(others.filter(pl.col("attribute").is_in(same)).to_dicts())
    untested = [words[name] for name, _, is_tested in counts if not is_tested]
    said = [f"levels of {listed(differ)} differ (p < .05, corrected for all of them)"] if differ else []
    said += [f"no difference was found for {listed([words[name] for name in same])}{before}"] if same else []
    said += [f"{listed(untested)} could not be tested ({NO_ERROR})"] if untested else []
    yield f"Of the other attributes, {'; '.join(said)}."


def _of_ratios(ratios: pl.DataFrame) -> Iterator[str]:
    """Yield the lowest ratio of the first attribute in each cell if these are few, else how many are below .8."""
    known = ratios.filter(attribute=ratios["attribute"][0]).drop_nulls("ratio") if ratios.height else ratios
    cells = [rows.sort("ratio", maintain_order=True).head(1) for _, rows in known.group_by(CELL, maintain_order=True)]
    lowest = pl.concat(cells) if cells else known
    counts = {verdict: lowest.filter(verdict=verdict).height for verdict in ("below", "undecided")}
    if lowest.height > MOST_SENTENCES + 1:
        yield (
            f"The lowest ratio of {lowest['attribute'][0].replace('_', ' ')} is below four fifths in {counts['below']} "
            f"of {lowest.height} cells (model and test), and undecided in {counts['undecided']}."
        )
        return
    for row in lowest.to_dicts():
        head = ", ".join(row[name].replace("_", " ") for name in CELL if row[name] is not None)
        low, ratio, high = (
            "?" if row[name] is None else f"{row[name]:.2f}" for name in ("conf_low", "ratio", "conf_high")
        )
        yield (
            f"{head}: the favourable answer is {ratio} times as frequent for {row['level']} as for {row['reference']} "
            f"(95 % interval {low} to {high}); below four fifths: {_BELOW[row['verdict']]}."
        )


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
        if rows.height and not _is_linear(definition):  # log odds without an error are separated: no number
            rows = rows.drop_nulls("p_value")
    if rows.is_empty():
        return
    terms = result.table.filter(**grain)["term"].unique(maintain_order=True).to_list()
    others = [one.model for one in study.models if f"model{one.model}" not in terms]
    references = {"model": others, **levels} if len(others) == 1 else levels
    at = reference_levels(terms, rows["term"].unique().to_list(), references, str(definition.formula))
    middle = definition.settings.get("mu", 0) if definition.engine == "t_test" else 0
    what = f"than {middle:g}" if definition.engine == "t_test" else ""
    outcome = definition.fitted
    for cell, of_cell in rows.group_by(CELL, maintain_order=True):
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


def reference_levels(
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
    if not _is_linear(definition):
        is_of_odds = definition.settings.get("family", "binomial") == "binomial"
        return "log odds" if is_of_odds else "units of the link"
    if outcome in _MEASURED:
        unknown = "units" if outcome in ("measured", "number") else "points"
        of_scale = own_unit.replace("points from", "points on a scale from")
        return "percentage points" if own_unit in ("percent", "%") else of_scale or unknown
    return outcome.replace("_", " ")


def _of_first_attribute(result: FitResult, engine: str, table: str, grain: Mapping[str, str]) -> pl.DataFrame:
    rows = result.tables[engine][table].filter(**grain)
    if rows.is_empty():
        return rows
    rows = rows.filter(attribute=rows["attribute"][0])
    if engine == "amce":
        rows = _with_p(result, rows)
        sides = {"first": pl.col("reference"), "second": pl.col("level")}
        return _corrected(rows.with_columns(**sides), over=CELL if _has_several(rows) else ())
    rows = rows.filter(pl.col("level").is_null())
    return rows.with_columns(p=pl.col("p_adjusted")) if _has_several(rows) else _corrected(rows, over=())


def _with_p(result: FitResult, levels: pl.DataFrame) -> pl.DataFrame:
    return levels.join(result.table, on=[*GRAIN, *CELL, "term", "fit"], nulls_equal=True)


def _has_several(rows: pl.DataFrame) -> bool:
    """Return True if a cell has several pairs, over which p is corrected; a single one is corrected over the cells."""
    return rows.select(CELL).is_duplicated().any()


def _of_first_term(result: FitResult, levels: Mapping[str, Sequence[Any]], grain: Mapping[str, str]) -> pl.DataFrame:
    """Return the first coefficient of each fit but the intercept, which answers where it is alone, and all those of a
    factor of several levels; with refusals left out where the study fits with and without them."""
    rows = result.table.filter(**grain).filter(~pl.col("term").str.contains(THRESHOLD))
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
        return _corrected(rows.with_columns(**sides).drop_nulls("second"), over=CELL)
    rows = rows.unique(CELL, keep="first", maintain_order=True)
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
        if words in levels:  # a number
            return f"each unit of {words}"
        factor = next((name for name in levels if words == f"{name}: {levels[name][-1]}"), None)
        is_pair = factor is not None and len(levels[factor]) == 2
        return f"{levels[factor][1]} than {levels[factor][0]}" if is_pair and factor is not None else words
    return f"{row['second']} than {row['first']}" if rows.height == 1 else row["attribute"].replace("_", " ")
