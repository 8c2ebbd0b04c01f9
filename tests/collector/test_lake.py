"""A lake: Parquet by study, variant and model, over which every view says what it says over the database."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from slant.collector import collect, export_lake, merge
from slant.collector.errors import DatabaseError, UsageError
from slant.collector.keep import lake_files
from slant.collector.keep.database import kept_open, reading
from slant.collector.keep.journal import SideJournal
from slant.collector.keep.journal_loader import load_journals
from slant.collector.system.shipped_files import sql_query
from tests.conftest import ROOT
from tests.support.commands import run_analyze, run_collect
from tests.support.lakes import sign
from tests.support.stored import rows_in
from tests.support.tiny_game import write_game
from tests.support.tiny_study import write_tiny

REPEAT = 5


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a study and games (a.duckdb), and its lake."""
    folder = tmp_path_factory.mktemp("lake")
    collect(folder / "a.duckdb", write_tiny(folder), simulated=True, repetitions=REPEAT)
    collect(folder / "a.duckdb", write_game(folder), ["simulated/greedy"])
    export_lake(folder / "a.duckdb", folder / "lake")
    return folder


def comparable(place: Path, view: str) -> list[str]:
    """Its rows in an order of their own; DuckDB adds up in parallel, and last digits go by who comes first."""
    shown = [[f"{v:.10g}" if isinstance(v, float) else repr(v) for v in row] for row in rows_in(place, f"FROM {view}")]
    return sorted(map(repr, shown))


def views(place: Path) -> list[str]:
    names = "SELECT view_name FROM duckdb_views() WHERE NOT internal AND view_name <> 'attempts' ORDER BY ALL"
    return [name for (name,) in rows_in(place, names)]


@pytest.mark.slow
def test_every_view_says_the_same_over_the_lake(home: Path) -> None:
    names = views(home / "a.duckdb")
    assert len(names) > 80
    assert views(home / "lake") == names
    with kept_open(home / "a.duckdb"):
        expected = {name: comparable(home / "a.duckdb", name) for name in names}
    assert {name: comparable(home / "lake", name) for name in names} == expected


@pytest.mark.slow
def test_parts_lie_by_study_variant_and_model_and_are_zstd(home: Path) -> None:
    parts = sorted(path.parent.relative_to(home / "lake") for path in home.glob("lake/attempts/**/*.parquet"))
    assert [str(part) for part in parts] == [
        "attempts/study-drinks/variant-base/model-small",
        "attempts/study-posts/variant-base/model-greedy",
    ]
    codecs = "SELECT DISTINCT compression FROM parquet_metadata(?)"
    with duckdb.connect() as connection:
        for path in home.glob("lake/**/*.parquet"):
            assert connection.execute(codecs, [str(path)]).fetchall() in ([("ZSTD",)], [])


def test_a_part_alone_says_what_it_is_and_times_are_instants(home: Path) -> None:
    attempts = pl.read_parquet(home / "lake/attempts/**/*.parquet")
    assert set(attempts.select("study", "variant", "model").unique().rows()) == {
        ("drinks", "base", "small"),
        ("posts", "base", "greedy"),
    }
    assert attempts.schema["done_at"] == pl.Datetime("us", "UTC")
    asked = rows_in(home / "a.duckdb", "SELECT min(done_at) FROM attempts")
    assert [(attempts["done_at"].min().replace(tzinfo=None),)] == asked  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_times_are_those_of_the_database_in_any_zone(home: Path, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    times = (
        "SELECT min(done_at), (SELECT min(started_at) FROM runs), (SELECT min(kept_at) FROM study_files) FROM trials"
    )
    monkeypatch.setenv("TZ", zone)
    with duckdb.connect() as connection:
        connection.execute(f"SET TimeZone = '{zone}'")
        connection.execute(f"SET VARIABLE lake = '{home / 'lake'}'")
        connection.execute((home / "lake" / "lake.sql").read_text())
        assert connection.execute(times).fetchall() == rows_in(home / "a.duckdb", times)


def test_the_readme_of_a_lake_says_what_it_holds_and_its_lines_work(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (home / "lake/README.md").read_text()
    assert f"| drinks | base | small | simulated | {8 * REPEAT} | {8 * REPEAT} |" in text
    (line,) = (line for line in text.splitlines() if "pl.read_parquet" in line)
    monkeypatch.chdir(home / "lake")
    names: dict[str, Any] = {"pl": pl}
    exec(line, names)
    assert names["attempts"].height == 8 * REPEAT + 24


def test_pandas_and_pyarrow_read_a_lake(home: Path) -> None:
    pandas, dataset = pytest.importorskip("pandas"), pytest.importorskip("pyarrow.dataset")
    frame = pandas.read_parquet(home / "lake/attempts")
    tables = [dataset.dataset(home / "lake/attempts", partitioning=kind).to_table() for kind in (None, "hive")]
    assert len(frame) == tables[0].num_rows == tables[1].num_rows == 8 * REPEAT + 24
    assert set(frame["study"]) == {"drinks", "posts"}


def test_tables_are_printed_from_a_lake(home: Path) -> None:
    words = ["tables", "tokens_by_condition", "--study", "drinks", "--format", "csv"]
    of_lake, of_db = (
        run_analyze(*words, option, place) for option, place in (("--lake", home / "lake"), ("--db", home / "a.duckdb"))
    )
    assert of_lake.exit_code == 0, of_lake.output
    assert of_lake.stdout == of_db.stdout != ""
    refused = run_analyze("tables", "--lake", home)
    assert "is no lake" in refused.output
    missing = run_analyze("tables", "--lake", home / "none")
    assert (missing.exit_code, "collect export --layout lake" in missing.output) == (1, True)


@pytest.mark.slow
def test_plain_duckdb_reads_the_script_and_can_leave_the_folder_no_way(home: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"SET VARIABLE lake = '{home / 'lake'}'")
        connection.execute((home / "lake" / "lake.sql").read_text())
        assert connection.execute("SELECT count(*) FROM trials").fetchall() == [(8 * REPEAT + 24,)]
        files = str(home / "lake/attempts/**/*.parquet")
        assert connection.execute("SELECT count(*) FROM read_parquet(?)", [files]).fetchall()[0][0] >= 8 * REPEAT + 24
    with reading(home / "lake") as connection, pytest.raises(duckdb.PermissionException):
        connection.execute(f"FROM read_text('{home / 'study.toml'}')")


def changed(file: Path, old: bytes, new: bytes) -> None:
    content = file.read_bytes()
    assert old in content
    file.write_bytes(content.replace(old, new, 1))


DAMAGE: dict[str, tuple[str, bytes, bytes]] = {
    "a part": ("attempts/**/*.parquet", b"PAR1", b"PAR0"),
    "a table": ("tables/*/runs.parquet", b"PAR1", b"PAR0"),
    "a sum in the list": ("checksums.md5", b"  attempts/", b"0 attempts/"),
    "a part's name in the list": ("checksums.md5", b"/part-2", b"/part-3"),
    "a part's ending in the list": ("checksums.md5", b".parquet", b".parqueT"),
    "two lines of the list in one": ("checksums.md5", b".parquet\n", b".parquet "),
    "the end of the list": ("checksums.md5", b"lake.lock\n", b"lake.lock"),
}


def test_a_damaged_part_or_list_is_told_and_never_read_as_less_or_as_other_values(home: Path, tmp_path: Path) -> None:
    """By slant, and by the script that DuckDB runs: what the list no longer names would be missing in silence."""
    check = sql_query("checked_lake")
    read, told = [], []
    for kind, (pattern, old, new) in DAMAGE.items():
        shutil.copytree(home / "lake", lake := tmp_path / kind)
        changed(next(lake.glob(pattern)), old, new)
        with duckdb.connect() as connection:
            connection.execute("SET VARIABLE lake = '{}'".format(str(lake).replace("'", "''")))
            try:
                connection.execute(check)
                read.append(f"DuckDB, {kind}")
            except duckdb.Error:
                assert connection.execute("SELECT getvariable('lake_files')").fetchall() == [(None,)]
        try:
            rows_in(lake, "SELECT count(*) FROM attempts")
            read.append(f"slant, {kind}")
        except DatabaseError as error:
            told.append(str(error))
    assert read == []
    assert [text for text in told if "damaged" not in text] == []


@pytest.mark.slow
def test_the_same_export_again_adds_what_is_new_and_touches_no_part(home: Path, tmp_path: Path) -> None:
    db, lake = tmp_path / "a.duckdb", tmp_path / "lake"
    study = write_tiny(tmp_path)
    collect(db, study, simulated=True, repetitions=1)
    first = export_lake(db, lake)
    before = {path: path.stat().st_mtime_ns for path in lake.glob("attempts/**/*.parquet")}
    assert (first.new_attempts, first.new_parts, export_lake(db, lake).new_parts) == (8, 1, 0)
    collect(db, study, simulated=True, repetitions=3)
    assert export_lake(db, lake).new_attempts == 16
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert rows_in(lake, "SELECT count(*), count(DISTINCT trial_id) FROM trials") == [(24, 24)]
    with pytest.raises(UsageError, match="Bring them together first"):
        export_lake(home / "a.duckdb", lake)


@pytest.mark.slow
def test_an_answer_that_a_later_merge_recovers_reaches_a_lake_written_before(tmp_path: Path) -> None:
    collect(tmp_path / "a.duckdb", write_tiny(tmp_path), simulated=True, repetitions=1)
    shutil.copytree(tmp_path / "a.duckdb.journal", tmp_path / "damaged.journal")
    (journal,) = (tmp_path / "damaged.journal").glob("*.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    answers = [index for index, line in enumerate(lines) if b'"attempt_id"' in line]
    lines[answers[3]] = lines[answers[3]].replace(b'"attempt_id"', b'"attempt_ie"')
    journal.write_bytes(b"".join(lines))
    merge(tmp_path / "all.duckdb", [tmp_path / "damaged.journal"])
    assert export_lake(tmp_path / "all.duckdb", tmp_path / "lake").new_attempts == 7
    merge(tmp_path / "all.duckdb", [tmp_path / "a.duckdb"])
    assert export_lake(tmp_path / "all.duckdb", tmp_path / "lake").new_attempts == 1
    assert rows_in(tmp_path / "lake", "SELECT count(*), count(DISTINCT trial_id) FROM trials") == [(8, 8)]


@pytest.mark.slow
def test_a_lake_of_a_slant_before_a_migration_is_read_and_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, newest = lake_files._columns_of_attempts()
    before = {name: kind for name, kind in newest.items() if name not in ("occasion", "first_trial_id")}
    monkeypatch.setattr(lake_files, "_columns_of_attempts", lambda: (before, newest))
    db, lake = tmp_path / "a.duckdb", tmp_path / "lake"
    study = write_tiny(tmp_path)
    collect(db, study, simulated=True, repetitions=1)
    export_lake(db, lake)
    (part,) = lake.glob("attempts/**/*.parquet")
    written_again(part, "* EXCLUDE (occasion, first_trial_id)")
    occasions = "SELECT count(*), count(occasion) FROM attempts"
    assert rows_in(lake, occasions) == [(8, 0)]
    assert export_lake(db, lake).new_parts == 0
    with duckdb.connect() as connection:  # as R opens it
        connection.execute(f"SET VARIABLE lake = '{lake}'")
        connection.execute((lake / "lake.sql").read_text())
        assert connection.execute(occasions).fetchall() == [(8, 0)]
    collect(db, study, simulated=True, repetitions=2)
    assert export_lake(db, lake).new_parts == 1
    assert rows_in(lake, occasions) == [(16, 0)]


def test_no_column_of_a_lake_is_nested_so_that_any_reader_of_parquet_reads_it(home: Path) -> None:
    nested = "SELECT file_name, name FROM parquet_schema(?) WHERE repetition_type = 'REPEATED'"
    with duckdb.connect() as connection:
        files = [str(file) for file in home.glob("lake/**/*.parquet")]
        assert connection.execute(nested, [files]).fetchall() == []


def test_a_text_that_is_no_map_is_said_to_be_no_slants(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "lake", tmp_path / "lake")
    written_again(next(tmp_path.glob("lake/attempts/**/*.parquet")), "* REPLACE ('{x' AS factor_lists)")
    with pytest.raises(DatabaseError, match=r"is no lake of slant's: Conversion Error.*factor_lists"):
        rows_in(tmp_path / "lake", "SELECT factor_lists FROM attempts")


def test_a_small_table_keeps_its_name_from_export_to_export(home: Path, tmp_path: Path) -> None:
    db, lake, seen = home / "a.duckdb", tmp_path / "lake", set()
    for _ in range(2):
        export_lake(db, lake)
        (runs,) = lake.glob("tables/*/runs.parquet")
        seen.add(runs.parent.name)
        assert (lake / "tables" / "runs.parquet").read_bytes() == runs.read_bytes()
    assert len(seen) == 2
    assert not list(lake.glob("tables/*.part*"))


def test_a_lake_whose_tables_this_slant_has_not_says_what_to_do(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "lake", tmp_path / "lake")
    (runs,) = tmp_path.glob("lake/tables/*/runs.parquet")
    written_again(runs, "*, 1 AS moon")
    with pytest.raises(DatabaseError, match="another version of slant") as refused, reading(tmp_path / "lake"):
        pass
    assert "into an empty folder: collect export --layout lake" in str(refused.value)


def written_again(file: Path, columns: str) -> None:
    """A Parquet file with other columns."""
    with duckdb.connect() as connection:
        source = f"read_parquet('{file}', hive_partitioning = false)"
        connection.execute(f"CREATE TABLE its AS FROM {source} SELECT {columns}")
        connection.execute(f"COPY its TO '{file}' (FORMAT parquet, COMPRESSION zstd)")
    sign(next(parent for parent in file.parents if (parent / "lake.sql").exists()))


@pytest.mark.slow
def test_what_is_found_out_later_of_old_answers_is_in_the_lake(home: Path, tmp_path: Path) -> None:
    db, lake = tmp_path / "all.duckdb", tmp_path / "lake"
    again = tmp_path / "again.duckdb"
    collect(again, write_tiny(tmp_path), simulated=True)
    merge(db, [again])
    export_lake(db, lake)
    [(attempt_id,)] = rows_in(db, "SELECT min(attempt_id) FROM trials")
    with SideJournal(db, "recount") as journal:
        journal.append(
            {"kind": "recounts", "tokenizer": "words", "counted_at": "2026-11-01", "rows": [[attempt_id, 7]]}
        )
    load_journals(db)
    export_lake(db, lake)
    counted = "SELECT attempt_id, reasoning_tokens_recounted FROM trials WHERE recount_tokenizer = 'words'"
    assert rows_in(lake, counted) == [(attempt_id, 7)]


@pytest.mark.slow
def test_what_a_killed_export_left_is_swept_away(home: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    (lake / "attempts").mkdir(parents=True)
    (lake / "lake.lock").touch()
    (lake / "attempts" / ".part.99999999.slant-part").write_bytes(b"half")
    (lake / "tables" / "20260101T000000.000000Z-abcd").mkdir(parents=True)
    export_lake(home / "a.duckdb", lake)
    unlisted = lake / "attempts/part-20260101T000000Z-abcdef.parquet"  # complete, and killed before it was listed
    shutil.copy(next(lake.glob("attempts/**/*.parquet")), unlisted)
    assert rows_in(lake, "SELECT count(*) FROM attempts") == rows_in(home / "a.duckdb", "SELECT count(*) FROM attempts")
    export_lake(home / "a.duckdb", lake)
    assert not [*lake.glob("**/.*"), *lake.glob("tables/20260101*"), *lake.glob("attempts/*.parquet")]


def test_what_is_no_lake_is_left_alone(home: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds something else"):
        export_lake(home / "a.duckdb", tmp_path)
    with pytest.raises(DatabaseError, match="is no lake"), reading(tmp_path):
        pass
    result = run_collect("export", "--layout", "lake", "--db", home / "a.duckdb")
    assert result.exit_code == 2


def test_an_address_of_a_store_elsewhere_is_no_folder_of_that_name(home: Path) -> None:
    words = ["export", "--layout", "lake", "s3://bucket/lake", "--db", str(home / "a.duckdb")]
    read = run_analyze("tables", "--lake", "s3://bucket/lake")
    for refused in (read, run_collect(*words)):
        assert refused.exit_code in (1, 2)
        assert '"s3://bucket/lake" is not on this machine' in refused.output
        assert "SET VARIABLE lake = 's3://bucket/lake'" in refused.output
    assert not Path("s3:").exists()


def test_a_file_name_of_a_strangers_lake_is_never_sql(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "lake", tmp_path / "lake")
    (table,) = tmp_path.glob("lake/tables/*/runs.parquet")
    table.rename(table.with_name('runs" BY NAME FROM runs; DROP TABLE runs; --.parquet'))
    sign(tmp_path / "lake")
    with pytest.raises(DatabaseError, match=r"checksums\.md5"), reading(tmp_path / "lake"):
        pass


@pytest.mark.slow
@pytest.mark.needs("duckdb", "DBI")
def test_r_opens_a_lake(home: Path) -> None:
    code = "for (file in list.files('R', full.names = TRUE)) source(file); "
    code += f'cat(nrow(as.data.frame(open_trials("{home / "lake"}", "drinks"))))'
    done = subprocess.run(["Rscript", "-e", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.endswith(str(8 * REPEAT)), done.stderr
