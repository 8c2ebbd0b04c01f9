"""A new database is a copy of the one that the user's cache keeps, and the same as one made from nothing."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import duckdb
import pytest

from slant.collector.keep.database import writing
from slant.collector.keep.schema import cached_new_database, check_file, migration_texts
from slant.collector.records import Attempt


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of the cached database in a home that has none yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return cached_new_database()


def is_whole(path: Path) -> bool:
    with duckdb.connect(str(path), read_only=True) as connection:
        return check_file(connection, path)


def made(path: Path) -> Path:
    with writing(path):
        pass
    return path


def test_each_column_of_attempts_is_a_field_and_each_field_a_column() -> None:
    with duckdb.connect() as connection:
        for text in migration_texts():
            connection.execute(text)
        columns = set(connection.table("attempts").columns)
    found_in_sql = {"factor_lists", "is_repeated", "read_again_at"}  # by typed_rows, by the loader, by reread
    assert columns == {field.name for field in fields(Attempt)} | found_in_sql


@pytest.mark.slow
def test_the_second_database_is_a_copy_of_what_the_first_left_in_the_cache(cached: Path, tmp_path: Path) -> None:
    first = made(tmp_path / "first.duckdb")
    assert cached.exists()
    assert [path.suffix for path in cached.parent.iterdir()].count(".new") == 0
    second = made(tmp_path / "second.duckdb")
    assert cached.read_bytes() == first.read_bytes() == second.read_bytes()
    assert is_whole(second)


OTHERS = [pytest.param(b"", id="empty", marks=pytest.mark.slow), pytest.param(b"no database", id="garbage")]
OTHERS.append(pytest.param("another", id="another program's", marks=pytest.mark.slow))


@pytest.mark.slow
@pytest.mark.parametrize("content", OTHERS)
def test_a_cached_file_that_is_no_new_database_is_made_again(
    cached: Path, tmp_path: Path, content: bytes | str
) -> None:
    cached.parent.mkdir(parents=True)
    if isinstance(content, bytes):
        cached.write_bytes(content)
    else:
        with duckdb.connect(str(cached)) as connection:
            connection.execute("CREATE TABLE somebody (name TEXT)")
    assert is_whole(made(tmp_path / "a.duckdb"))
    assert is_whole(cached)


@pytest.mark.slow
def test_a_cached_file_that_was_cut_off_since_is_made_again(cached: Path, tmp_path: Path) -> None:
    made(tmp_path / "a.duckdb")
    os.truncate(cached, cached.stat().st_size // 2)
    assert is_whole(made(tmp_path / "b.duckdb"))
    assert is_whole(cached)


@pytest.mark.slow
def test_a_home_without_a_cache_costs_time_only(cached: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert is_whole(made(tmp_path / "a.duckdb"))


@pytest.mark.slow
def test_the_cache_keeps_the_databases_of_the_last_few_versions_only(cached: Path, tmp_path: Path) -> None:
    cached.parent.mkdir(parents=True)
    for number in range(9):
        old = cached.with_name(f"older-{number}.duckdb")
        old.touch()
        os.utime(old, (number, number))
    made(tmp_path / "a.duckdb")
    names = sorted(path.name for path in cached.parent.glob("*.duckdb"))
    assert names == sorted([cached.name, *(f"older-{number}.duckdb" for number in (6, 7, 8))])
