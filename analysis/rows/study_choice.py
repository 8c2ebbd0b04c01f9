"""Choose a study and its fits: those that are named, or the only ones that a database holds.

Keep looks at results for good: after how many trials each analysis of a cell was made.

Newer results replace older ones; a registration says how often one may look, so looks are kept next to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from slant.collector.errors import DatabaseError, SlantError, UnknownNameError, UsageError, as_typed
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of, registered
from slant.collector.keep.journal_loader import nothing_yet
from slant.collector.keep.stored_attempts import designs_in
from slant.collector.studies.catalogue import Fit, Study, fits_of, load_study
from slant.collector.studies.stored_texts import with_typed_measures
from slant.collector.system.shipped_files import sql_query


@dataclass(frozen=True)
class Look:
    """Hold one analysis of one cell, at `n_trials` trials, including those that it left out."""

    study: str
    source: str
    variant: str
    analysis: str
    model: str | None
    test: str | None
    n_trials: int


def new_looks(db: str | Path, looks: Iterable[Look]) -> dict[str, pl.DataFrame]:
    """Return the rows of the table `looks` that it lacks, by its name: `results(…, beside=)` writes them together with
    the results."""
    schema = {field.name: pl.Int64 if field.name == "n_trials" else pl.String for field in fields(Look)}
    rows = pl.DataFrame([asdict(look) for look in dict.fromkeys(looks)], schema=pl.Schema(schema))
    if rows.is_empty():
        return {}
    with suppress(DatabaseError), reading(db) as connection, registered(connection, "looked_at", rows):
        new = frame_of(connection.sql(sql_query("new_looks")))
        now = datetime.now(UTC).replace(tzinfo=None)
        return {"looks": new.with_columns(looked_at=pl.lit(now))} if new.height else {}
    return {}


def study_in(
    db: str | Path,
    study: str | Path | Study | None = None,
    suits: Callable[[Study], bool] | None = None,
    description: str = "",
) -> Study:
    """Return the study of this name, or path, or, without one, the only study of the database (for which `suits` is
    true).

    A name is one that comes with slant, or that the database knows. `what` says what suitable ones have, as in "has
    games"; if there is only one study, it is chosen. Raise UsageError if none suits, or several do and none is named;
    DatabaseError without trials, UnknownNameError and StudyError as `load_study` does.
    """
    if isinstance(study, Study):
        return study
    if study is not None:
        return _load(study, db)
    names = study_names(db)
    if not names:
        raise no_trials_error(db)
    studies = [_load(name, db) for name in names]
    if len(studies) == 1:  # the command itself says best what it lacks
        return studies[0]
    suitable = [candidate for candidate in studies if suits is None or suits(candidate)]
    if not suitable:
        raise UsageError(f'No study in "{db}" {description}.', f"It holds: {', '.join(names)}.")
    if len(suitable) > 1:
        listed = ", ".join(candidate.name for candidate in suitable)
        raise UsageError(f'"{db}" holds several studies: {listed}.', f"Name one: --study {suitable[0].name}")
    return suitable[0]


def _load(study: str | Path, db: str | Path) -> Study:
    """Return a study with the measures of a person's own functions that the database has of it."""
    return with_typed_measures(load_study(study, db=db), db)


def loadable_studies(names: Sequence[str], db: str | Path) -> list[Study]:
    """Return the studies among these whose text is available."""
    studies = []
    for name in names:
        try:
            studies.append(_load(name, db))
        except SlantError:
            continue
    return studies


def study_names(db: str | Path) -> list[str]:
    """Return the studies with trials, sorted."""
    with reading(db) as connection:
        return list(designs_in(connection))


def no_trials_error(db: str | Path, study: str | None = None) -> DatabaseError:
    """Return the error for a database without answers."""
    option = f"--study {study}" if study else "--study NAME"
    return DatabaseError(
        nothing_yet(Path(db)),
        f"To make some without a key: collect {option} --simulated --db {as_typed(db)}",
        *([] if study else ["For the names: collect studies"]),
    )


def find_fits(name: str, db: str | Path, study: str | Study | None) -> list[tuple[Study, Fit]]:
    """Return the studies to fit, each with its fit of this name or, if it has none, with all its fits of this engine.

    Raise UnknownNameError if no study has either, DatabaseError without trials, UsageError if the text of no study in
    the database is here.
    """
    if isinstance(study, Study):
        studies = [study]
    elif study is not None:
        studies = [_load(study, db)]
    else:
        studies = _studies_in(db)
    pairs = [(candidate, fit) for candidate in studies for fit in _fits_named(candidate, name)]
    if not pairs:
        known_names = sorted(
            {word for candidate in studies for fit in fits_of(candidate).values() for word in (fit.name, fit.engine)}
        )
        names = " and ".join(f'"{candidate.name}"' for candidate in studies)
        kept = ["This database keeps the study as it was asked; fits added since: --study ./FILE.toml"]
        about = [f"The study file defines fits and their engines; this is about {names}."]
        if not known_names:
            about.append('A factorial study fits numbers. [measures] makes one of an option, as in b = "option:B".')
        raise UnknownNameError("fit", name, known_names, *about, *(kept if study is None else []))
    return pairs


def _fits_named(study: Study, name: str) -> list[Fit]:
    fits = fits_of(study)
    if name in fits:
        return [fits[name]]
    return [fit for fit in fits.values() if fit.engine == name]


def _studies_in(db: str | Path) -> list[Study]:
    """Return the database's studies with a text."""
    names = study_names(db)
    if not names:
        raise no_trials_error(db)
    studies = loadable_studies(names, db)
    if not studies:
        try:
            _load(names[0], db)
        except SlantError as error:
            raise UsageError(
                error.what, *error.details, "To name the study's file: --study PATH/TO/STUDY.toml"
            ) from error
    return studies


def no_rows_error(action: str, db: str | Path, source: str | None) -> DatabaseError:
    """Return the error for a study or source without rows in the database; it says what there is instead."""
    rows = f"rows of source {source}" if source else "such rows"
    message = f'Nothing to {action}: "{db}" holds no {rows}.'
    return DatabaseError(message, f"It holds: {', '.join(study_names(db)) or 'no trials'}.")


def studies_not_fitted(name: str, db: str | Path) -> list[str]:
    """Return a sentence for each study of the database that has no fit of this name or engine, or whose text is not
    here.
    """
    sentences = []
    for study_name in study_names(db):
        studies = loadable_studies([study_name], db)
        if not studies:
            sentences.append(
                f'Not fitted: "{study_name}", whose study file is not here. To fit it: --study PATH/TO/STUDY.toml'
            )
        elif not _fits_named(studies[0], name):
            sentences.append(f'Not fitted: "{study_name}", which defines no fit "{name}".')
    return sentences


def rows_of_source(frame: pl.DataFrame, db: str | Path, study: Study, source: str | None) -> pl.DataFrame:
    """Return the rows of this study and source; DatabaseError if there are none."""
    if "study" in frame.columns:
        frame = frame.filter(pl.col("study") == study.name)
    if source is not None:
        frame = frame.filter(pl.col("source") == source)
    if frame.is_empty():
        raise no_rows_error("check", db, source)
    return frame
