"""Recorded answers of providers as a table of the fields that slant reads otherwise than expected.

    .venv/bin/python tools/compare_recordings.py FILE_OR_FOLDER …             the differences, as CSV
    .venv/bin/python tools/compare_recordings.py ../shared/data/recordings    0 rows but doubtful ones: all is well

Takes JSON lines with `dialect`, `body` and `expected` (and `headers`, `host`, `source`), and cassettes of vcrpy (YAML,
which needs PyYAML, or JSON), whose answers are compared with what the providers' documentation says of them
(collector/model_checks/documented_fields.csv). Streams and answers with an error are counted and left out. A row with
a `doubt` is one that no documentation decides. Ends with 1 where a row has none.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import csv
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from slant.collector.model_checks.response_facts import differences, documented_fields
from slant.collector.providers import PROVIDERS

COLUMNS = ("source", "number", "dialect", "host", "field", "expected", "read", "doubt")
# which dialect reads what was asked at an address: a part of the host, a part of the path
_DIALECTS = (
    ("", "/messages", "anthropic"), ("", ":generateContent", "gemini"), ("", "/responses", "openai-responses"),
    ("", "/api/chat", "ollama"), ("openrouter.ai", "/chat/completions", "openrouter"),
    ("deepseek.com", "/chat/completions", "deepseek"), ("together.", "/chat/completions", "together"),
    ("api.openai.com", "/chat/completions", "openai"), ("azure.com", "/chat/completions", "openai"),
    ("", "/chat/completions", "local"), ("", "/invoke", "anthropic"),
)  # fmt: skip


@dataclass(frozen=True)
class Recording:
    """One answer: whose, what came, and what is expected of it (None: what the documentation says)."""

    source: str
    number: int
    dialect: str
    host: str
    status: int
    headers: Mapping[str, str]
    body: Any
    expected: Mapping[str, Any] | None


def compared(recordings: Iterable[Recording], left_out: Counter[str]) -> Iterator[dict[str, Any]]:
    """A row for each field that is read otherwise; counts in `left_out` what was not compared, by the reason."""
    for recording in recordings:
        if reason := _why_left_out(recording):
            left_out[reason] += 1
            continue
        left_out["compared"] += 1
        reply = PROVIDERS[recording.dialect].reply(recording.body, recording.headers)
        expected = documented_fields(recording.body) if recording.expected is None else recording.expected
        for found in differences(expected, reply):
            yield {
                **{name: getattr(recording, name) for name in COLUMNS[:4]},
                "field": found.field,
                "expected": found.documented,
                "read": found.read,
                "doubt": doubt(recording, found.field, found.documented, found.read),
            }


def doubt(recording: Recording, field: str, expected: Any, read: Any) -> str | None:
    """Why no documentation decides what this field is; None where it does."""
    body = recording.body
    if recording.dialect == "gemini" and field == "reasoning_tokens" and expected is None and read == 0:
        return "thoughtsTokenCount is left out when it is 0, and here the parts make the total"
    if recording.dialect == "gemini" and field == "output_tokens" and expected is None and read == 0:
        return "candidatesTokenCount is left out when it is 0, and here the parts make the total"
    usage = body.get("usage")
    if isinstance(usage, Mapping) and field in ("output_tokens", "reasoning_tokens") and "total_tokens" in usage:
        parts: list[Any] = [usage.get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")]
        if all(isinstance(part, int) for part in parts) and (beyond := parts[2] - parts[0] - parts[1]) > 0:
            return f"the total holds {beyond} tokens beyond prompt and completion: hidden reasoning"
    if field == "reasoning_tokens" and expected == 0 and read is None:
        return "the server says 0, and sends readable reasoning: its 0 is no count"
    return None


def _why_left_out(recording: Recording) -> str | None:
    if recording.dialect not in PROVIDERS:
        return "of no known dialect"
    if recording.status != 200:
        return f"HTTP {recording.status}"
    return None if isinstance(recording.body, Mapping) else "no JSON object (a stream, say)"


def read_recordings(paths: Iterable[Path]) -> Iterator[Recording]:
    """All recordings in files and folders, JSON lines and cassettes alike."""
    for path in paths:
        files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
        for file in files:
            if file.suffix in (".jsonl", ".ndjson"):
                yield from _json_lines(file)
            elif file.suffix in (".yaml", ".yml", ".json"):
                yield from _cassette(file)


def _json_lines(file: Path) -> Iterator[Recording]:
    for number, line in enumerate(file.read_text("utf-8").splitlines()):
        kept = json.loads(line)
        if isinstance(kept, dict) and "body" in kept:
            source, host = kept.get("source", file.name), kept.get("host", "")
            headers, status = kept.get("headers", {}), kept.get("status", 200)
            dialect = kept.get("dialect") or _dialect(f"https://{host}{kept.get('path', '')}")
            yield Recording(source, number, dialect, host, status, headers, kept["body"], kept.get("expected"))


def _cassette(file: Path) -> Iterator[Recording]:
    cassette = _loaded(file)
    interactions = cassette.get("interactions") if isinstance(cassette, dict) else None
    for number, kept in enumerate(interactions if isinstance(interactions, list) else []):
        url, response = kept["request"]["uri"], kept["response"]
        status = response.get("status", {})
        headers = {
            name.lower(): (v[0] if isinstance(v, list) else v) for name, v in response.get("headers", {}).items()
        }
        yield Recording(
            file.name,
            number,
            _dialect(url),
            urlsplit(url).hostname or "",
            int(status.get("code", 0)) if isinstance(status, dict) else int(status),
            headers,
            response["parsed_body"] if "parsed_body" in response else _decoded(response.get("body")),
            None,
        )


def _loaded(file: Path) -> Any:
    text = file.read_text("utf-8")
    if file.suffix == ".json":
        return json.loads(text)
    try:
        import yaml  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        sys.exit(f"{file} is YAML, which needs PyYAML: .venv/bin/pip install pyyaml")
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _decoded(body: Any) -> Any:
    """The body as JSON, from text, bytes or base64, packed or not; None where it is none."""
    value = body.get("string", body.get("base64_string")) if isinstance(body, dict) else body
    if isinstance(body, dict) and "base64_string" in body:
        value = base64.b64decode(body["base64_string"])
    try:
        raw: Any = value.encode() if isinstance(value, str) else value
        return json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    except (ValueError, TypeError, OSError, binascii.Error):
        return None


def _dialect(url: str) -> str:
    host, path = urlsplit(url).hostname or "", urlsplit(url).path
    return next((name for of_host, of_path, name in _DIALECTS if of_host in host and of_path in path), "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE_OR_FOLDER")
    counts: Counter[str] = Counter()
    rows = list(compared(read_recordings(parser.parse_args().paths), counts))
    table = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    n_wrong = sum(row["doubt"] is None for row in rows)
    print(
        f"{counts.pop('compared', 0):,} answers compared, {n_wrong} fields otherwise, {len(rows) - n_wrong} in doubt"
        + "".join(f"; {n:,} left out: {reason}" for reason, n in counts.most_common()),
        file=sys.stderr,
    )
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
