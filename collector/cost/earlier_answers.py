"""Read what this database knows about a model: the size of its answers, its limits, and a study's cost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from slant.collector.ask.lane_money import may_be_billed
from slant.collector.ask.rate_limits import told_budgets
from slant.collector.designs.study import Study
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.keep.stored_attempts import attempts_where
from slant.collector.providers.exchange import Exchange
from slant.collector.records import Reply
from slant.collector.study.records import StudyModel

_PLAYED = ("simulated",)
_REAL = ("collected", "imported")


@dataclass(frozen=True, slots=True)
class Sizes:
    """Hold means over `n_counted` of `n` earlier answers of one model; tokens, seconds. None if nothing was counted."""

    n: int
    n_counted: int
    mean_input_tokens: float | None
    mean_output_tokens: float | None
    sd_output_tokens: float | None
    max_output_tokens: int | None
    mean_latency_s: float | None


def earlier_sizes(db: Path, study: Study, model: StudyModel) -> Sizes | None:
    """Return sizes of this model's answers to this study (its version and variant first); None if there are none."""
    if not db.exists():
        return None
    query = "SELECT * FROM answer_sizes WHERE study = ? AND model = ? AND requested_model = ? ORDER BY ALL"
    with reading(db) as connection:
        rows = frame_of(connection.sql(query, params=[study.name, model.model, model.requested_model]))
        sources = _PLAYED if model.provider == "simulated" else _REAL
        same = (pl.col("study_version") == study.version) & (pl.col("variant") == study.variant)
        rows = rows.filter(pl.col("source").is_in(sources), pl.col("n_counted") > 0)
        rows = rows.sort(same, pl.col("source") == "collected", pl.col("n_counted"), descending=True)
        if rows.height:
            return Sizes(**{name: rows[name][0] for name in Sizes.__dataclass_fields__})
    return None


def known_limits(db: Path, model: StudyModel) -> dict[str, float]:
    """Return requests and tokens per minute from the provider's latest headers, by kind; empty if they had none."""
    if not db.exists():
        return {}
    query = "SELECT headers FROM attempts WHERE provider = ? AND requested_model = ? AND headers LIKE '%ratelimit%' "
    with reading(db) as connection:
        last = query + "ORDER BY done_at DESC LIMIT 1"
        rows = connection.execute(last, [model.provider, model.requested_model]).fetchall()
    headers: dict[str, Any] = json.loads(rows[0][0]) if rows else {}
    return {
        budget.kind.removesuffix("_minute"): budget.limit
        for budget in told_budgets({k: str(v) for k, v in headers.items()})
    }


def spent_before_usd(db: Path, study: str) -> float:
    """Return the cost of a study's answers so far, in US dollars, in the database and in journals not yet loaded."""
    condition = "study = $study AND source = 'collected'"
    parts = attempts_where(db, condition, {"study": study}, "sum(cost_usd) AS cost_usd")
    return sum((float(part["cost_usd"].sum()) for part in parts), 0.0)


_UNCOUNTED = """
study = $study AND source = 'collected' AND cost_usd IS NULL AND (input_tokens IS NULL OR output_tokens IS NULL)
AND (http_status = 200 OR (http_status IS NULL AND batch_id IS NULL))"""
"""Select requests without counts; may_be_billed() says which were sent at all. What a batch job let expire has no
status, and is not billed."""
_UNPRICED = """
study = $study AND source = 'collected' AND cost_usd IS NULL
AND input_tokens IS NOT NULL AND output_tokens IS NOT NULL"""
_TOKENS = ("input_tokens", "cached_input_tokens", "cache_write_tokens", "cache_write_1h_tokens", "output_tokens")


def uncounted_models(db: Path, study: str) -> list[tuple[str, str, bool]]:
    """Return providers and models of a study's requests without a count of their cost, and whether they were asked by
    batch; in the database and in journals not yet loaded.
    """
    columns = "DISTINCT provider, requested_model, batch_id IS NOT NULL AS is_batch"
    parts = attempts_where(db, _UNCOUNTED, {"study": study}, columns)
    return sorted({row for part in parts for row in part.iter_rows()})


def uncounted_requests(db: Path, study: str, provider: str, model: str, *, is_batch: bool) -> Iterator[dict[str, Any]]:
    """Yield the bodies, as they are stored, of such requests to one model that may have been billed."""
    of_model = "provider = $provider AND requested_model = $model AND (batch_id IS NOT NULL) = $batch"
    values = {"study": study, "provider": provider, "model": model, "batch": is_batch}
    for part in attempts_where(db, f"{_UNCOUNTED} AND {of_model}", values, "request, http_status, error, response"):
        for request, status, error, response in part.iter_rows():
            if may_be_billed(Exchange(status=status, error=error, body=response)):
                yield json.loads(request or "{}")


def unpriced_tokens(db: Path, study: str) -> dict[tuple[str, str, bool], Reply]:
    """Return sums of counts of answers that came without a known price, by provider, model and whether by batch."""
    columns = f"provider, requested_model, batch_id IS NOT NULL AS is_batch, {', '.join(_TOKENS)}"
    kinds = ("provider", "requested_model", "is_batch")
    parts = [
        part.group_by(kinds).agg(pl.col(_TOKENS).sum())
        for part in attempts_where(db, _UNPRICED, {"study": study}, columns)
    ]
    rows = (
        pl.concat(parts, how="vertical_relaxed").group_by(kinds).agg(pl.col(_TOKENS).sum()).iter_rows() if parts else ()
    )
    return {
        (provider, model, is_batch): Reply(**dict(zip(_TOKENS, counts, strict=True)))
        for provider, model, is_batch, *counts in rows
    }
