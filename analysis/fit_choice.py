"""Which fits are meant: by the name of a fit or of an engine, in one study or in all of a database."""

from __future__ import annotations

from pathlib import Path

from slant.collector.errors import DatabaseError, UnknownNameError, UsageError
from slant.collector.store import reading
from slant.collector.study import Fit, Study, list_studies, load_study
from slant.collector.study_files.keep import kept_names


def chosen_fits(name: str, db: str | Path, study: str | Study | None) -> list[tuple[Study, Fit]]:
    """The studies to fit, each with its fit of this name, or, where it has none, with all its fits of this engine.

    Raises UnknownNameError where no study has either, DatabaseError without trials, UsageError where the database
    holds only studies that don't ship with slant.
    """
    if isinstance(study, Study):
        studies = [study]
    elif study is not None:
        studies = [load_study(study, db=db)]
    else:
        studies = _studies_in(db)
    found = [(one, fit) for one in studies for fit in _of(one, name)]
    if not found:
        known = sorted({word for one in studies for fit in one.fits.values() for word in (fit.name, fit.engine)})
        names = " and ".join(f'"{one.name}"' for one in studies)
        raise UnknownNameError(
            "fit", name, known, f"The study file defines fits and their engines; this is about {names}."
        )
    return found


def _of(study: Study, name: str) -> list[Fit]:
    if name in study.fits:
        return [study.fits[name]]
    return [fit for fit in study.fits.values() if fit.engine == name]


def _studies_in(db: str | Path) -> list[Study]:
    """The studies of the database that ship with slant; one of a user's own is known only by its path."""
    names = _names_in(db)
    if not names:
        raise DatabaseError(
            f'The database "{db}" holds no trials yet.', f"To make some: collect --study rmiat --simulated --db {db}"
        )
    kept = {*list_studies(), *kept_names(db)}
    known = [load_study(name, db=db) for name in names if name in kept]
    if not known:
        raise UsageError(f'"{db}" holds only {", ".join(names)}.', "Name its study file: --study PATH/TO/STUDY.toml")
    return known


def no_rows(doing: str, db: str | Path, source: str | None) -> DatabaseError:
    """For a study or source that the database has nothing of; says what it has, for that may be another study."""
    rows = f"rows of source {source}" if source else "such rows"
    message = f'Nothing to {doing}: "{db}" holds no {rows}.'
    return DatabaseError(message, f"It holds: {', '.join(_names_in(db)) or 'no trials'}.")


def _names_in(db: str | Path) -> list[str]:
    with reading(db) as connection:
        rows = connection.execute("SELECT DISTINCT study FROM attempts WHERE is_final ORDER BY study").fetchall()
    return [name for (name,) in rows]
