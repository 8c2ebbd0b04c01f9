"""`analysis.doctor`: what it says of the machine as it is, without R, with an old R, without a package."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from slant.analysis import doctor
from slant.analysis.bridge.r_home import r_installation, rinterface_fits, rpy2_requirements, version_numbers

PRINT_CHECKS = (
    "from slant.analysis.doctor import checks\nfor c in checks(): print(c.name, c.status, c.how_to_fix, sep='|')"
)
needs_r = pytest.mark.needs("R")

needs_rpy2 = pytest.mark.skipif(importlib.util.find_spec("rpy2") is None, reason="rpy2 is not installed here")


def checks_in_a_process(root: Path, **environment: str) -> dict[str, tuple[str, str]]:
    """{name: (status, how to fix)} as another process sees it, with that PATH, R_HOME and R libraries."""
    given = {**environment, "PYTHONPATH": str(root / "python")}
    answer = subprocess.check_output([sys.executable, "-c", PRINT_CHECKS], env=given, text=True, stderr=subprocess.PIPE)
    rows = [line.split("|") for line in answer.splitlines()]
    return {name: (status, fix) for name, status, fix in rows}


def an_r_home(folder: Path, version: str) -> Path:
    """The parts of an R home that say its version; nothing in it can run."""
    (folder / "library" / "base").mkdir(parents=True)
    (folder / "library" / "base" / "DESCRIPTION").write_text(f"Package: base\nVersion: {version}\n")
    (folder / "bin").mkdir()
    (folder / "bin" / "Rscript").write_text("#!/bin/sh\nexit 9\n")
    (folder / "bin" / "Rscript").chmod(0o755)
    return folder


def test_without_r_it_says_how_to_install_r_and_does_not_fail(root: Path, tmp_path: Path) -> None:
    found = checks_in_a_process(root, PATH=str(tmp_path))
    assert found["R"][0] == "missing"
    assert "sudo apt-get install r-base-dev" in found["R"][1]
    assert found["rpy2-rinterface"][1] == "Install R first."
    assert not any(name.startswith("R package") for name in found)


@pytest.mark.parametrize(
    ("version", "row", "words"), [("3.6.3", "R", "Install a newer R"), ("4.2.2", "R packages", "--version")]
)
def test_an_r_that_is_older_than_4_1_or_does_not_run_is_one_row_and_no_traceback(
    root: Path, tmp_path: Path, version: str, row: str, words: str
) -> None:
    status, fix = checks_in_a_process(root, PATH=str(tmp_path), R_HOME=str(an_r_home(tmp_path / "r", version)))[row]
    assert (status, words in fix) == ("missing", True)


@needs_rpy2
def test_an_rpy2_that_does_not_fit_r_gets_the_pip_line_that_does(root: Path, tmp_path: Path) -> None:
    installed = version_numbers(importlib.metadata.version("rpy2-rinterface"))
    other = "4.5.1" if rinterface_fits(installed, (4, 2, 2)) else "4.2.2"
    home = an_r_home(tmp_path / "r", other)
    status, fix = checks_in_a_process(root, PATH=str(tmp_path), R_HOME=str(home))["rpy2-rinterface"]
    assert status == "missing"
    assert f"-m pip install '{rpy2_requirements(version_numbers(other))[0]}'" in fix


@pytest.mark.slow
@needs_r
def test_a_missing_r_package_comes_with_the_line_to_type(root: Path, tmp_path: Path) -> None:
    only_what_r_ships_with = {"R_ENVIRON": os.devnull, "R_LIBS_SITE": str(tmp_path), "R_LIBS_USER": str(tmp_path)}
    found = checks_in_a_process(root, PATH=os.environ["PATH"], **only_what_r_ships_with)
    assert found["R package lme4"][0] == "missing"
    assert found["R package stm"] == (
        "warn",
        "Without it: no topic models (analyze --fit stm; analyze topics). "
        "To have it, type: Rscript -e 'install.packages(\"stm\")'",
    )


@needs_r
def test_here_every_r_package_that_the_analysis_needs_is_found() -> None:
    missing = [check for check in doctor.checks() if check.name.startswith("R package") and check.status == "missing"]
    assert missing == []


@pytest.mark.slow
@pytest.mark.parametrize(("content", "status"), [(None, "warn"), (b"only a text file\n", "missing")])
def test_a_database_that_is_not_there_or_not_ours_is_said(tmp_path: Path, content: bytes | None, status: str) -> None:
    path = tmp_path / "mine.duckdb"
    if content is not None:
        path.write_bytes(content)
    last = doctor.checks(path)[-1]
    assert (last.name, last.status) == (f"database {path}", status)
    assert last.how_to_fix


@pytest.mark.parametrize(
    ("r", "rinterface", "fits"),
    [("4.2.2", "3.6.5", True), ("4.2.2", "3.6.6", False), ("4.5.0", "3.6.7", True), ("4.5.0", "3.6.5", False)],
)
def test_rpy2_fits_r_as_measured(r: str, rinterface: str, fits: bool) -> None:
    assert rinterface_fits(version_numbers(rinterface), version_numbers(r)) is fits


def test_what_is_asked_of_pip_fits_the_r_it_is_asked_for() -> None:
    for r in ((4, 1, 0), (4, 4, 3), (4, 5, 0), (5, 0, 0)):
        lowest = re.search(r"[\d.]+$|(?<=>=)[\d.]+", rpy2_requirements(r)[0])
        assert lowest is not None
        assert rinterface_fits(version_numbers(lowest.group()), r)


@needs_r
def test_the_compiler_that_stan_needs_is_looked_for_where_r_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = r_installation()
    assert installed is not None
    monkeypatch.setenv("R_USER_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(doctor, "compiler_of", lambda _: None)
    found = doctor._compiler(installed)
    assert (found.status, found.found) == ("warn", "none")
    (tmp_path / "R" / "slant").mkdir(parents=True)
    (tmp_path / "R" / "slant" / "stan-1-2.rds").touch()
    assert doctor._compiler(installed).status == "ok"
    script = 'cat(tools::R_user_dir("slant", "cache"))'
    said = subprocess.run([installed.rscript, "-e", script], capture_output=True, text=True, check=True).stdout
    assert Path(said) == tmp_path / "R" / "slant"
