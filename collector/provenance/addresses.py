"""Report one model at several addresses: two servers may hold two models under one name. Nothing is refused or left out
for that, because ports change; it is reported before asking, after merging, under tables and in `analyze check`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.collector.errors import DatabaseError
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.view_heads import ordered_view
from slant.collector.plan.run_plan import RunPlan
from slant.collector.provenance.run_record import public_address
from slant.collector.system.shipped_files import sql_query
from slant.collector.terminal import count_text


def other_address_notes(run_plan: RunPlan) -> list[str]:
    """Return a sentence for each model that earlier runs in this database asked elsewhere. This never raises: a note is
    not worth losing a run.
    """
    if not run_plan.db.exists():
        return []
    with suppress(DatabaseError, duckdb.Error), reading(run_plan.db, patience_s=1.0) as connection:
        rows = connection.execute(sql_query("asked_addresses"), {"study": run_plan.study.name}).fetchall()
        asked: dict[tuple[str, str, str], list[str]] = {}
        for _, model, provider, requested, address in rows:
            asked.setdefault((model, provider, requested), []).append(address)
        return [note for plan in run_plan.model_plans if (note := _before_asking(plan, asked))]
    return []


def _before_asking(model_plan: Any, asked: Mapping[tuple[str, str, str], Sequence[str]]) -> str | None:
    now = public_address(model_plan.base_url)
    key = model_plan.name, model_plan.provider.name, model_plan.model.requested_model
    elsewhere = [address for address in asked.get(key, ()) if address != now]
    if now is None or not elsewhere:
        return None
    return (
        f"{model_plan.name} is asked at {now}; answers in this database came from another address: "
        f"{', '.join(elsewhere)}. Two servers may hold two models under one name (view model_addresses)."
    )


def address_rows(db: str | Path, study: str | None = None) -> pl.DataFrame:
    """Return rows of the view model_addresses for models with more than one; none in an older slant's file."""
    with suppress(DatabaseError, duckdb.Error), reading(db) as connection:
        asked = connection.execute(sql_query("asked_addresses"), {"study": study}).fetchall()
        if len({row[:-1] for row in asked}) == len(asked):  # scanning ten million answers would take a second
            return pl.DataFrame()
        addresses = ordered_view(connection, "model_addresses")
        collected = addresses.filter("source = 'collected' AND n_addresses > 1 AND base_url IS NOT NULL")
        rows: pl.DataFrame = frame_of(collected)
        return rows if study is None else rows.filter(pl.col("study") == study)
    return pl.DataFrame()


def address_sentences(rows: pl.DataFrame) -> list[str]:
    """Return a sentence for each model of these rows: where its answers came from, how many, and what the
    servers say.
    """
    if rows.is_empty():
        return []
    keys = ["source", "study", "study_version", "variant", "model", "provider", "requested_model"]
    return [_sentence(group.to_dicts()) for _, group in rows.group_by(keys, maintain_order=True)]


def _sentence(rows: Sequence[Mapping[str, Any]]) -> str:
    places = "; ".join(f"{count_text(row['n_trials'], 'answer')} from {row['base_url']}" for row in rows)
    known = [row["fingerprints"] for row in rows if row["fingerprints"]]
    if len(known) < len(rows):
        verdict = "the servers name no fingerprint that would tell"
    else:
        verdict = "their fingerprints are the same" if len(set(known)) == 1 else "their fingerprints differ"
    return (
        f"{rows[0]['model']} was asked at {len(rows)} addresses: {places}; {verdict}. Two servers may hold two models "
        "under one name (view model_addresses)."
    )
