"""Fit people's rows as people's: what a person answered has that person in common, whatever a study says of models.

One definition of a fit serves both. Standard errors that are clustered by what a model was shown (its only respondent
is itself) are clustered by person, and a mixed model has an intercept of each person. What a study declares to vary
(`declared`: properties of personas, say, which people lack) is about models, and people's fits do without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from slant.analysis.rows.cells import Cell, ViewRows, read_cells, read_rows
from slant.collector.sources import sources_that
from slant.collector.studies.catalogue import Fit

PERSON = "participant"
_BY_PERSON = ("participant", "respondent")  # columns that a person has alone


def of_people(definition: Fit) -> Fit:
    """Return the fit as people's rows take it; the same if it says itself what persons are in it, or has no errors over
    persons.
    """
    bare = without_declaration(definition)
    clusters = definition.settings.get("cluster")
    if not clusters and "declared" in definition.settings and definition.engine != "lme4":
        return replace(bare, settings={**bare.settings, "cluster": PERSON})
    if clusters:
        names = (clusters,) if isinstance(clusters, str) else tuple(clusters)
        if PERSON in names or set(names) & set(_BY_PERSON):
            return bare
        return replace(bare, settings={**bare.settings, "cluster": PERSON if isinstance(clusters, str) else (PERSON,)})
    formula = definition.formula
    if definition.engine == "lme4" and formula and not any(name in formula for name in _BY_PERSON):
        return replace(bare, formula=f"{formula} + (1 | {PERSON})")
    return bare


def without_declaration(definition: Fit) -> Fit:
    """Return the fit without what the study declares to vary among models: people have no personas."""
    if "declared" not in definition.settings:
        return definition
    return replace(definition, settings={k: value for k, value in definition.settings.items() if k != "declared"})


def cells_of(
    db: str | Path,
    study: str,
    definition: Fit,
    *,
    source: str | None,
    measure: str | None,
    refusals_removed: bool,
    rows: ViewRows | None,
) -> Iterator[tuple[Fit, Cell]]:
    """Yield the cells of a fit as `read_cells()` has them, each with the fit that its rows take."""
    rows = rows or read_rows(db, study, [definition], measure)
    cells = read_cells(
        db, study, definition, source=source, measure=measure, refusals_removed=refusals_removed, rows=rows
    )
    people, once = of_people(definition), without_declaration(definition)
    by_person: dict[str, Cell] = {}
    by_answer: dict[str, Cell] = {}
    if people != definition and PERSON in rows.columns and any(_is_of_people(cell) for cell in cells):
        by_person, by_answer = (
            {
                _name(cell): cell
                for cell in read_cells(
                    db, study, fit, source=source, measure=measure, refusals_removed=refusals_removed
                )
                if _is_of_people(cell)
            }
            for fit in (people, once)
        )
    for cell in cells:
        own, alone = by_person.get(_name(cell)), by_answer.get(_name(cell))
        if own is not None and _has_persons(own.rows):
            yield of_known(people, own), own
        elif alone is not None:
            yield of_known(once, alone), alone
        else:
            yield definition, cell


def of_known(definition: Fit, cell: Cell) -> Fit:
    """Return the fit without attributes that are known of none of these people, such as what a study says of its
    personas; as it is if that leaves nothing."""
    named = definition.settings.get("attributes", ())
    attributes = [named] if isinstance(named, str) else list(named)
    known = [name for name in attributes if cell.rows[name].null_count() < cell.rows.height]
    if not known or len(known) == len(attributes):
        return definition
    return replace(definition, settings={**definition.settings, "attributes": known})


def _is_of_people(cell: Cell) -> bool:
    return cell.key["source"] not in sources_that("is_of_models")


def _has_persons(rows: pl.DataFrame) -> bool:
    """Return whether there are persons to tell apart, of whom some answered more than once."""
    return 1 < rows[PERSON].n_unique() < rows.height


def _name(cell: Cell) -> str:
    return repr(sorted(cell.key.items()))
