"""`collect export --layout scout`: transcripts that Inspect Scout reads."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import polars as pl
import pytest

from tests.support.commands import run_collect
from tests.support.given import database

REQUEST = json.dumps(
    {"messages": [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "aster?"}]}
)
ROWS = [
    {"request": REQUEST, "reasoning_text": "A flower.", "input_tokens": 9, "output_tokens": 3, "done_at": "2026-01-02"},
    {"outcome": "truncated", "answer": None, "choice": None, "item": "wasp", "expected": "Unpleasant"},
]


@pytest.fixture
def transcripts(tmp_path: Path) -> Path:
    db = database(tmp_path / "a.duckdb", ROWS)
    out = tmp_path / "transcripts" / "trials.parquet"
    words = ["export", "--layout", "scout", "--db", str(db), "--out", str(out)]
    assert run_collect(*words).exit_code == 0
    assert "--overwrite" in run_collect(*words).stderr
    return out


def test_a_transcript_has_the_messages_of_its_trial_and_all_its_columns(transcripts: Path) -> None:
    first, second = pl.read_parquet(transcripts).to_dicts()
    messages = json.loads(first["messages"])
    assert [message["role"] for message in messages] == ["system", "user", "assistant"]
    assert [part["type"] for part in messages[-1]["content"]] == ["reasoning", "text"]
    assert (first["transcript_id"], first["trial_id"], first["total_tokens"], first["success"]) == (
        "t1",
        "t1",
        12,
        True,
    )
    assert (first["condition"], first["token_source"]) == ("compatible", "usage")
    assert (second["limit"], second["success"], json.loads(second["messages"])) == ("token", None, [])


def test_inspect_scout_reads_them_back(transcripts: Path) -> None:
    scout = pytest.importorskip("inspect_scout", reason="the Python package inspect-scout is not here")

    async def read() -> list[str]:
        async with (
            scout.transcripts_from(str(transcripts.parent)).where(scout.columns.task_set == "rmiat").reader() as r
        ):
            infos = [info async for info in r.index()]
            content = scout.TranscriptContent(messages="all")
            return [message.text for info in infos[:1] for message in (await r.read(info, content)).messages]

    assert asyncio.run(read()) == ["Be brief.", "aster?", "Pleasant"]
