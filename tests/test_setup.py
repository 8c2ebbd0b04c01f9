"""Set-up: what it writes down agrees with what is here, it is quick the second time, and it says what it can't do."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from slant.analysis.r_home import r_installation

WRITTEN = ("Makefile", ".ci/run", "constraints.txt", "renv.lock", "pyproject.toml", "analysis/r_packages.csv")


def test_nothing_that_sets_up_names_a_place_on_the_network(root: Path) -> None:
    files = [root / name for name in WRITTEN] + sorted((root / "tools").iterdir())
    addresses = re.compile(r"(?<!file:)(?<!\+)://\w")
    assert [file.name for file in files if addresses.search(file.read_text(encoding="utf-8"))] == []


def test_every_python_dependency_has_its_tested_version(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
    names = {re.split(r"[<>=\[ ]", line)[0].lower() for line in wanted}
    pinned = re.findall(r"^([\w.-]+)==[\w.]+$", (root / "constraints.txt").read_text(), re.MULTILINE)
    assert names <= {name.lower() for name in pinned}
    assert not [name for name in pinned if name.startswith("rpy2")]  # chosen by the R that is found


def test_every_r_package_that_description_names_is_set_up(root: Path) -> None:
    fields = re.findall(r"^(?:Imports|Suggests):((?:.|\n )*)", (root / "DESCRIPTION").read_text(), re.MULTILINE)
    named = {re.split(r"[ (]", part.strip())[0] for field in fields for part in field.split(",")}
    with (root / "analysis" / "r_packages.csv").open(newline="") as file:
        set_up = {row["package"] for row in csv.DictReader(file)}
    assert named - {"stats", "utils", "methods", "grDevices", "graphics", "parallel", "tools", ""} <= set_up


@pytest.mark.needs("renv", "stm", "duckdb", "nanoparquet", "effsize", "DBI", "jsonlite")
def test_renv_lock_agrees_with_what_is_installed(root: Path, tmp_path: Path) -> None:
    """It names all that set-up installs and what that needs, made in a root where nothing else is (`make lock`)."""
    r = r_installation()
    kept = json.loads((root / "renv.lock").read_text())
    if r is None or r.version_text.split(".")[:2] != kept["R"]["Version"].split(".")[:2]:
        pytest.skip(f"renv.lock was made with R {kept['R']['Version']}, here is {r.version_text if r else 'no R'}")
    script = [str(r.rscript), "tools/renv_lock.R", str(tmp_path / "renv.lock")]
    subprocess.run(script, cwd=root, check=True, capture_output=True)
    here = json.loads((tmp_path / "renv.lock").read_text())
    versions = [{name: package["Version"] for name, package in lock["Packages"].items()} for lock in (kept, here)]
    assert versions[0] == versions[1]


def test_set_up_takes_less_than_a_second_once_it_is_done(root: Path) -> None:
    if not (root / ".setup-done").exists():
        pytest.skip("set-up was not done in this checkout")
    begun = time.monotonic()
    subprocess.run(["tools/setup.sh"], cwd=root, check=True, timeout=300)
    assert time.monotonic() - begun < 1


def test_without_apt_get_and_r_set_up_says_what_to_install(root: Path, tmp_path: Path) -> None:
    for name in ("pyproject.toml", "constraints.txt", "analysis/r_home.py", "analysis/r_packages.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(root / name, tmp_path / name)
    shutil.copytree(root / "tools", tmp_path / "tools")
    (tmp_path / "bin").mkdir()
    for tool in ("bash", "dirname", "cat", "sha256sum", "head", "env", "awk", "readlink"):
        (tmp_path / "bin" / tool).symlink_to(str(shutil.which(tool)))
    answer = subprocess.run(
        ["bash", "tools/setup.sh"], cwd=tmp_path, capture_output=True, text=True,
        env={"PATH": str(tmp_path / "bin"), "PYTHON": sys.executable},
    )  # fmt: skip
    assert answer.returncode == 1
    assert "slant needs R 4.1 or newer, but no R was found.\n" in answer.stderr
    assert "brew install r" in answer.stderr
    assert not (tmp_path / ".setup-done").exists()


@pytest.mark.parametrize("has_folder", [True, False])
def test_ci_only_names_the_repository_and_calls_make_test(root: Path, tmp_path: Path, has_folder: bool) -> None:
    (tmp_path / "main" / ".ci").mkdir(parents=True)
    shutil.copy(root / ".ci" / "run", tmp_path / "main" / ".ci" / "run")
    (tmp_path / "main" / "Makefile").write_text('test:\n\t@echo "[$(SLANT_CRAN)]"\n')
    if has_folder:
        (tmp_path / "shared" / "cran").mkdir(parents=True)
    environment = {name: os.environ[name] for name in os.environ if not name.startswith(("SLANT", "MAKE", "MFLAGS"))}
    answer = subprocess.run([tmp_path / "main/.ci/run"], env=environment, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == (f"[{tmp_path}/shared/cran]" if has_folder else "[]")


def test_make_has_the_targets_that_people_are_told_of(root: Path) -> None:
    targets = re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.MULTILINE)
    assert {"setup", "demo", "test", "test-full", "check", "docs", "lock"} <= set(targets)
