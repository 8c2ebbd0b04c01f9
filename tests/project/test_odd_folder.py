"""Everything that writes or reads files works in a folder whose name is a pattern, a query, an escape and a quote.

A folder may be named so by its user, and DuckDB, Polars, pathlib and R each take some of these marks for their own.
"""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import zipfile
from contextlib import redirect_stderr
from pathlib import Path

import duckdb
import polars as pl
import pytest
from click.testing import CliRunner

from slant.analysis.cli.main import analyze
from slant.collector import collect, export_lake, merge
from slant.collector.cli import collect as collect_command
from slant.collector.keep.export import export_trials
from tests.conftest import ROOT
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

NAME = "study [2026] *?%#'é"


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of that name, which holds a study and a database (a.duckdb) that was begun, and then completed."""
    folder = tmp_path_factory.mktemp("odd") / NAME
    folder.mkdir()
    study = write_tiny(folder)
    collect(folder / "a.duckdb", study, simulated=True, repetitions=2, shard=(1, 2))
    collect(folder / "a.duckdb", study, simulated=True, repetitions=2)
    return folder


def typed(command: str, *words: object) -> str:
    """What a command prints; it must end well."""
    done = CliRunner().invoke(analyze if command == "analyze" else collect_command, [str(word) for word in words])
    assert done.exit_code == 0, f"{words}: {done.output} {done.exception!r}"
    return done.output


def count(place: Path) -> int:
    return int(rows_in(place, "SELECT count(*) FROM trials")[0][0])


def test_what_is_printed_to_be_typed_can_be_copied_there(tmp_path: Path) -> None:
    db = tmp_path / NAME / "none.duckdb"
    for command, *words in ((collect_command, "status"), (analyze, "tables")):
        (line, *_) = (
            CliRunner().invoke(command, [*words, "--db", str(db)]).output.split("To make one: ")[1].split(" (for")
        )
        assert shlex.split(line)[-2:] == ["--db", str(db)]
    sources = [path for half in ("collector", "analysis") for path in (ROOT / half).rglob("*.py")]
    assert [path.name for path in sources if re.search(r"--db \{(?!as_typed|shlex)", path.read_text("utf-8"))] == []


@pytest.mark.slow
def test_runs_go_on_and_rebuild_there_and_leave_nothing_in_the_folders_above(odd: Path) -> None:
    assert count(odd / "a.duckdb") == 16
    again = ("--study", odd / "study.toml", "--simulated", "--repetitions", 2, "--db", odd / "a.duckdb")
    assert "Nothing to ask" in typed("collect", *again)
    typed("collect", "load", "--rebuild", "--db", odd / "a.duckdb")
    assert count(odd / "a.duckdb") == 16
    assert [path.name for path in odd.parent.iterdir()] == [NAME]


@pytest.mark.slow
@pytest.mark.parametrize("format", ["csv", "parquet", "jsonl"])
def test_exports_are_written_there_and_replaced(odd: Path, format: str) -> None:
    out = odd / f"trials.{format}"
    for _ in range(2):
        export_trials(odd / "a.duckdb", out=out, format=format, overwrite=True)
    read = {"csv": pl.read_csv, "jsonl": pl.read_ndjson}.get(format, pl.read_parquet)
    assert read(io.BytesIO(out.read_bytes())).height == 16


@pytest.mark.slow
def test_a_lake_grows_there_and_is_read_by_slant_and_by_its_script(odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [export_lake(odd / "a.duckdb", odd / "lake").new_attempts for _ in range(2)] == [16, 0]
    assert count(odd / "lake") == 16
    assert "tea_coffee" in typed("analyze", "tables", "--lake", odd / "lake")
    monkeypatch.chdir(odd / "lake")
    with duckdb.connect() as connection:
        connection.execute((odd / "lake" / "lake.sql").read_text("utf-8"))
        assert connection.execute("SELECT count(*) FROM trials").fetchall() == [(16,)]


@pytest.mark.slow
def test_shards_merge_there(odd: Path) -> None:
    for part in (1, 2):
        collect(odd / f"{part}.duckdb", odd / "study.toml", simulated=True, repetitions=2, shard=(part, 2))
    merge(odd / "merged.duckdb", [odd / "1.duckdb", odd / "2.duckdb"])
    assert count(odd / "merged.duckdb") == 16


@pytest.mark.slow
def test_an_archive_is_sealed_and_replayed_there(odd: Path) -> None:
    with redirect_stderr(io.StringIO()):
        typed("analyze", "seal", "--study", "drinks", "--db", odd / "a.duckdb", "--no-r", "--out", odd / "s.zip")
        typed("analyze", "replay", odd / "s.zip", "--no-r", "--out", odd / "replayed")
    assert zipfile.ZipFile(odd / "s.zip").testzip() is None
    assert count(odd / "replayed" / "replayed.duckdb") == 16


@pytest.mark.slow
def test_reports_figures_and_pages_are_written_there(odd: Path) -> None:
    typed("collect", "view", "--db", odd / "a.duckdb", "--bundle", odd / "pages")
    typed("collect", "timeline", odd / "study.toml", "--out", odd / "people")
    typed("analyze", "figures", "--db", odd / "a.duckdb", "--out", odd / "figures")
    typed("analyze", "report", "--db", odd / "a.duckdb", "--out", odd / "report.html")
    assert {"pages", "people", "figures", "report.html"} <= {path.name for path in odd.iterdir()}


@pytest.mark.slow
def test_files_are_imported_from_there(odd: Path) -> None:
    export_trials(odd / "a.duckdb", out=odd / "in.csv", overwrite=True)
    rows = pl.read_csv((odd / "in.csv").read_bytes()).with_columns(source=pl.lit("imported"))
    (odd / "in.csv").write_text(rows.write_csv(), "utf-8")
    typed("collect", "import", "--study", odd / "study.toml", "--db", odd / "imported.duckdb", odd / "in.csv")
    assert count(odd / "imported.duckdb") == 16


@pytest.mark.slow
@pytest.mark.needs("duckdb", "DBI")
def test_r_opens_a_database_there_twice(odd: Path) -> None:
    code = "for (file in list.files('R', full.names = TRUE)) source(file); place <- commandArgs(TRUE); "
    code += "for (i in 1:2) cat(nrow(as.data.frame(open_trials(place, 'drinks'))), '')"
    done = subprocess.run(["Rscript", "-e", code, odd / "a.duckdb"], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split()[-2:] == ["16", "16"], done.stderr
