"""The wheel carries SQL, R and the studies, and works from anywhere without a checkout and without rpy2."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built with the hatchling that is here: no network."""
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed here, and a test does not fetch it")
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(root)], check=True)
    return next(folder.glob("slant-*.whl"))


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def run_there(unpacked: Path, cwd: Path, code: str) -> list[str]:
    """What `code` prints where only the wheel's files are on the path and rpy2 can't be imported."""
    answer = subprocess.run(
        [sys.executable, "-c", "import sys; sys.modules['rpy2'] = None\n" + code],
        cwd=cwd, env={"PYTHONPATH": str(unpacked), "PATH": ""}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return answer.stdout.split()


@pytest.mark.parametrize(("folder", "pattern"), [
    ("sql", "migrations/*.sql"), ("sql", "views/*/*.sql"), ("R", "*.R"), ("inst/native", "*"),
    ("collector", "studies/*.toml"), ("collector", "studies/**/*.csv"), ("analysis", "*.csv"),
])  # fmt: skip
def test_the_wheel_has_every_file_that_is_no_python(root: Path, unpacked: Path, folder: str, pattern: str) -> None:
    place = Path("slant", Path(folder).name)
    wanted = {str(file.relative_to(root / folder)) for file in (root / folder).glob(pattern)}
    assert wanted
    assert wanted <= {str(file.relative_to(unpacked / place)) for file in (unpacked / place).glob(pattern)}


def test_the_wheel_has_no_tests_no_tools_and_the_licence(unpacked: Path) -> None:
    assert {path.name.split("-")[0] for path in unpacked.iterdir()} == {"slant"}
    assert list(unpacked.glob("slant-*.dist-info/licenses/LICENSE.md"))


def test_the_wheel_finds_its_own_sql_studies_and_r(unpacked: Path, tmp_path: Path) -> None:
    code = "from slant.collector.files import sql_dir, studies_dir; from slant.analysis.r import r_folder\n"
    found = run_there(unpacked, tmp_path, code + "print(sql_dir(), studies_dir(), r_folder())")
    parts = ("slant/sql", "slant/collector/studies", "slant/R")
    assert found == [str(unpacked / part) for part in parts]


def test_the_wheel_makes_a_database_with_views_and_reads_a_study(unpacked: Path, tmp_path: Path) -> None:
    code = "from slant.collector.store import writing; from slant.collector.study import load_study\n"
    code += "with writing('new.duckdb'): pass\n"
    code += "from slant import analysis; print(load_study('rmiat').name, len(analysis.open_trials('new.duckdb')))"
    assert run_there(unpacked, tmp_path, code) == ["rmiat", "0"]


def test_the_wheel_brings_the_three_commands(unpacked: Path) -> None:
    entry_points = next(unpacked.glob("slant-*.dist-info/entry_points.txt")).read_text()
    assert re.findall(r"^(\w+) = ", entry_points, re.MULTILINE) == ["analyze", "collect", "slant"]
