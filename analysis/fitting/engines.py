"""Use the table of engines (inst/engines.csv) in the analysis: what a study's fit asks of which R function."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slant.collector.studies.catalogue import Fit
from slant.collector.study.crossed_fits import STEP, engine_rows


@dataclass(frozen=True)
class Engine:
    """Hold one row of the table; its head (`collector/study/crossed_fits.py`) explains each column.

    `argument_names`: the study's name for each of R's arguments. `files`: the fitted model itself (its argument
    `save_to`) and whatever else of a fit is kept in a file next to the database, with the ending of its name. `tables`:
    those that only this engine keeps; in the database the name of the engine comes before them. `are_of_cells`: a row
    of them that names no model or test belongs to those of its fit, not to all together. `takes_all_cores`: one fit
    uses the cores by itself (its argument `cores`), so that fits are made one after another. `is_quick`: it takes
    seconds. `is_in_report`: a report makes it if it is missing.
    """

    packages: tuple[str, ...]
    needs: tuple[str, ...]
    argument_names: Mapping[str, str]
    settings: tuple[str, ...]
    asides: tuple[str, ...]
    tables: tuple[str, ...]
    files: Mapping[str, str]
    shown_as: str
    are_of_cells: bool
    takes_all_cores: bool
    is_quick: bool
    is_in_report: bool

    def arguments(self, fit: Fit) -> dict[str, Any]:
        """Return the arguments of the R function for a study's fit, except its rows."""
        given = _given(fit)
        named = {name: given[study_name] for name, study_name in self.argument_names.items() if study_name in given}
        return named | (dict(fit.settings) if "*" in self.argument_names else {})

    def describe(self, fit: Fit) -> str:
        """Return the fit in words, for tables: its formula, or its outcome and contrast."""
        return self.shown_as.format(formula=fit.formula, outcome=fit.outcome, contrast=fit.contrast)


def _given(fit: Fit) -> dict[str, Any]:
    """Return the possible arguments of an engine by the study's names; settings come last, so that a study may set
    any of them."""
    keys = {name: value for name in ("formula", "outcome", "contrast") if (value := getattr(fit, name)) is not None}
    levels = {column: list(values) for column, values in fit.levels.items()}
    sides = {"sides": levels[fit.contrast]} if fit.contrast in levels else {}
    # R's own default compares models, and a formula without models has nothing to compare
    effects = {} if "model" in re.findall(r"\w+", fit.formula or "") else {"effects": f"~ {fit.contrast}"}
    return {**keys, "levels": levels or None, **sides, "step": STEP, **effects, **fit.settings}


def _engine(row: Mapping[str, str]) -> Engine:
    def words(column: str) -> tuple[str, ...]:
        return tuple(row[column].split())

    def pairs(column: str) -> dict[str, str]:
        parted = [word.partition("=") for word in words(column)]
        return {name: value or name for name, _, value in parted}

    return Engine(
        packages=words("packages"),
        needs=words("needs"),
        argument_names=pairs("arguments"),
        settings=words("settings"),
        asides=words("asides"),
        tables=words("tables"),
        files=pairs("files"),
        shown_as=row["shown_as"],
        are_of_cells=row["are_of_cells"] == "yes",
        takes_all_cores=row["takes_all_cores"] == "yes",
        is_quick=row["quick"] != "no",
        is_in_report=row["quick"] == "report",
    )


ENGINES = {row["engine"]: _engine(row) for row in engine_rows()}
FITS, ESTIMATES, VARIANCES = "fit_cells", "estimates", "variances"


def tables_of(name: str) -> dict[str, str]:
    """Return the database table for each frame that an engine's function returns, by the frame's name."""
    own = {("model" if table == "models" else table): f"{name}_{table}" for table in ENGINES[name].tables}
    return {"fits": FITS, "estimates": ESTIMATES, "variances": VARIANCES, **own}
