"""Read the table of engines, inst/engines.csv: what may fit the trials of a study. R and the analysis read the same
file; this module is for code that names engines without R.

Columns: `engine` (its name in study files), `what` (in words), `r_function`, `packages` (of R), `needs` (keys of the
study's fit), `random` (whether its formula must have random effects: `yes`, `no`, or empty if that doesn't matter),
`columns` of its view that it always uses, `arguments` of the R function (`name`, or `name=what it is called in the
study`; `*`: all settings),
`settings` that a caller may set differently than the study, `asides` (settings that change no number), `tables` that
only this engine keeps, `files` it writes (argument=ending), `shown_as` (the fit in words), `are_of_cells`,
`takes_all_cores`, `quick` (`report`: a report makes such a fit if it is missing; `yes`: only for a printed number;
`no`: it takes minutes). Several values of a cell are separated by a space.
"""

from __future__ import annotations

import csv
import functools

from slant.collector.system.shipped_files import engines_file

WORDS_OF_R = frozenset({"if", "else", "repeat", "while", "function", "for", "next", "break", "in"})
"""List R's reserved words of small letters: what a formula names can't be called so."""


@functools.cache
def engine_rows() -> tuple[dict[str, str], ...]:
    """Return a dict per row of the table, in its order."""
    with engines_file().open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def engine_names() -> tuple[str, ...]:
    """Return the engines that a study's fit can name."""
    return tuple(row["engine"] for row in engine_rows())


def engine_columns(engine: str) -> tuple[str, ...]:
    """Return the columns of its view that such a fit uses, whatever the study says of it."""
    return next((tuple(row["columns"].split()) for row in engine_rows() if row["engine"] == engine), ())


def needs_contrast(engine: str) -> bool:
    """Return whether a fit of this engine has to name what is compared; True for an engine that slant doesn't know."""
    return all("contrast" in row["needs"].split() for row in engine_rows() if row["engine"] == engine)


def takes_random_effects(engine: str) -> bool | None:
    """Return whether the formula of such a fit must have random effects; None if that doesn't matter."""
    needs = next((row["random"] for row in engine_rows() if row["engine"] == engine), "")
    return {"yes": True, "no": False}.get(needs)


def lists_levels(engine: str) -> bool:
    """Return whether the fit makes factors of text columns by the levels that the study lists."""
    return any("levels" in row["arguments"].split() for row in engine_rows() if row["engine"] == engine)
