"""Plan one fit: what is fitted, to which rows, and how it is recognised again.

People's rows are fitted as people's: what a person answered has that person in common, whatever else varies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from slant.analysis.calls.call import Call
from slant.analysis.fitting.engines import ENGINES, FITS, Engine, tables_of
from slant.analysis.rows.cells import GRAIN, Cell, ViewRows, read_cells, read_rows
from slant.collector.errors import StudyError, UsageError, check_known
from slant.collector.sources import sources_that
from slant.collector.studies.catalogue import Fit, Study
from slant.collector.study.crossed_fits import check_engine
from slant.collector.study.toml_table import checked_name


@dataclass(frozen=True)
class PlannedFit:
    """Hold one fit to make: a study's definition and its cell. `asides` are arguments that change no number.

    `refusals_removed`: rows are left out by the fit's flags or outcomes, also where no row has them.
    """

    study: str
    definition: Fit
    cell: Cell
    refusals_removed: bool
    measure: str | None
    db: Path
    own_settings: Mapping[str, Any]
    asides: Mapping[str, Any]

    @property
    def engine(self) -> Engine:
        return ENGINES[self.definition.engine]

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the arguments that R gets for this fit, except its rows."""
        return self.engine.arguments(self.definition)

    @cached_property
    def call(self) -> Call:
        fit, cell = self.definition, self.cell
        grain = {name: cell.key.get(name) for name in (*GRAIN, "model", "test")}
        how: dict[str, Any] = {"refusals_removed": self.refusals_removed, "measure": self.measure}
        how |= {"settings": dict(self.own_settings)} if self.own_settings else {}
        counts = [f"{name}: {n}" for name, n in cell.n_dropped.items() if n or name in fit.drop_flags]
        dropped = ", ".join(counts) or None
        return Call(
            "run_fit",
            cell.rows,
            {"engine": fit.engine, "arguments": self.arguments},
            about={"study": self.study, "fit": fit.name, "engine": fit.engine, **grain, **cell.key, **how},
            tables=tables_of(fit.engine),
            columns={"formula": self.engine.describe(fit), "token_source": cell.token_source, "dropped": dropped},
            fill=cell.common_values,
            failed=FITS,
            warnings=cell.warnings,
            packages=self.engine.packages,
            cores="all" if self.engine.takes_all_cores else "one",
            keeps=self.engine.files,
            says=fit.name if self.engine.files or self.engine.takes_all_cores else "",
            asides=self.asides,
            nested="arguments",
        )


def plan_fits(
    db: str | Path,
    study: Study,
    definition: Fit,
    *,
    source: str | None = None,
    measure: str | None = None,
    refusals_removed: bool = True,
    settings: Mapping[str, Any] | None = None,
    only: Mapping[str, Collection[str]] | None = None,
    rows: ViewRows | None = None,
) -> list[PlannedFit]:
    """Return the fits of one definition, one per cell; arguments are those of `fit()` and `read_cells()`. People's
    rows are fitted over persons.

    Raise StudyError if it can't be made.
    """
    check_engine(definition, f'[fits.{definition.name}] of "{study.name}"')
    engine, settings = ENGINES[definition.engine], settings or {}
    for name in settings:
        check_known(f"setting of {definition.engine}", name, (*engine.settings, *engine.asides))
    own_settings = {name: value for name, value in settings.items() if name not in engine.asides}
    asides = {name: value for name, value in settings.items() if name in engine.asides}
    definition, random = with_random(replace(definition, settings={**definition.settings, **own_settings}))
    cells = list(
        cells_of(
            db, study.name, definition, source=source, measure=measure, refusals_removed=refusals_removed, rows=rows
        )
    )
    _check_random([cell for _, cell in cells], random)
    return [
        PlannedFit(study.name, fit, cell, bool(cell.n_dropped), measure, Path(db), own_settings, asides)
        for fit, cell in cells
        if all(cell.key.get(name) in values for name, values in (only or {}).items())
    ]


def with_random(definition: Fit) -> tuple[Fit, tuple[str, ...]]:
    """Return the fit with the random intercepts of its setting `random` (such as repetition) in its formula; and their
    names.
    """
    settings = dict(definition.settings)
    random = tuple(checked_name(str(name), "column") for name in settings.pop("random", ()))
    if random and definition.formula is None:
        raise StudyError(f'The fit "{definition.name}" has no formula to add a random effect to.')
    terms = [definition.formula or "", *(f"(1 | {name})" for name in random)]
    formula = " + ".join(terms) if random else definition.formula
    return replace(definition, settings=settings, formula=formula), random


def _check_random(cells: Sequence[Cell], random: Sequence[str]) -> None:
    for cell, name in product(cells, random):
        if name not in cell.rows.columns:
            raise StudyError(f'Can\'t give "{name}" a random effect: the rows have no such column.')
        if cell.rows[name].n_unique() < 2:
            raise UsageError(
                f'Can\'t give "{name}" a random effect: it is the same in all rows.',
                "To collect every trial several times: collect --repetitions 5",
            )


PERSON = "participant"
_BY_PERSON = ("participant", "respondent")  # columns that a person has alone


def of_people(definition: Fit) -> Fit:
    """Return the fit as people's rows take it; the same if it says itself what persons are in it, or has no errors over
    persons.
    """
    bare = without_declaration(definition)
    if "of" in definition.settings:  # whose choices these are
        bare = replace(bare, settings={**bare.settings, "of": "people"})
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
        if own is not None and 1 < own.rows[PERSON].n_unique() < own.rows.height:  # some answered more than once
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


def _name(cell: Cell) -> str:
    return repr(sorted(cell.key.items()))
