"""Real answers of providers, read and compared field by field (tools/compare_recordings.py)."""

from __future__ import annotations

import base64
import csv
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CLAUDE = {
    "id": "msg_1", "type": "message", "model": "claude-sonnet-4-5", "stop_reason": "end_turn",
    "content": [{"type": "text", "text": "Calm"}], "usage": {"input_tokens": 9, "output_tokens": 2},
}  # fmt: skip


def compare(root: Path, *paths: Path) -> tuple[int, list[dict[str, str]], str]:
    command = [sys.executable, str(root / "tools" / "compare_recordings.py"), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, list(csv.DictReader(done.stdout.splitlines())), done.stderr


def test_every_recorded_answer_is_read_as_its_provider_means_it(root: Path, shared: Path) -> None:
    code, rows, said = compare(root, shared / "data" / "recordings")
    assert said.startswith("288 answers compared, 0 fields otherwise")
    assert [row for row in rows if not row["doubt"]] == []
    assert code == 0


def test_a_field_that_is_read_otherwise_is_a_row(root: Path, tmp_path: Path) -> None:
    kept = {"dialect": "anthropic", "body": CLAUDE, "expected": {"answer": "Wild", "output_tokens": 2}}
    (tmp_path / "made.jsonl").write_text(json.dumps(kept) + "\n")
    code, [row], _ = compare(root, tmp_path)
    assert (code, row["field"], row["expected"], row["read"]) == (1, "answer", "Wild", "Calm")


@pytest.mark.parametrize("body", [{"string": json.dumps(CLAUDE)}, {"base64_string": None}])
def test_a_folder_of_cassettes_is_compared_with_the_documentation(root: Path, tmp_path: Path, body: Any) -> None:
    if "base64_string" in body:
        body = {"base64_string": base64.b64encode(gzip.compress(json.dumps(CLAUDE).encode())).decode()}
    request = {"uri": "https://api.anthropic.com/v1/messages", "method": "POST"}
    answer = {"request": request, "response": {"status": {"code": 200}, "headers": {}, "body": body}}
    stream = {"request": request, "response": {"status": {"code": 200}, "body": {"string": "event: ping"}}}
    (tmp_path / "one.json").write_text(json.dumps({"interactions": [answer, stream]}))
    code, rows, said = compare(root, tmp_path)
    assert (code, rows) == (0, [])
    assert (
        said.strip() == "1 answers compared, 0 fields otherwise, 0 in doubt; 1 left out: no JSON object (a stream, say)"
    )
