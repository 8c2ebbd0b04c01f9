"""What specifications found, in the table `sensitivity`: kept as each fit ends, and known again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from slant.analysis.fitting.store import is_same_versions
from slant.analysis.questions.sensitivity.work import Work
from slant.collector.keep.database import reading, writing
from slant.collector.keep.frames import frame_of, registered

_S, _I, _F = pl.String, pl.Int64, pl.Float64
NUMBERS: dict[str, Any] = {
    "estimand": _S, "unit": _S, "estimate": _F, "std_error": _F, "conf_low": _F, "conf_high": _F, "p_value": _F,
    "p_positive": _F, "d": _F, "d_low": _F, "d_high": _F, "n": _I, "n_left_out": _I, "n_missing": _I, "status": _S,
    "messages": _S,
}  # fmt: skip
"""What a row says of its fit; the first columns of SCHEMA say which fit it is."""
SCHEMA: dict[str, Any] = {
    "source": _S, "study": _S, "study_version": _S, "variant": _S, "spec": _S, "spec_no": _I, "label": _S, "model": _S,
    "test": _S, **NUMBERS, "fit": _S, "engine": _S, "formula": _S, "choices": _S, "row_no": _I, "spec_id": _S,
    "data_hash": _S, "versions": _S, "seconds": _F, "fitted_at": pl.Datetime("us"),
}  # fmt: skip


def kept_rows(db: str | Path) -> pl.DataFrame:
    """All rows of the table; none where an older slant made the file."""
    with reading(db) as connection:
        rows = connection.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'sensitivity'").fetchall()
        if not rows:
            return pl.DataFrame(schema=SCHEMA)
        found: pl.DataFrame = (
            frame_of(connection.table("sensitivity").order("rowid")).select(*SCHEMA).cast(pl.Schema(SCHEMA))
        )
    return found


def is_unchanged(row: Mapping[str, Any], work: Work, versions: Mapping[str, str] | None) -> bool:
    """Whether a kept row is of the same rows, question, R code and packages. What failed is tried again.

    `versions` are those of R and its packages now; None where R can't say, so that nothing better could be made.
    """
    then = json.loads(row["versions"] or "{}")
    is_asked_alike = then.pop("definition", None) == work.hash
    then.pop("slant", None)
    now = versions and {name: text for name, text in versions.items() if name in then}
    is_made_alike = now is None or is_same_versions(then, {**then, **now})
    return bool(
        is_asked_alike and is_made_alike and row["data_hash"] == work.cell.data_hash and row["status"] != "failed"
    )


def keep(db: str | Path, rows: pl.DataFrame) -> None:
    """Write rows in one transaction; those of one fit take the place of its earlier ones."""
    with writing(db) as connection, registered(connection, "new_rows", rows):
        connection.execute("DELETE FROM sensitivity WHERE spec_id IN (SELECT spec_id FROM new_rows)")
        connection.execute("INSERT INTO sensitivity BY NAME SELECT * FROM new_rows")


def renamed(rows: pl.DataFrame, works: Sequence[Work]) -> pl.DataFrame:
    """Kept rows with the numbers, labels and choices that the study gives them now, which decide no number."""
    now = {work.id: {"spec_no": work.number, "label": work.label, "choices": as_text(work.choices)} for work in works}
    return pl.DataFrame([{**row, **now[row["spec_id"]]} for row in rows.to_dicts()], schema=SCHEMA)


def as_text(choices: Mapping[str, str]) -> str:
    return json.dumps(dict(choices), ensure_ascii=False)
