"""Databases of strangers: opening one reads nothing else and runs nothing, and shows the rows that its tables hold."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import duckdb
import polars as pl
import pytest

from slant import analysis
from slant.collector.errors import DatabaseError
from slant.collector.keep import database as store
from slant.collector.keep import definitions, schema
from slant.collector.keep.database import reading, writing
from slant.collector.keep.export import export_trials
from slant.collector.keep.schema import catalog_entries, prepare
from tests.hostile.databases import REBUILT, TAMPERED, TamperedDatabase
from tests.support.commands import run_collect
from tests.support.fitted import trials
from tests.support.given import database

SECRET = "a-line-that-nobody-handed-over"
ROWS = 12


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clean")
    (folder / "secret.csv").write_text(f"answer\n{SECRET}\n")
    return database(folder / "a.duckdb", list(trials())[:ROWS])


def tampered(clean: Path, folder: Path, sql: str) -> Path:
    path, typed = folder / "a.duckdb", sql.replace("SECRET", str(clean.parent / "secret.csv"))
    if "TRIGGER" not in sql:
        with duckdb.connect(str(shutil.copy(clean, path))) as connection:
            connection.execute(typed)
        return path
    with duckdb.connect(":memory:") as connection:  # triggers need a file of DuckDB's newest format
        connection.execute(f"ATTACH '{path}' AS db (STORAGE_VERSION 'v2.0.0'); USE db")
        prepare(connection, path)
        connection.execute(typed)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("attack", TAMPERED, ids=lambda attack: attack.name)
def test_a_file_shows_its_own_rows_or_is_refused_in_a_sentence(
    attack: TamperedDatabase, clean: Path, tmp_path: Path
) -> None:
    path = tampered(clean, tmp_path, attack.sql)
    if attack.becomes == REBUILT:
        found = analysis.open_trials(path)
        assert found.height == ROWS
        assert found["answer"].equals(analysis.open_trials(clean)["answer"])
        return
    for opened in (lambda: analysis.open_trials(path), lambda: writing(path).__enter__()):
        with pytest.raises(DatabaseError, match=attack.becomes):
            opened()


def test_views_that_can_not_be_made_again_are_refused(
    clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tampered(clean, tmp_path, "CREATE OR REPLACE VIEW trials AS FROM read_csv('SECRET')")
    (path.parent / f"{path.name}.journal").mkdir()
    (path.parent / f"{path.name}.journal" / "collector.lock").write_text("process 1 since")  # somebody collects here
    with pytest.raises(DatabaseError, match="are not those that slant makes"):
        analysis.open_trials(path)


def test_a_view_of_a_persons_own_stays_and_reads_no_file(clean: Path, tmp_path: Path) -> None:
    path = tampered(clean, tmp_path, "CREATE VIEW mine AS FROM read_text('SECRET'); CREATE VIEW ok AS SELECT 7 AS n")
    assert analysis.open_trials(path, view="ok").rows() == [(7,)]
    with pytest.raises(duckdb.PermissionException):
        analysis.open_trials(path, view="mine")
    with pytest.raises(duckdb.PermissionException):
        export_trials(path, None, tmp_path / "mine.csv", "mine")
    assert not (tmp_path / "mine.csv").exists()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('SECRET')", "SELECT * FROM 'SECRET'", "SELECT * FROM glob('/*')",
        "COPY (SELECT 1) TO 'OUT'", "EXPORT DATABASE 'OUT'", "ATTACH 'OUT'", "INSTALL httpfs", "LOAD httpfs",
        "SET enable_external_access = true", "SET threads = 64", "SET allowed_directories = ['/']",
        "SELECT * FROM duckdb_secrets()", "SELECT * FROM hidden_frame",
    ],
)  # fmt: skip
def test_a_reading_connection_reaches_nothing_else(sql: str, clean: Path, tmp_path: Path) -> None:
    hidden_frame = pl.DataFrame({"key": [SECRET]})
    typed = sql.replace("SECRET", str(clean.parent / "secret.csv")).replace("OUT", str(tmp_path / "out"))
    with reading(clean) as connection, pytest.raises(duckdb.Error):
        connection.execute(typed)
    assert hidden_frame.height == 1
    assert list(tmp_path.iterdir()) == []


def test_an_export_may_write_into_its_own_folder_and_nowhere_else(clean: Path, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    with reading(clean, writes_to=tmp_path / "own") as connection:
        connection.execute(f"COPY (SELECT 1) TO '{tmp_path}/own/a.csv'")
        for place in (f"{tmp_path}/b.csv", f"{tmp_path}/own/../c.csv", f"{tmp_path}/owner.csv"):
            with pytest.raises(duckdb.PermissionException):
                connection.execute(f"COPY (SELECT 1) TO '{place}'")
        with pytest.raises(duckdb.Error):
            connection.execute("SET allowed_directories = ['/']")
    assert [file.name for file in tmp_path.rglob("*.csv")] == ["a.csv"]


def test_a_file_that_was_looked_at_is_looked_at_again_when_another_takes_its_place(clean: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(clean, tmp_path / "b.duckdb"))
    assert analysis.open_trials(path).height == ROWS
    (tmp_path / "other").mkdir()
    tampered(clean, tmp_path / "other", "CREATE MACRO sum(x) AS 42").replace(path)
    with pytest.raises(DatabaseError, match="holds the macro sum"):
        analysis.open_trials(path)


@pytest.mark.slow
def test_looking_at_a_file_is_done_once(clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(shutil.copy(clean, tmp_path / "c.duckdb"))
    analysis.open_trials(path)
    monkeypatch.setattr(store, "check_file", lambda *_: pytest.fail("looked at again"))
    analysis.open_trials(path)
    with writing(path) as connection:
        connection.execute("INSERT INTO loads VALUES ('x', 1, NULL)")
    analysis.open_trials(path)


def test_what_duckdb_prints_in_any_order_is_one_definition() -> None:
    printed = "CREATE VIEW v AS SELECT * EXCLUDE (b, \"a,)\") REPLACE (f(x, ')') AS c, 1 AS d) FROM t"
    other = "CREATE VIEW v AS SELECT * EXCLUDE (\"a,)\", b) REPLACE (1 AS d, f(x, ')') AS c) FROM t"
    assert definitions._in_one_order(printed) == definitions._in_one_order(other)
    renamed = ("SELECT * RENAME (a AS b, c AS d) FROM t", "SELECT * RENAME (c AS d, a AS b) FROM t")
    assert len({definitions._in_one_order(sql) for sql in renamed}) == 1
    assert definitions._in_one_order("SELECT a EXCLUDE (") == "SELECT a EXCLUDE ("


@pytest.mark.slow
@pytest.mark.needs("duckdb")
def test_r_reads_nothing_outside_the_file_either(clean: Path, tmp_path: Path, root: Path) -> None:
    path = tampered(
        clean,
        tmp_path,
        "CREATE OR REPLACE VIEW association_trials AS FROM read_csv('SECRET'); CREATE VIEW ok AS SELECT 7",
    )
    (tmp_path / "m").mkdir()
    with_macro = tampered(clean, tmp_path / "m", "CREATE MACRO sum(x) AS 42")
    command = ["Rscript", str(root / "tests" / "hostile" / "open_tampered.R"), str(root), str(path), str(with_macro)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert SECRET not in done.stdout + done.stderr
    assert "disabled by configuration" in done.stdout, done.stderr
    assert "holds the macro sum" in done.stdout
    assert done.stdout.strip().endswith("[1] 1")


def with_tables(path: Path, number: int, version: str = "v1.2.0") -> Path:
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"ATTACH '{path}' AS db (STORAGE_VERSION '{version}'); USE db; BEGIN")
        for first in range(0, number, 5000):
            last = min(first + 5000, number)
            connection.execute(";".join(f"CREATE TABLE t{n} (x INTEGER)" for n in range(first, last)))
        connection.execute("COMMIT; CHECKPOINT")
    return path


@pytest.mark.parametrize("version", ["v1.2.0", "v2.0.0"])
def test_a_file_of_too_many_tables_is_refused_before_duckdb_opens_it(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = with_tables(tmp_path / "a.duckdb", 300, version)
    assert catalog_entries(path) == 301  # and the schema
    with pytest.raises(DatabaseError, match="another program's database"):
        analysis.open_trials(path)
    monkeypatch.setattr(schema, "MAX_ENTRIES", 300)
    monkeypatch.setattr(schema, "_MIN_BYTES", 0)
    monkeypatch.setattr(duckdb, "connect", None)
    for opened in (lambda: analysis.open_trials(path), lambda: writing(path).__enter__()):
        with pytest.raises(DatabaseError, match="holds 301 tables and views"):
            opened()


def test_what_slant_makes_is_far_below_and_what_is_no_duckdb_file_is_left_to_duckdb(
    clean: Path, tmp_path: Path
) -> None:
    assert (catalog_entries(clean) or 0) in range(100, 500)
    whole = clean.read_bytes()
    for number, damaged in enumerate((b"DUCK", b"\0" * 20_000, whole[:9000], whole[:12288] + b"\xff" * 9000)):
        (path := tmp_path / f"{number}.duckdb").write_bytes(damaged)
        assert catalog_entries(path) is None


@pytest.mark.slow
def test_a_file_of_100_000_tables_is_refused_at_once(tmp_path: Path) -> None:
    path, before = with_tables(tmp_path / "a.duckdb", 100_000), time.process_time()
    for words in (["status", "--db"], ["view", "--no-open", "--db"], ["export", "--db"]):
        done = run_collect(*words, path)
        assert (done.exit_code, "100,001 tables" in done.stderr) == (1, True)
    assert time.process_time() - before < 1
