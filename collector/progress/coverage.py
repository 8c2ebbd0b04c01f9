"""Coverage: can every valid answer be coded as consistent or not? What is asked here can; what is imported may not."""

from __future__ import annotations

from pathlib import Path

import duckdb

from slant.collector.designs import design_named
from slant.collector.errors import DatabaseError
from slant.collector.keep.database import reading
from slant.collector.study.records import Study

_CODED = "choice IN (option_a, option_b) AND expected IN (option_a, option_b)"


def coverage_note(db: Path, study: Study) -> str | None:
    """One sentence on the valid answers to this version of a study; None where there are none, where the study is about
    tokens or expects no option, or where the database can't be looked at just now: a note is not worth a run."""
    if design_named(study.design).analyses_tokens:
        return None
    which = "outcome = 'answered' AND option_a IS NOT NULL AND expected IS NOT NULL AND study = ? AND study_version = ?"
    query = f"SELECT count(*), count_if({_CODED}) FROM trials WHERE {which}"  # noqa: S608
    try:
        with reading(db, patience_s=1.0) as connection:
            [(valid, coded)] = connection.execute(query, [study.name, study.version]).fetchall()
    except (DatabaseError, duckdb.Error):
        return None
    if not valid:
        return None
    share = "100 %" if coded == valid else f"{100 * coded / valid:.1f} %, and not all"
    return f"Coverage: {coded:,} of {valid:,} valid answers can be coded as consistent or not ({share})."
