"""The table of engines, inst/engines.csv: what may fit the trials of a study. R reads the same file, and so does the
analysis; here it serves those that name engines without R.

Columns: `engine` (its name in study files), `what` (in words), `r_function`, `packages` (of R), `needs` (keys of the
study's fit), `random` (whether its formula must have random effects: `yes`, `no`, or empty if that doesn't matter),
`arguments` of the R function (`name`, or `name=what it is called in the study`; `*`: all settings),
`settings` that a caller may set otherwise than the study, `asides` (settings that change no number), `tables` that this
engine alone keeps, `files` it writes (argument=ending), `shown_as` (the fit in words), `are_of_cells`,
`takes_all_cores`. Several values of a cell stand apart by a space.
"""

from __future__ import annotations

import csv
import functools

from slant.collector.system.shipped_files import engines_file


@functools.cache
def engine_rows() -> tuple[dict[str, str], ...]:
    """One dict a row of the table, in its order."""
    with engines_file().open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def engine_names() -> tuple[str, ...]:
    """Return the engines that a study's fit can name."""
    return tuple(row["engine"] for row in engine_rows())


def needs_contrast(engine: str) -> bool:
    """Whether a fit of this engine has to name what is compared; True of an engine that slant doesn't know."""
    return all("contrast" in row["needs"].split() for row in engine_rows() if row["engine"] == engine)


def takes_random_effects(engine: str) -> bool | None:
    """Whether the formula of such a fit must have random effects; None if that doesn't matter."""
    said = next((row["random"] for row in engine_rows() if row["engine"] == engine), "")
    return {"yes": True, "no": False}.get(said)


def lists_levels(engine: str) -> bool:
    """Whether the fit makes factors of columns of text by the lists of levels that the study gives it."""
    return any("levels" in row["arguments"].split() for row in engine_rows() if row["engine"] == engine)
