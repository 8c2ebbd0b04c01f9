"""`collect(batch=True)` on the tiny study, again and again, for tests: what it keeps and what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from slant.collector import BatchReport, collect
from slant.collector.ask.call import Watcher
from tests.support.batch_server import BatchServer
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

PLANNED = 8
MODELS = {"openai": "openai/o3-mini", "anthropic": "anthropic/claude-test"}
both = pytest.mark.parametrize("provider", MODELS)


class Heard(Watcher):
    """What a run said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        self.lines.append(text)


class Batching:
    """`collect(batch=True)` on the tiny study, again and again."""

    def __init__(self, folder: Path, server: BatchServer) -> None:
        (folder / "study").mkdir()
        self.study, self.db, self.server = str(write_tiny(folder / "study")), folder / "a.duckdb", server
        self.heard = Heard()

    def __call__(self, provider: str, *, yes: bool = True, **options: Any) -> BatchReport:
        how = {"settle_s": 0.0, "poll_s": 0.01, **options}
        return collect(self.db, self.study, [MODELS[provider]], yes=yes, watcher=self.heard, batch=True, **how)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return rows_in(self.db, query)

    @property
    def said(self) -> str:
        return "\n".join(self.heard.lines)
