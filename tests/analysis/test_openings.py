"""A call opens its file once to read, and once more only if it has something to keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from slant import analysis
from slant.analysis.calls import results
from slant.collector.keep import database
from tests.support.fitted import small_database

pytestmark = pytest.mark.needs("R")
READ, BOTH = ["read"], ["read", "write"]
# each question twice: what it computes is kept, and read the second time
QUESTIONS: dict[str, tuple[Callable[[Path], object], list[str], list[str]]] = {
    "fit": (lambda db: analysis.fit(db, "rmiat", "effect_size", workers=1), BOTH, READ),
    "permute": (lambda db: analysis.permute(db, "rmiat", permutations=5, workers=1), BOTH, READ),
    "specifications": (lambda db: analysis.specifications(db, "rmiat", ["medians"], workers=1), BOTH, READ),
}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What opens a file in this process, in order."""
    log: list[str] = []
    reading, attached = database._opened, database._attached

    def read(*args: Any) -> Any:
        log.append("read")
        return reading(*args)

    @contextmanager
    def written(*args: Any) -> Iterator[Any]:
        log.append("write")
        with attached(*args) as connection:
            yield connection

    monkeypatch.setattr(database, "_opened", read)
    monkeypatch.setattr(database, "_attached", written)
    monkeypatch.setattr(results, "_KEEP_EVERY_S", 1e9)  # a busy machine would keep results halfway
    return log


@pytest.mark.slow
def test_a_question_opens_its_file_once_to_read_and_once_to_keep_what_is_new(tmp_path: Path, opened: list[str]) -> None:
    db = small_database(tmp_path / "a.duckdb")
    differing = {}
    for name, (ask, first, again) in QUESTIONS.items():
        for wanted in (first, again):
            opened.clear()
            ask(db)
            if opened != wanted:
                differing[name] = (opened.copy(), wanted)
    assert differing == {}
