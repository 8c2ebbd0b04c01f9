"""Set-up: what it writes down agrees with what is here, it is quick the second time, and it says what it can't do."""

from __future__ import annotations

import csv
import importlib
import json
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from slant.analysis.bridge.r_home import r_installation

# Two packages, of which one stops when it is loaded but not when it is installed.
REPOSITORY = """
for (name in c("sound", "unsound")) {
  dir.create(name)
  about <- c(Package = name, Version = "1.0", Title = "A", Description = "B.", License = "GPL-3", Author = "C",
    Maintainer = "C <c@example.org>", StagedInstall = "no")
  write.dcf(t(about), file.path(name, "DESCRIPTION"))
  writeLines("", file.path(name, "NAMESPACE"))
  dir.create(file.path(name, "R"))
}
writeLines('.onLoad <- function(...) if (!nzchar(Sys.getenv("R_INSTALL_PKG"))) stop("no")', "unsound/R/a.R")
for (name in c("sound", "unsound")) system2("R", c("CMD", "build", "--no-build-vignettes", name))
file.copy(Sys.glob("*.tar.gz"), commandArgs(TRUE)[[1]])
tools::write_PACKAGES(commandArgs(TRUE)[[1]], type = "source")
"""
WRITTEN = ("Makefile", ".ci/run", "constraints.txt", "renv.lock", "pyproject.toml", "analysis/r_packages.csv")


def test_nothing_that_sets_up_names_a_place_on_the_network(root: Path) -> None:
    files = [root / name for name in WRITTEN] + sorted(path for path in (root / "tools").iterdir() if path.is_file())
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
    assert named - {"stats", "utils", "methods", "grDevices", "graphics", "grid", "parallel", "tools", ""} <= set_up


@pytest.mark.needs("renv", "stm", "duckdb", "nanoparquet", "effsize", "DBI", "jsonlite")
def test_renv_lock_agrees_with_what_is_installed(root: Path) -> None:
    """It names all that set-up installs and what that needs, made in a root where nothing else is (`make lock`)."""
    r = r_installation()
    kept = json.loads((root / "renv.lock").read_text())
    if r is None or r.version_text.split(".")[:2] != kept["R"]["Version"].split(".")[:2]:
        pytest.skip(f"renv.lock was made with R {kept['R']['Version']}, here is {r.version_text if r else 'no R'}")
    answer = subprocess.run(
        [str(r.rscript), "tests/support/installed_closure.R"], cwd=root, check=True, capture_output=True, text=True
    )
    here = dict(line.split() for line in answer.stdout.splitlines())
    assert here == {name: package["Version"] for name, package in kept["Packages"].items()}


def test_set_up_takes_less_than_a_third_of_a_second_once_it_is_done(root: Path) -> None:
    if not (root / ".setup-done").exists():
        pytest.skip("set-up was not done in this checkout")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "tools/setup.py"], cwd=root, check=True, timeout=300)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Of the processor: how long it waits for others that use the machine says nothing.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.3


@pytest.fixture
def bare(root: Path, tmp_path: Path) -> Path:
    """A checkout's files of set-up, and a folder bin with nothing of this machine but what runs scripts."""
    for name in ("pyproject.toml", "constraints.txt", "analysis/bridge/r_home.py", "analysis/r_packages.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, tmp_path / name)
    shutil.copytree(root / "tools", tmp_path / "tools")
    (tmp_path / "bin").mkdir()
    for tool in ("sh", "cat"):
        (tmp_path / "bin" / tool).symlink_to(str(shutil.which(tool)))
    return tmp_path


def set_up(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "tools/setup.py"]
    variables = {"PATH": str(folder / "bin"), **environment}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=variables, timeout=60)


def program(folder: Path, name: str, lines: str) -> None:
    (folder / "bin" / name).write_text(f"#!/bin/sh\n{lines}\n")
    (folder / "bin" / name).chmod(0o755)


def test_without_apt_get_and_r_set_up_says_what_to_install(bare: Path) -> None:
    answer = set_up(bare)
    assert answer.returncode == 1
    assert "slant needs R 4.1 or newer, but no R was found.\n" in answer.stderr
    assert "brew install r" in answer.stderr
    assert not (bare / ".setup-done").exists()


def test_a_python_that_is_not_there_or_too_old_is_named(bare: Path) -> None:
    assert "PYTHON names python9, which is not there." in set_up(bare, PYTHON="python9").stderr
    program(bare, "python3.10", "exit 1")
    assert "PYTHON names python3.10, which is older." in set_up(bare, PYTHON="python3.10").stderr


def test_a_folder_of_packages_that_is_not_there_is_said_before_anything_is_installed(bare: Path) -> None:
    assert 'but there is no folder "nowhere"' in set_up(bare, SLANT_CRAN="nowhere").stderr


@pytest.mark.parametrize(
    "named",
    ["http://", "ftp://h/x", "https://h:0/", "https://h:x/", "javascript://x", "http://a b/", "file://", "x\n://y",
     "http://h/'); quit(); ('", "\x1b]0;x\x07", "/dev/null", "x" * 9_000, "-e quit()", "~/nowhere"],
)  # fmt: skip
def test_what_can_be_no_repository_is_said_before_anything_is_installed(named: str, bare: Path) -> None:
    answer = set_up(bare, SLANT_CRAN=named)
    assert (answer.returncode, answer.stderr.count("\n")) == (1, 1)
    assert answer.stderr.startswith("Error: SLANT_CRAN ")
    assert "\x1b" not in answer.stderr
    assert not (bare / ".setup-done").exists()


def test_a_password_in_the_address_of_packages_is_not_kept(tool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLANT_CRAN", "https://me:secret@packages.example.org:8443/cran")
    assert tool.repository_named() == "https://packages.example.org:8443/cran"
    monkeypatch.setenv("SLANT_CRAN", " ")
    assert tool.repository_named() == "CRAN"


def test_a_password_is_never_asked_for_the_line_to_type_is_said(bare: Path) -> None:
    program(bare, "sudo", '[ "$1" = -n ] && exit 1; cat /dev/tty')
    program(bare, "apt-get", "exit 9")
    program(bare, "apt-cache", "echo r-base-core")
    program(bare, "dpkg-query", "exit 0")
    nobody = "import debian, os; os.geteuid = lambda: 1000; debian.install_debian_packages(None)"
    environment = {"PATH": str(bare / "bin"), "PYTHONPATH": str(bare / "tools")}
    answer = subprocess.run([sys.executable, "-c", nobody], env=environment, capture_output=True, text=True, timeout=20)
    assert answer.returncode == 1
    line = "Type, or ask for: sudo apt-get install --no-install-recommends r-base-core"
    assert f"this needs root.\n  {line}" in answer.stderr


@pytest.fixture
def tool(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """tools/r_packages.py, which set-up imports from its own folder."""
    for folder in ("analysis", "tools"):
        monkeypatch.syspath_prepend(str(root / folder))
    monkeypatch.delenv("SLANT_COMPILE", raising=False)
    monkeypatch.delenv("SLANT_CRAN", raising=False)
    return importlib.import_module("r_packages")


def test_what_was_tried_in_vain_is_tried_again_only_in_another_repository(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    renv, duckdb = ({"package": name, "compiles": long} for name, long in (("renv", ""), ("duckdb", "half an hour")))
    assert tool.worth_trying(renv, {}, "source")
    assert not tool.worth_trying(renv, {"renv": ["CRAN"]}, "source")
    assert not tool.worth_trying(duckdb, {}, "source")
    monkeypatch.setenv("SLANT_CRAN", str(tmp_path))
    assert tool.worth_trying(renv, {"renv": ["CRAN"]}, "binary")
    assert tool.worth_trying(duckdb, {"duckdb": ["CRAN"]}, "binary")
    monkeypatch.setenv("SLANT_COMPILE", "yes")
    assert tool.worth_trying(duckdb, {"duckdb": [str(tmp_path)]}, "source")


def test_what_is_missing_is_a_line_with_its_cost_and_how_to_get_it(
    tool: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row for row in tool.wanted_rows() if row["package"] in ("stm", "renv")]
    tool.say_what_is_missing(rows, "source")
    stm, renv, again = capsys.readouterr().err.splitlines()
    costs = "no topic models (analyze --fit stm; analyze topics)"
    assert stm == f"setup: without R's stm: {costs}. To have it: SLANT_COMPILE=yes make setup (five minutes)"
    assert renv.endswith('To have it: install.packages("renv") in R')
    assert "rm .setup-done" in again


def test_only_packages_for_the_analysis_end_set_up(tool: ModuleType, tmp_path: Path) -> None:
    (log := tmp_path / "log").write_text("")
    rows = {row["package"]: row for row in tool.wanted_rows()}
    tool.end_without_the_needed([row for row in rows.values() if row["needed_for"] != "analysis"], log)
    with pytest.raises(SystemExit):
        tool.end_without_the_needed([rows["lme4"]], log)


@pytest.mark.needs("R")
def test_a_profile_of_the_user_s_decides_nothing_in_set_up(
    root: Path, tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(root / "analysis" / "bridge"))
    r = r_installation()
    before = tool.lacking_rows(r)
    (profile := tmp_path / ".Rprofile").write_text('cat("hello\\n"); quit(status = 3)')
    monkeypatch.setenv("R_PROFILE_USER", str(profile))
    monkeypatch.setenv("SLANT_CRAN", str(tmp_path))
    assert (tool.lacking_rows(r), tool.repository_kind(r, tmp_path / "log")) == (before, "")


@pytest.mark.slow
@pytest.mark.needs("R")
def test_a_repository_that_never_answers_costs_seconds(root: Path, tool: ModuleType, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        begun = time.monotonic()
        kind = asked_for_kind(root, SLANT_CRAN=address)
    assert (kind, time.monotonic() - begun < 30) == ("", True)
    (tmp_path / "src" / "contrib").mkdir(parents=True)
    (tmp_path / "src" / "contrib" / "PACKAGES.gz").touch()
    assert asked_for_kind(root, SLANT_CRAN=str(tmp_path)) == "binary"


def asked_for_kind(root: Path, **environment: str) -> str:
    command = ["Rscript", "tools/install_r_packages.R", "--kind"]
    variables = {**os.environ, **environment}
    return subprocess.run(command, cwd=root, env=variables, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
@pytest.mark.needs("R")
def test_a_package_that_can_not_be_loaded_is_taken_away_again(root: Path, tmp_path: Path) -> None:
    contrib, library = tmp_path / "cran" / "src" / "contrib", tmp_path / "library"
    contrib.mkdir(parents=True)
    library.mkdir()
    script = tmp_path / "make.R"
    script.write_text(REPOSITORY)
    subprocess.run(["Rscript", script, contrib], cwd=tmp_path, check=True, capture_output=True)
    environment = {**os.environ, "SLANT_CRAN": str(tmp_path / "cran"), "R_LIBS": str(library)}
    command = ["Rscript", "tools/install_r_packages.R", "sound", "unsound"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in library.iterdir()] == ["sound"]
    assert "Taken away again" in done.stderr


@pytest.mark.parametrize("has_folder", [True, False])
def test_ci_names_the_repository_calls_make_test_and_ends_with_the_counts_of_both_parts(
    root: Path, tmp_path: Path, has_folder: bool
) -> None:
    main = tmp_path / "main"
    shutil.copytree(root / ".ci", main / ".ci")
    shutil.copytree(root / "tools", main / "tools")
    (main / "Makefile").write_text(
        'test:\n\t@echo "[$(SLANT_CRAN)]"; mkdir .ledger; echo 5 1 2 > .ledger/counts; exit 1\n'
    )
    (main / ".venv" / "bin").mkdir(parents=True)
    (main / ".venv" / "bin" / "python").symlink_to(sys.executable)
    if has_folder:
        (tmp_path / "shared" / "cran").mkdir(parents=True)
    environment = {name: os.environ[name] for name in os.environ if not name.startswith(("SLANT", "MAKE", "MFLAGS"))}
    answer = subprocess.run([main / ".ci/run"], env=environment, capture_output=True, text=True, check=False)
    first, *_, last = answer.stdout.splitlines()
    assert first == (f"[{tmp_path}/shared/cran]" if has_folder else "[]")
    assert (last, answer.returncode) == ("5 passed, 1 failed, 2 skipped", 2)


def test_make_has_the_targets_that_people_are_told_of(root: Path) -> None:
    targets = re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.MULTILINE)
    assert {"setup", "demo", "test", "test-full", "check", "docs", "docs-site", "dist", "lock"} <= set(targets)
