"""The tables of topic models as the database keeps them (sql/migrations/0003_topics.sql), and where the models lie."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from collector.errors import DatabaseError

_S, _I, _F = pl.String, pl.Int64, pl.Float64
_TEST = {"df": _F, "statistic": _F, "p_value": _F}
_ADJUSTED = {"p_holm": _F, "p_bh": _F}
_INTERVAL = {"conf_low": _F, "conf_high": _F}
TOPIC_SCHEMAS: Mapping[str, dict[str, Any]] = {
    "models": {"n_topics": _I, "n_documents": _I, "n_words": _I, "n_steps": _I, "is_converged": pl.Boolean, "bound": _F,
               "seed": _I, "file": _S, "file_md5": _S, "file_bytes": _I},
    "topics": {"topic": _I, "proportion": _F, "n_dominant": _I, "semantic_coherence": _F, "exclusivity": _F},
    "words": {"topic": _I, "kind": _S, "place": _I, "word": _S},
    "prevalence": {"scope": _S, "topic": _I, "model": _S, "condition": _S, "test": _S, "estimate": _F, **_INTERVAL},
    "contrasts": {"topic": _I, "model": _S, "estimate": _F, "std_error": _F, **_TEST, **_ADJUSTED, **_INTERVAL},
    "shifts": {"topic": _I, "model": _S, "test": _S, "estimate": _F, "std_error": _F, **_TEST, **_INTERVAL,
               "cohens_d": _F},
    "correlations": {"topic": _I, "model": _S, "n_cells": _I, "r": _F, **_TEST, **_ADJUSTED, **_INTERVAL},
    "examples": {"topic": _I, "place": _I, "trial_id": _S, "model": _S, "test": _S, "condition": _S, "proportion": _F,
                 "text": _S},
}  # fmt: skip
"""By table: its columns beside `fit_id`. In the database each is named stm_…."""


def as_topic_frames(fit_id: str, found: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """What R's fit_stm() returned as `tables`, with the id of its fit and the types of the database."""
    named = {"models" if name == "model" else name: frame for name, frame in found.items()}
    return {
        name: named[name].cast(schema).select(pl.lit(fit_id).alias("fit_id"), *schema)  # type: ignore[arg-type]
        for name, schema in TOPIC_SCHEMAS.items()
    }


def no_topics() -> dict[str, pl.DataFrame]:
    return {name: pl.DataFrame(schema={"fit_id": pl.String, **schema}) for name, schema in TOPIC_SCHEMAS.items()}


def stacked(parts: Iterable[Mapping[str, pl.DataFrame]]) -> dict[str, pl.DataFrame]:
    frames = [no_topics(), *parts]
    return {name: pl.concat([part[name] for part in frames]) for name in TOPIC_SCHEMAS}


def read_topic_frames(connection: duckdb.DuckDBPyConnection) -> dict[str, pl.DataFrame]:
    """All topic models of a database, in the order in which each was kept; none where an older slant made the file."""
    rows = connection.execute("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'stm_%'").fetchall()
    if not rows:
        return no_topics()
    return {
        name: connection.table(f"stm_{name}").order("rowid").pl().cast({"fit_id": pl.String, **schema})
        for name, schema in TOPIC_SCHEMAS.items()
    }  # fmt: skip


def model_folder(db: str | Path) -> Path:
    """The folder of fitted models beside the database."""
    path = Path(db).resolve()
    return path.with_name(path.name + ".models")


def made_model_folder(db: str | Path) -> Path:
    """The same folder, made where it can be: where it can't, R says that the model was not kept."""
    folder = model_folder(db)
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
    return folder


def model_file(db: str | Path, fit_id: str) -> Path:
    """Where the model of this fit lies. Ids come from the database, too, so nothing but hexadecimal digits will do."""
    if not fit_id.isalnum() or not fit_id.isascii():
        raise DatabaseError(f'"{db}" holds a fit with the id "{fit_id}", which slant did not make.')
    return model_folder(db) / f"{fit_id}.rds"
