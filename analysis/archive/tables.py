"""Write tables as an archive has them: each view of a study's design as CSV, and which of them R contributed to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from slant.analysis.rows.descriptive_tables import table_info, tables
from slant.analysis.rows.nested_columns import flat
from slant.collector.keep.database import reading
from slant.collector.keep.view_heads import TableInfo, read_view_heads
from slant.collector.studies.catalogue import Study
from slant.collector.system.files import write_file
from slant.collector.system.shipped_files import sql_query

_DRAWN = "brms_models"


def study_tables(db: Path, study: Study) -> dict[str, pl.DataFrame]:
    """Return every table of the study's design, by name."""
    names = [info.name for info in table_info().values() if info.is_about(study.design.name)]
    return tables(db, study=study.name, names=names)


def write_tables(frames: Mapping[str, pl.DataFrame], folder: Path) -> list[str]:
    """Write each table that has rows as NAME.csv; return the names."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, frame in frames.items():
        if frame.height:
            write_file(folder / f"{name}.csv", flat(frame).write_csv())
            written.append(name)
    return written


def read_by(db: Path) -> dict[str, frozenset[str]]:
    """Return by view the tables of results that it reads, directly or through others."""
    with reading(db) as connection:
        results = {name for (name,) in connection.execute(sql_query("tables_of_results")).fetchall()}
    heads: dict[str, TableInfo] = read_view_heads()
    found: dict[str, frozenset[str]] = {}

    def of(name: str) -> frozenset[str]:
        if name in results:
            return frozenset((name,))
        if name not in found:
            found[name] = frozenset()  # in case views read each other in a circle
            found[name] = frozenset().union(*map(of, heads[name].reads)) if name in heads else frozenset()
        return found[name]

    return {name: of(name) for name in heads}


def are_draws(reads: frozenset[str]) -> bool:
    """Return whether a table has posterior draws."""
    return _DRAWN in reads
