"""Show the current run of another process, as `collect status` does: rate, limit, waits, time left."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from slant.collector.ask.rate_limits import spoken
from slant.collector.keep.database import fetched, fetched_frame, reading
from slant.collector.keep.journal import has_collector, utc_now

STALLED_AFTER_S = 60.0
_HEADING = ("source", "study", "study_version", "variant")
_USUAL = ("base", None)
_ALWAYS = ("model", "test", "n_done", "n_refused")
_PACE = {"rate_per_s": float, "request_limit": int, "waits_s": float, "n_rate_limited": int, "left_s": float}


def running_run(db: Path) -> str | None:
    """Return the id of the current run; None if no process collects, or its start is not in the database
    yet.
    """
    if not has_collector(db):
        return None
    rows = fetched(
        db, "SELECT run_id FROM runs WHERE finished_at IS NULL ORDER BY started_at DESC, run_id DESC LIMIT 1"
    )
    return rows[0][0] if rows else None


def with_pace(rows: pl.DataFrame, db: Path) -> pl.DataFrame:
    """Return rows of one model each. If a run is asking it now, they have `rate_per_s` of the last minute,
    `request_limit` (at once), `waits_s` (still to wait, as the provider asked), `n_rate_limited` of that run, and
    `left_s` to go."""
    run_id = running_run(db)
    counts = rows.select("model", "n_planned", "n_done", "n_not_asked").iter_rows()
    missing = {model: int((planned or 0) - done - not_asked) for model, planned, done, not_asked in counts}
    pace = _pace(db, run_id, missing, datetime.fromisoformat(utc_now())) if run_id else []
    schema = {"source": pl.String, "model": pl.String, **_PACE}
    return rows.join(pl.DataFrame(pace, schema=schema), on=["source", "model"], how="left", maintain_order="left")


def with_test_pace(rows: pl.DataFrame, db: Path) -> pl.DataFrame:
    """Return rows of one model and test each, with `rate_per_s` and `left_s` if a run is asking it now. Limit and waits
    are those of the whole model."""
    pace = pl.DataFrame(schema={**dict.fromkeys(("source", "model", "test"), pl.String), "rate_per_s": pl.Float64})
    if run_id := running_run(db):
        whole = {row["model"]: row for row in _pace(db, run_id, {}, datetime.fromisoformat(utc_now()))}
        going = [model for model, row in whole.items() if row["rate_per_s"] > 0]
        query = "SELECT source, model, test, rate_per_s FROM run_pace_by_test WHERE run_id = ?"
        pace = fetched_frame(db, query, [run_id]).filter(pl.col("model").is_in(going))
    joined = rows.join(pace, on=["source", "model", "test"], how="left", maintain_order="left")
    missing, rate = pl.col("n_planned") - pl.col("n_done") - pl.col("n_not_asked"), pl.col("rate_per_s")
    left = pl.when(rate > 0).then(missing / rate).when((missing == 0) & rate.is_not_null()).then(0.0)
    return joined.with_columns(left.alias("left_s"))


def silent_models(db: Path) -> list[str]:
    """Return a sentence for each model of the current run that has given no answer for long."""
    if not (run_id := running_run(db)):
        return []
    now = datetime.fromisoformat(utc_now())
    with reading(db) as connection:
        query = "SELECT model, last_done_at, mean_latency_s FROM run_pace WHERE run_id = ? AND last_done_at IS NOT NULL"
        rows = connection.execute(query, [run_id]).fetchall()
        silent = [(model, (now - at).total_seconds(), at) for model, at, mean_s in rows if _is_silent(at, mean_s, now)]
    return [f"{model}: the last answer came {spoken(s)} ago ({at:%H:%M:%S} UTC)." for model, s, at in silent]


def _is_silent(last_done_at: datetime, mean_latency_s: float | None, now: datetime) -> bool:
    patience_s = max(STALLED_AFTER_S, 3 * (mean_latency_s or 0.0))
    return (now - last_done_at).total_seconds() > patience_s


def _pace(db: Path, run_id: str, missing: dict[str, int], now: datetime) -> list[dict[str, Any]]:
    rows = fetched_frame(db, "SELECT * FROM run_pace WHERE run_id = ?", [run_id])
    return [_row(row, missing.get(row["model"]), now) for row in rows.iter_rows(named=True)]


def _row(row: dict[str, Any], missing: int | None, now: datetime) -> dict[str, Any]:
    waits_s = max(0.0, (row["paused_until"] - now).total_seconds()) if row["paused_until"] else 0.0
    has_stalled = row["last_done_at"] is None or _is_silent(row["last_done_at"], row["mean_latency_s"], now)
    rate = 0.0 if has_stalled else float(row["rate_per_s"] or 0.0)
    left_s = waits_s + float(missing) / rate if rate > 0 and missing is not None else None
    return {
        "source": row["source"],
        "model": row["model"],
        "rate_per_s": rate,
        "request_limit": row["request_limit"],
        "waits_s": waits_s,
        "n_rate_limited": row["n_rate_limited"],
        "left_s": left_s,
    }


def for_people(rows: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Return the columns that vary or matter, and a title with those that are the same in every row."""
    same = [name for name in _HEADING if name in rows.columns and rows[name].n_unique() == 1]
    title = ", ".join(f"{name}: {rows[name][0]}" for name in same if rows[name][0] not in _USUAL)
    lines = [
        name
        for name in rows.columns
        if name in _ALWAYS or (name not in same and any(value not in (None, 0) for value in rows[name]))
    ]
    return rows.select(lines), title


def sentence(row: dict[str, Any]) -> str:
    """Describe one model in one line, for a log."""
    name = f"{row['model']}, {row['test']}" if "test" in row else row["model"]
    shard = f" (shard {row['shard']}; the whole plan: {row['n_whole']:,})" if row.get("shard") else ""
    planned = f" of {row['n_planned']:,}" if row["n_planned"] is not None else ""
    parts = [f"{name}: {row['n_done']:,}{planned}{shard}"]
    if row.get("n_not_asked"):
        parts.append(f"{row['n_not_asked']:,} never to be asked, of games that ended")
    if row.get("rate_per_s") is not None:
        parts.append(f"{row['rate_per_s']:,.3g}/s")
    if row.get("request_limit") is not None:
        parts.append(f"{row['request_limit']} at once")
    if row.get("waits_s"):
        parts.append(f"waits {spoken(row['waits_s'])}")
    if row.get("n_rate_limited"):
        parts.append(f"{row['n_rate_limited']:,} times asked to slow down")
    parts.append(f"{row['n_refused']:,} refused")
    if row["n_failed_attempts"]:
        parts.append(f"{row['n_failed_attempts']:,} failed attempts")
    if row.get("cost_usd") is not None:
        parts.append(f"${row['cost_usd']:,.4f}")
    if row.get("left_s") is not None:
        parts.append(f"{spoken(row['left_s'])} left")
    return "; ".join(parts)
