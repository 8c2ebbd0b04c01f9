"""What this database already knows about a model: the size of its answers, its limits, and what a study has cost."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from slant.collector.ask.rate_limits import told_budgets
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.stored_attempts import attempts_where
from slant.collector.study.records import Study, StudyModel

_PLAYED = ("simulated",)
_REAL = ("collected", "imported")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Means over `n_counted` of `n` earlier answers of one model; tokens, seconds. None where nothing was counted."""

    n: int
    n_counted: int
    mean_input_tokens: float | None
    mean_output_tokens: float | None
    sd_output_tokens: float | None
    max_output_tokens: int | None
    mean_latency_s: float | None


def earlier_sizes(db: Path, study: Study, model: StudyModel) -> Sizes | None:
    """Sizes of this model's answers to this study (its version and variant first); None where there are none.

    None too for a database of an older slant, which has no such view until the next run brings it up to date.
    """
    if not db.exists():
        return None
    query = "SELECT * FROM answer_sizes WHERE study = ? AND model = ? AND requested_model = ?"
    with reading(db) as connection, contextlib.suppress(duckdb.CatalogException):
        rows = frame_of(connection.sql(query, params=[study.name, model.model, model.requested_model]))
        sources = _PLAYED if model.provider == "simulated" else _REAL
        same = (pl.col("study_version") == study.version) & (pl.col("variant") == study.variant)
        rows = rows.filter(pl.col("source").is_in(sources), pl.col("n_counted") > 0)
        rows = rows.sort(same, pl.col("source") == "collected", pl.col("n_counted"), descending=True)
        if rows.height:
            return Sizes(**{name: rows[name][0] for name in Sizes.__dataclass_fields__})
    return None


def known_limits(db: Path, model: StudyModel) -> dict[str, float]:
    """Requests and tokens a minute that the provider's headers told last, by kind; empty where they told none."""
    if not db.exists():
        return {}
    query = "SELECT headers FROM attempts WHERE provider = ? AND requested_model = ? AND headers LIKE '%ratelimit%' "
    with reading(db) as connection:
        last = query + "ORDER BY done_at DESC LIMIT 1"
        rows = connection.execute(last, [model.provider, model.requested_model]).fetchall()
    headers: dict[str, Any] = json.loads(rows[0][0]) if rows else {}
    return {budget.kind: budget.limit for budget in told_budgets({k: str(v) for k, v in headers.items()})}


def spent_before_usd(db: Path, study: str) -> float:
    """What the answers to a study have cost so far, in US dollars, in the database and in journals not yet loaded."""
    condition = "study = $study AND source = 'collected'"
    parts = attempts_where(db, condition, {"study": study}, "sum(cost_usd) AS cost_usd")
    return sum((float(part["cost_usd"].sum()) for part in parts), 0.0)


_UNCOUNTED = """
study = $study AND source = 'collected' AND batch_id IS NULL AND cost_usd IS NULL AND output_tokens IS NULL
AND (http_status = 200 OR (http_status IS NULL AND NOT starts_with(coalesce(error, ''), 'ClientConnector')))"""
"""Live requests that may have been billed, though nobody knows for what (as ask/lane_money.py says of one exchange)."""


def uncounted_models(db: Path, study: str) -> list[tuple[str, str]]:
    """Providers and models that were sent such requests in a study, in the database and in journals not yet loaded."""
    parts = attempts_where(db, _UNCOUNTED, {"study": study}, "DISTINCT provider, requested_model")
    return sorted({(provider, model) for part in parts for provider, model in part.iter_rows()})


def uncounted_requests(db: Path, study: str, provider: str, model: str) -> Iterator[dict[str, Any]]:
    """The bodies of such requests to one model, as they are stored."""
    condition = f"{_UNCOUNTED} AND provider = $provider AND requested_model = $model"
    values = {"study": study, "provider": provider, "model": model}
    for part in attempts_where(db, condition, values, "request"):
        yield from (json.loads(request or "{}") for request in part["request"])
