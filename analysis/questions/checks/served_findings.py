"""Findings about who answered: another model than was asked for, or one name at two addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from slant.analysis.questions.checks.sentences import Finding
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.view_heads import ordered_view
from slant.collector.provenance.addresses import address_rows, address_sentences
from slant.collector.terminal import count_text

SERVERS, SERVED = "servers", "served_models"
_COLUMNS = {
    SERVERS: ("base_url", "n_trials", "fingerprints", "mean_output_tokens", "first_done_at", "last_done_at"),
    SERVED: ("requested_model", "served_model", "n_trials", "n_left_out", "first_done_at", "last_done_at"),
}


def served_rows(db: str | Path, study: str) -> dict[str, pl.DataFrame]:
    """Return the rows that are worth a finding by check; no entry if there are none."""
    with reading(db) as connection:
        served = frame_of(ordered_view(connection, "served_models")).filter(pl.col("served_model_differs"), study=study)
    rows = {SERVERS: address_rows(db, study), SERVED: served}
    return {name: frame for name, frame in rows.items() if not frame.is_empty()}


def findings_of_served_models(rows: Mapping[str, pl.DataFrame]) -> Iterator[Finding]:
    """Return the findings of one source, study version and variant."""
    if (servers := rows.get(SERVERS)) is not None and not servers.is_empty():
        n_models = count_text(servers["model"].n_unique(), "model")
        said = f"No: {n_models} had answers from more than one address, which may be more than one model."
        details = tuple(address_sentences(servers))
        yield Finding(SERVERS, "Did one server answer for each model?", "caution", said, details, _COLUMNS[SERVERS])
    if (served := rows.get(SERVED)) is not None and not served.is_empty():
        n, n_left_out = (int(served[name].sum()) for name in ("n_trials", "n_left_out"))
        said = f"No: {count_text(n, 'answer')} came from another model; {n_left_out:,} are left out of all tables."
        details = tuple(
            f"{row['model']}: {count_text(row['n_trials'], 'answer')} of {row['served_model']} to requests for "
            f"{row['requested_model']}."
            for row in served.iter_rows(named=True)
        )
        yield Finding(SERVED, "Did the model answer that was asked?", "caution", said, details, _COLUMNS[SERVED])
