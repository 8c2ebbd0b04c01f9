"""Write trials as Inspect Scout reads transcripts: Parquet with `transcript_id`, `messages`, and columns of `trials`.

A transcript is a trial. The messages of a round of a game are that round's own: the others of its game have
the same `game`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
from duckdb import ColumnExpression, ConstantExpression

from slant.collector.errors import SlantError, UsageError
from slant.collector.keep.anonymous import anonymised
from slant.collector.keep.database import reading
from slant.collector.keep.export import write_rows
from slant.collector.request_messages import messages_of, values_of
from slant.collector.system.files import made_folder, moved, real_file
from slant.collector.system.scratch import scratch_near

_AT_ONCE = 20_480
_ROLES = {"model": "assistant", "developer": "system", "function_call_output": "tool"}
_KNOWN_ROLES = ("system", "user", "assistant", "tool")
_OWN = {
    "transcript_id": pl.String, "source_type": pl.String, "source_id": pl.String, "date": pl.String,
    "task_set": pl.String, "task_id": pl.String, "task_repeat": pl.Int64, "model_options": pl.String,
    "score": pl.String,
    "success": pl.Boolean, "message_count": pl.Int64, "total_time": pl.Float64, "total_tokens": pl.Int64,
    "limit": pl.String, "trust_content": pl.Boolean, "messages": pl.String,
}  # fmt: skip
_WIDE = ("request", "response")  # they are in `messages`, in words


def export_for_scout(
    db: Path, out: Path, study: str | None = None, *, overwrite: bool = False, anonymous: bool = False
) -> int:
    """Write all trials into the Parquet file `out`; return their number. Its folder, which Scout reads, is
    made if it does not exist. `anonymous`: without what reveals who collected them. Raise UsageError if the file exists
    and `overwrite` is false, or does not end in .parquet."""
    if out.suffix != ".parquet":
        raise UsageError(
            f"Inspect Scout reads Parquet, and {out} is not called so.", "--out transcripts/trials.parquet"
        )
    if out.exists() and not overwrite:
        raise UsageError(f"There is a file {out} already.", "To replace it: --overwrite")
    try:
        made_folder(real_file(out.parent))
        with scratch_near(out) as folder:
            rows, whole = folder / "rows.parquet", folder / "whole.parquet"
            with reading(db, writes_to=folder) as connection:
                settings = "SELECT run_id || ' ' || model AS asked, settings FROM run_models"
                asked = anonymised(connection.sql(settings), anonymous).fetchall()
                trials = connection.view("trials")
                if study is not None:
                    trials = trials.filter(ColumnExpression("study") == ConstantExpression(study))
                write_rows(anonymised(trials.order("run_id, sequence"), anonymous), rows, "parquet")
            n_trials, parts = 0, []
            for number, part in enumerate(_parts(rows, dict(asked))):
                part.write_parquet(folder / f"part-{number:06}.parquet")
                parts.append(folder / f"part-{number:06}.parquet")
                n_trials += part.height
            pl.scan_parquet(parts, glob=False).sink_parquet(whole)
            moved(whole, out)
    except OSError as error:
        raise SlantError(f"Can't write {out}: {error.strerror or error}.") from error
    return n_trials


def _parts(rows: Path, settings: Mapping[str, str]) -> Iterator[pl.DataFrame]:
    scan = pl.scan_parquet(rows, glob=False)
    for start in range(0, max(1, scan.select(pl.len()).collect().item()), _AT_ONCE):
        part = scan.slice(start, _AT_ONCE).collect(engine="in-memory")
        own = pl.DataFrame([_transcript(row, settings) for row in part.iter_rows(named=True)], schema=_OWN)
        yield pl.concat([own, part.drop(*_WIDE, *(name for name in _OWN if name in part.columns))], how="horizontal")


def _transcript(row: Mapping[str, Any], settings: Mapping[str, str]) -> dict[str, Any]:
    messages = list(_messages(row))
    counts = [row["input_tokens"], row["output_tokens"]]
    cell = [row["test"], row["condition"], row["item"], row["wording"], row["round"]]
    is_right = row["choice"] == row["expected"] if row["choice"] and row["expected"] else None
    return {
        "transcript_id": row["trial_id"], "source_type": "slant", "source_id": row["run_id"],
        "date": None if row["done_at"] is None else f"{row['done_at'].isoformat()}+00:00",
        "task_set": row["study"], "task_id": "/".join(str(part) for part in cell if part not in (None, "")),
        "task_repeat": row["repetition"],
        "model_options": json.dumps(values_of(settings.get(f"{row['run_id']} {row['model']}"))),
        "score": json.dumps(row["choice"] if row["outcome"] == "answered" else row["outcome"]), "success": is_right,
        "message_count": len(messages), "total_time": row["latency_s"],
        "total_tokens": None if None in counts else sum(counts),
        "limit": "token" if row["outcome"] == "truncated" else None, "trust_content": False,
        "messages": json.dumps(messages, ensure_ascii=False),
    }  # fmt: skip


def _messages(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return messages as Inspect writes them: the reasoning is a part of the answer's content."""
    for number, message in enumerate(messages_of(row["request"])[0]):
        role = _ROLES.get(message.role, message.role)
        known = role if role in _KNOWN_ROLES else "user"
        yield {"id": f"{row['trial_id']}-{number}", "role": known, "content": message.text}
    if row["answer"] is not None or row["reasoning_text"]:
        reasoning = [{"type": "reasoning", "reasoning": row["reasoning_text"]}] if row["reasoning_text"] else []
        content = [*reasoning, {"type": "text", "text": row["answer"] or ""}]
        own = {"role": "assistant", "content": content, "model": row["served_model"] or row["model"]}
        yield {"id": f"{row['trial_id']}-answer", **own, "source": "generate"}
