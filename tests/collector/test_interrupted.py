"""Ctrl-C in commands that send nothing: exit code 130, what is kept, and the same command does the rest. The log:
nothing by default, events with --verbose, every request with SLANT_LOG=debug, and never a key."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from aiohttp import web
from click.testing import CliRunner, Result

from slant.collector import cli, collect, import_trials
from tests.collector.test_merge import COUNTED
from tests.support.local_server import LocalServer, answers, error
from tests.support.raw_rows import tidy, write_csv
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

# The real command; but Ctrl-C comes at the moment when it is about to call FUNCTION of MODULE.
CODE = """
import os, signal
from slant.collector import cli
import slant.collector.MODULE as module
module.FUNCTION  # it is there
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
    assert rows_in(tmp_path / "t.duckdb", COUNTED) == [(2, 2)]


@pytest.mark.slow
@pytest.mark.parametrize("place", ["keep.merging._copied", "keep.merging.set_repeated_aside"])
def test_a_merge_keeps_what_it_had_and_brings_the_rest(tmp_path: Path, place: str) -> None:
    study = write_tiny(tmp_path)
    for k in (1, 2):
        collect(tmp_path / f"{k}.duckdb", study, simulated=True, repetitions=30, shard=(k, 2))
    words = ("merge", "--db", tmp_path / "all.duckdb", tmp_path / "1.duckdb", tmp_path / "2.duckdb")
    said = interrupted(place, *words)
    assert f"\nError: Left at once.\n  What is in {tmp_path / 'all.duckdb'} stays. The same command" in said
    typed(*words)
    assert rows_in(tmp_path / "all.duckdb", COUNTED) == [(240, 240)]


@pytest.mark.slow
def test_an_export_leaves_the_file_as_it_was_and_says_what_there_is_on_stdout_or_in_a_lake(
    tmp_path: Path, rows: Path
) -> None:
    import_trials(tmp_path / "t.duckdb", "rmiat", [rows])
    (out := tmp_path / "trials.csv").write_text("mine", "utf-8")
    words = ("export", "--db", tmp_path / "t.duckdb")
    said = interrupted("keep.export._write_text", *words, "--out", out, "--overwrite")
    assert said == f"\nError: Left at once.\n  {out} is unchanged: a file is replaced only once it is complete.\n"
    assert (out.read_text("utf-8"), sorted(tmp_path.glob(".*"))) == ("mine", [])
    typed(*words, "--out", out, "--overwrite")
    assert pl.read_csv(out).height == 2
    said = interrupted("keep.export._write_text", *words, "--out", "-")
    assert said.endswith("The output on stdout is incomplete.\n")
    lake = (*words, "--layout", "lake", tmp_path / "lake")
    assert f"What is in {tmp_path / 'lake'} stays. The same command adds" in interrupted("keep.lake.export_lake", *lake)
    assert "2 attempts written" in typed(*lake)


KEY = "sk-te/st+key-0123456789=="


@pytest.fixture(autouse=True)
def quiet_again() -> Iterator[None]:
    logger = logging.getLogger("slant")
    handlers, level = list(logger.handlers), logger.level
    yield
    logger.handlers[:] = handlers
    logger.setLevel(level)


class OnceOverloaded:
    """The first request fails, and the sentence about it holds the key; the others are answered."""

    def __init__(self) -> None:
        self.has_failed = False

    async def __call__(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        if self.has_failed:
            return await answers(request, body)
        self.has_failed = True
        return error(500, "overloaded", f"no room for {request.headers['Authorization']}")


def collected(folder: Path, *words: str, **variables: str) -> Result:
    with LocalServer(OnceOverloaded()) as server:
        given = ["--study", str(write_tiny(folder)), "--model", "openai/o3-mini", "--db", str(folder / "a.duckdb")]
        environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.base_url, **variables}
        return CliRunner(env=environment).invoke(cli.collect, [*given, "--yes", *words])


@pytest.mark.slow
def test_at_debug_level_every_request_is_logged_and_the_key_is_not(tmp_path: Path) -> None:
    done = collected(tmp_path, SLANT_LOG="debug")
    assert done.exit_code == 0, done.output
    assert (
        done.stderr.count("slant.collector.ask.runner: openai/o3-mini: trial ") == 10
    )  # 8 answers, a failure, a retry
    assert "is asked again after try 1: HTTP 500: no room for Bearer [key]" in done.stderr
    assert "rows loaded into" in done.stderr
    assert KEY not in done.output
    assert "sk-te" not in done.output


@pytest.mark.slow
def test_verbose_logs_what_is_retried_and_loaded_but_not_every_request(tmp_path: Path) -> None:
    done = collected(tmp_path, "--verbose")
    assert "INFO slant.collector.ask.runner: openai/o3-mini: trial" in done.stderr
    assert "DEBUG" not in done.stderr
    assert "rows loaded into" in done.stderr


@pytest.mark.slow
def test_nothing_is_logged_by_default(tmp_path: Path) -> None:
    assert "slant.collector" not in collected(tmp_path).output


def test_a_level_that_there_is_not_is_one_sentence(tmp_path: Path) -> None:
    done = CliRunner(env={"SLANT_LOG": "loud"}).invoke(cli.collect, ["status", "--db", str(tmp_path / "a.duckdb")])
    assert done.exit_code == 2
    assert done.stderr.startswith("Error: SLANT_LOG must be one of debug, info, warning, error, but is 'loud'.")
