"""A damaged database is made again from its journal, says so, and stays next to it; others are left alone."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest

from slant.collector import collect
from slant.collector.errors import DatabaseDamagedError, DatabaseError
from slant.collector.keep.database import reading
from tests.support.commands import run_collect
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

ROWS = "SELECT attempt_id, answer FROM attempts ORDER BY ALL"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    collect(tmp_path / "a.duckdb", write_tiny(tmp_path), simulated=True)
    return tmp_path / "a.duckdb"


def cut_off(db: Path) -> None:
    os.truncate(db, db.stat().st_size // 2)


@pytest.mark.slow
def test_reading_says_what_makes_it_again_and_loading_does(db: Path) -> None:
    before = rows_in(db, ROWS)
    cut_off(db)
    with pytest.raises(DatabaseDamagedError, match="collect load --rebuild"), reading(db):
        pass
    done = run_collect("load", "--db", db)
    assert (done.exit_code, "was made again from its journal" in done.stderr) == (0, True)
    assert rows_in(db, ROWS) == before
    assert len(list(db.parent.glob("a.duckdb.damaged-*"))) == 1


@pytest.mark.slow
def test_wherever_a_file_is_garbled_it_is_called_damaged_or_reads_as_before(db: Path) -> None:
    whole, rows = db.read_bytes(), rows_in(db, ROWS)
    for place in range(0, len(whole), max(1, len(whole) // 25)):
        garbled = bytes(byte ^ 0x5A for byte in whole[place : place + 6_000])
        db.write_bytes(whole[:place] + garbled + whole[place + 6_000 :])
        with suppress(DatabaseDamagedError):
            assert rows_in(db, ROWS) == rows


@pytest.mark.slow
def test_the_same_collect_goes_on_with_a_damaged_database(db: Path) -> None:
    cut_off(db)
    with pytest.warns(UserWarning, match="made again"):
        report = collect(db, db.parent / "study.toml", simulated=True, repetitions=2)
    assert (report.models[0]["already_done"], report.models[0]["asked"]) == (8, 8)


def test_one_that_opens_is_made_again_when_asked_to(db: Path) -> None:
    before = rows_in(db, ROWS)
    done = run_collect("load", "--rebuild", "--db", db)
    assert (done.exit_code, rows_in(db, ROWS)) == (0, before)
    assert len(list(db.parent.glob("a.duckdb.before-rebuild-*"))) == 1
    assert list(db.parent.glob("*damaged*")) == []


def test_a_file_without_a_journal_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "thesis.duckdb").write_bytes(b"mine" * 5000)
    with pytest.raises(DatabaseError, match="is not a DuckDB database"), reading(tmp_path / "thesis.duckdb"):
        pass
    (tmp_path / "thesis.duckdb.journal").mkdir()
    done = run_collect("load", "--rebuild", "--db", tmp_path / "thesis.duckdb")
    assert (done.exit_code, (tmp_path / "thesis.duckdb").read_bytes()) == (1, b"mine" * 5000)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (RuntimeError("Query interrupted"), 130, "The rest: collect load --db"),
        (KeyboardInterrupt(), 130, "Error: Left at once.\n  The journals are as they were."),
        (
            duckdb.InvalidInputException("ZSTD failed: Allocation error : not enough memory"),
            1,
            "There is not enough memory",
        ),
        (MemoryError(), 1, "There is not enough memory (MemoryError)."),
    ],
)
def test_ctrl_c_in_a_query_and_lack_of_memory_are_no_traceback(
    db: Path, error: BaseException, code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*words: object) -> None:
        raise error

    monkeypatch.setattr("slant.collector.keep.journal_loader.load_journals", fail)
    done = run_collect("load", "--db", db)
    assert (done.exit_code, said in done.stderr, isinstance(done.exception, SystemExit)) == (code, True, True)


def test_a_disk_that_gives_an_error_while_a_query_reads_is_a_sentence(db: Path) -> None:
    """In DuckDB's words; tests/faults has disks that do so (EIO)."""
    text = f'IO Error: Could not read from file "{db}": Input/output error'
    with pytest.raises(DatabaseError, match=r"Input/output error\.\n.*copy the file to another disk"), reading(db):
        raise duckdb.IOException(text)
