"""Which study is meant: the one that is named, or the only one that a database holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from slant.collector.errors import DatabaseError, SlantError, UsageError
from slant.collector.keep.database import reading
from slant.collector.keep.stored_designs import designs_in
from slant.collector.studies.catalogue import Study, load_study


def study_in(
    db: str | Path,
    study: str | Path | Study | None = None,
    suits: Callable[[Study], bool] | None = None,
    what: str = "",
) -> Study:
    """The study of this name, or path, or, without one, the only study of the database (that `suits` is true of).

    A name is one that comes with slant, or that the database knows. `what` says of those that suit what they have, as
    in "has games"; where there is but one study, it is the one. UsageError where none suits, or several do and none is
    named; DatabaseError without trials, UnknownNameError and StudyError as `load_study`.
    """
    if isinstance(study, Study):
        return study
    if study is not None:
        return load_study(study, db=db)
    names = study_names(db)
    if not names:
        raise no_trials(db)
    known = [load_study(name, db=db) for name in names]
    if len(known) == 1:  # what it lacks, the command itself says best
        return known[0]
    found = [one for one in known if suits is None or suits(one)]
    if not found:
        raise UsageError(f'No study in "{db}" {what}.', f"It holds: {', '.join(names)}.")
    if len(found) > 1:
        listed = ", ".join(one.name for one in found)
        raise UsageError(f'"{db}" holds several studies: {listed}.', f"Name one: --study {found[0].name}")
    return found[0]


def loadable(names: Sequence[str], db: str | Path) -> list[Study]:
    """Those of these studies whose text is here."""
    found = []
    for name in names:
        try:
            found.append(load_study(name, db=db))
        except SlantError:
            continue
    return found


def study_names(db: str | Path) -> list[str]:
    """The studies that the database holds trials of, sorted."""
    with reading(db) as connection:
        return list(designs_in(connection))


def no_trials(db: str | Path, study: str | None = None) -> DatabaseError:
    """What to say of a database without answers."""
    named = f"--study {study}" if study else "--study NAME"
    return DatabaseError(
        f'The database "{db}" holds no trials yet.',
        f"To make some without a key: collect {named} --simulated --db {db}",
        *([] if study else ["For the names: collect studies"]),
    )
