"""The oldest DuckDB that is supported opens the file of today, selects from every view and takes turns at it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from slant.collector import collect
from slant.collector.keep.definitions import STORAGE_VERSION
from slant.collector.keep.view_heads import read_view_heads
from tests.support.fitted import small_database
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

# The last of the line that the files are written for; older lines can't open them.
OLDEST = "1.2.2"


@pytest.fixture(scope="module")
def old_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A second environment with that DuckDB; the one place where a test asks a package index."""
    place = tmp_path_factory.mktemp("old") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    pip = [str(place / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    done = subprocess.run([*pip, f"duckdb=={OLDEST}"], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"pip can't fetch duckdb {OLDEST} here: {(done.stderr.splitlines() or ['it says nothing'])[-1]}")
    return str(place / "bin" / "python")


def test_files_are_written_for_the_oldest_line() -> None:
    assert STORAGE_VERSION.lstrip("v").split(".")[:2] == OLDEST.split(".")[:2]


@pytest.mark.slow
def test_the_oldest_duckdb_selects_from_every_view(root: Path, tmp_path: Path, old_python: str) -> None:
    db = small_database(tmp_path / "a.duckdb")
    script = [old_python, str(root / "tests" / "support" / "open_all_views.py"), str(db)]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    version, *lines = done.stdout.splitlines()
    assert (version, duckdb.__version__ != version) == (OLDEST, True)
    found = dict(line.split(" ") for line in lines)
    shipped = set(read_view_heads())
    assert set(found) == shipped
    with duckdb.connect(str(db), read_only=True) as connection:
        here = {view: str(len(connection.view(view).fetchall())) for view in shipped}
    assert found == here
    assert int(found["tokens_by_condition"]) > 0


_WRITES_AND_DIES = """
import duckdb, os, sys
connection = duckdb.connect(sys.argv[1])
connection.execute("SET wal_autocheckpoint = '1GB'")
connection.execute("UPDATE runs SET command = 'typed elsewhere'")
os._exit(9)
"""
_COUNTS = """
import duckdb, sys
print(duckdb.connect(sys.argv[1]).execute("SELECT count(*) FROM trials").fetchall()[0][0])
"""


@pytest.mark.slow
def test_two_duckdbs_take_turns_at_one_file_and_lose_nothing(tmp_path: Path, old_python: str) -> None:
    study, db = write_tiny(tmp_path), tmp_path / "a.duckdb"
    collect(db, study, simulated=True)
    assert subprocess.run([old_python, "-c", _WRITES_AND_DIES, str(db)], check=False).returncode == 9
    assert db.with_name("a.duckdb.wal").exists()
    collect(db, study, simulated=True, repetitions=2)
    assert rows_in(db, "SELECT count(*) FILTER (command = 'typed elsewhere') FROM runs") == [(1,)]
    done = subprocess.run([old_python, "-c", _COUNTS, str(db)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "16"
