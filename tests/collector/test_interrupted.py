"""Ctrl-C in commands that send nothing: exit code 130, what is kept, and the same command does the rest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from slant.collector import collect, import_trials
from tests.collector.test_merge import COUNTED, query
from tests.support.raw_rows import tidy, write_csv
from tests.support.tiny_study import write_tiny

# The real command; but Ctrl-C comes at the moment when it is about to call FUNCTION of MODULE.
CODE = """
import os, signal
from slant.collector import cli
import slant.collector.MODULE as module
module.FUNCTION = lambda *given, **named: os.kill(os.getpid(), signal.SIGINT)
cli.collect(prog_name="collect")
"""


def interrupted(place: str, *words: str | Path) -> str:
    """What `collect` says when it is interrupted before it calls MODULE.FUNCTION."""
    module, _, function = place.rpartition(".")
    code = CODE.replace("MODULE", module).replace("FUNCTION", function)
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    return done.stderr


def typed(*words: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "slant.collector", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "rows.csv", [tidy(), tidy(item="poppy")])


@pytest.mark.slow
@pytest.mark.parametrize("place", ["importing.writer.load_journals", "importing.writer.pack_journals"])
def test_an_import_keeps_what_it_had_and_brings_the_rest(tmp_path: Path, rows: Path, place: str) -> None:
    words = ("import", "--study", "rmiat", rows, "--db", tmp_path / "t.duckdb")
    said = interrupted(place, *words)
    assert f"\nError: Left at once.\n  Rows that are in {tmp_path / 't.duckdb'} stay. The same command" in said
    typed(*words)
    assert query(tmp_path / "t.duckdb", COUNTED) == [(2, 2)]


@pytest.mark.slow
@pytest.mark.parametrize("place", ["keep.merging._copy", "keep.merging.set_repeated_aside"])
def test_a_merge_keeps_what_it_had_and_brings_the_rest(tmp_path: Path, place: str) -> None:
    study = write_tiny(tmp_path)
    for k in (1, 2):
        collect(tmp_path / f"{k}.duckdb", study, simulated=True, repetitions=30, shard=(k, 2))
    words = ("merge", "--db", tmp_path / "all.duckdb", tmp_path / "1.duckdb", tmp_path / "2.duckdb")
    said = interrupted(place, *words)
    assert f"\nError: Left at once.\n  What is in {tmp_path / 'all.duckdb'} stays. The same command" in said
    typed(*words)
    assert query(tmp_path / "all.duckdb", COUNTED) == [(240, 240)]


@pytest.mark.slow
def test_an_export_leaves_the_file_as_it_was(tmp_path: Path, rows: Path) -> None:
    import_trials(tmp_path / "t.duckdb", "rmiat", [rows])
    (out := tmp_path / "trials.csv").write_text("mine", "utf-8")
    words = ("export", "--db", tmp_path / "t.duckdb", "--out", out, "--overwrite")
    said = interrupted("keep.export._write_text", *words)
    assert said == f"\nError: Left at once.\n  {out} is as it was: a file gets its name when it is whole.\n"
    assert (out.read_text("utf-8"), sorted(tmp_path.glob(".*"))) == ("mine", [])
    typed(*words)
    assert pl.read_csv(out).height == 2


@pytest.mark.slow
def test_an_export_to_stdout_or_a_lake_says_what_there_is_of_it(tmp_path: Path, rows: Path) -> None:
    import_trials(tmp_path / "t.duckdb", "rmiat", [rows])
    words = ("export", "--db", tmp_path / "t.duckdb")
    said = interrupted("keep.export._write_text", *words, "--out", "-")
    assert said.endswith("What came to stdout is not all of it.\n")
    lake = (*words, "--layout", "lake", tmp_path / "lake")
    assert f"What is in {tmp_path / 'lake'} stays. The same command adds" in interrupted("keep.lake.export_lake", *lake)
    assert "2 attempts written" in typed(*lake)
