"""Warn about results, in sentences: trials that are combined although they were not asked or counted alike, and
indices of games that lack the level of chance. Those about fits are in doubts.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.analysis.rows.views import read_view, set_measure, stored_views
from slant.collector.keep.database import reading
from slant.collector.progress.status import other_model_sentences
from slant.collector.provenance.bibtex import address_rows, address_sentences
from slant.collector.terminal import count_text

Key = tuple[str, str, str, str]  # source, study_version, variant, model
_SETTINGS = {"n_settings": "settings or frames", "n_seeds": "seeds", "n_providers": "providers or names of the model"}


def mixture_warnings(
    db: str | Path, study: str | None = None, source: str | None = None, measure: str | None = None
) -> list[str]:
    """Return a sentence for each model whose trials are not all alike (table mixed_cells), in the order of that table;
    before them one for each run that was set aside, after them one for each model that another one answered for, or
    that was asked at several addresses.
    """
    with reading(db) as connection:
        set_measure(connection, measure)
        rows = read_view(connection, "mixed_cells", study=study, source=source)
        aside = set_aside_sentences(connection, study)
    mixed = [*aside, *_mixture_sentences(rows)]
    if source not in (None, "collected"):
        return mixed
    return [*mixed, *other_model_sentences(Path(db), study), *address_sentences(address_rows(db, study))]


def set_aside_sentences(connection: duckdb.DuckDBPyConnection, study: str | None) -> list[str]:
    """Return the runs that were set aside and the reasons: readers must see them wherever numbers are shown."""
    if "set_aside_runs" not in stored_views(connection):
        return []
    of_models = read_view(connection, "set_aside_runs", study=study)
    rows = of_models.group_by("run_id", "reason", maintain_order=True).agg(pl.col("n_trials").sum()).to_dicts()
    return [
        f"Set aside: run {row['run_id']} ({count_text(row['n_trials'], 'trial')}), excluded from all results: "
        f"{row['reason']}"
        for row in rows
    ]


def _mixture_sentences(rows: pl.DataFrame) -> list[str]:
    return [f"Mixed: {row['model']} ({_where(row, rows)}) has {', '.join(_kinds(row))}." for row in rows.to_dicts()]


def model_mixture_warnings(rows: pl.DataFrame) -> dict[Key, str]:
    """Return the warning on each model that was queried in several ways, for its fits. The kind of tokens is visible in
    a fit's own rows."""
    sentences = {}
    for row in rows.to_dicts():
        if kinds := _setting_counts(row):
            sentence = f"{row['model']} was queried in several ways, which are mixed: {', '.join(kinds)}"
            sentences[(row["source"], row["study_version"], row["variant"], row["model"])] = (
                f"{sentence} (table mixed_cells)."
            )
    return sentences


def _where(row: dict[str, Any], among: pl.DataFrame) -> str:
    """Return the source, and the study version and variant if there are several."""
    several = [name for name in ("study_version", "variant") if among[name].n_unique() > 1]
    return ", ".join(str(row[name]) for name in ("source", *several))


def _setting_counts(row: dict[str, Any]) -> list[str]:
    return [f"{row[column]} {words}" for column, words in _SETTINGS.items() if row[column] > 1]


def _kinds(row: dict[str, Any]) -> list[str]:
    counted = [f"token counts of {row['n_token_sources']} kinds ({row['token_sources']})"]
    return [*_setting_counts(row), *(counted if row["n_token_sources"] > 1 else [])]


def chance_warnings(tables: Mapping[str, pl.DataFrame], db: str | Path) -> Iterator[str]:
    """Yield a sentence for each study whose indices lack the level of chance, or have intervals of fewer
    games.
    """
    if "allocation_indices" in tables:
        complete = tables["allocation_indices"].filter(pl.col("si").is_not_null())
        for study, n in (
            complete.filter(pl.col("random_si").is_null()).group_by("study").len().sort("study").iter_rows()
        ):
            yield (
                f"The level of chance has not been simulated yet for {n} cells of {study}, and is missing: "
                f"analyze indices --study {study} --db {db}"
            )
    if "game_index_intervals" in tables:
        stale = tables["game_index_intervals"].filter(~pl.col("is_current"))
        for study in stale["study"].unique().sort():
            yield (
                f"Games of {study} were added or ended after some of these intervals were computed (is_current is "
                "false): "
                f"analyze indices --study {study} --db {db}"
            )
