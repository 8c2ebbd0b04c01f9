"""Which fits are meant: by the name of a fit or of an engine, in one study or in all of a database."""

from __future__ import annotations

from pathlib import Path

from slant.analysis.rows.studies import loadable, no_trials, study_names
from slant.collector.errors import DatabaseError, UnknownNameError, UsageError
from slant.collector.studies.catalogue import Fit, Study, load_study


def chosen_fits(name: str, db: str | Path, study: str | Study | None) -> list[tuple[Study, Fit]]:
    """The studies to fit, each with its fit of this name, or, where it has none, with all its fits of this engine.

    Raises UnknownNameError where no study has either, DatabaseError without trials, UsageError where the text of no
    study in the database is here.
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
    """The studies of the database whose text is here."""
    names = study_names(db)
    if not names:
        raise no_trials(db)
    known = loadable(names, db)
    if not known:
        raise UsageError(f'"{db}" holds only {", ".join(names)}.', "Name its study file: --study PATH/TO/STUDY.toml")
    return known


def no_rows(doing: str, db: str | Path, source: str | None) -> DatabaseError:
    """For a study or source that the database has nothing of; says what it has, for that may be another study."""
    rows = f"rows of source {source}" if source else "such rows"
    message = f'Nothing to {doing}: "{db}" holds no {rows}.'
    return DatabaseError(message, f"It holds: {', '.join(study_names(db)) or 'no trials'}.")


def passed_over(name: str, db: str | Path) -> list[str]:
    """A sentence for each study of the database that has no fit of this name or engine, or whose text is not here."""
    said = []
    for one in study_names(db):
        known = loadable([one], db)
        if not known:
            said.append(f'Not fitted: "{one}", whose study file is not here. To fit it: --study PATH/TO/STUDY.toml')
        elif not _of(known[0], name):
            said.append(f'Not fitted: "{one}", which defines no fit "{name}".')
    return said
