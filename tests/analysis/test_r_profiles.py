"""Profiles, .Renviron files and workspaces of somebody's: none of them changes what slant computes or prints."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MASKS = "var <- sd <- function(...) 1; mean <- function(x, ...) 42; qt <- qnorm <- function(...) 100\n"
ANSWER = (
    "from slant.analysis.bridge import r; print('d', r.call('cohens_d', [1.0, 2, 3, 5], [2.0, 4, 5, 9])[0].write_csv())"
)
pytestmark = [pytest.mark.slow, pytest.mark.needs("R")]


def _answer(run_script, folder: Path, **environment: str) -> tuple[str, str]:
    return run_script(ANSWER, folder, environment)


@pytest.fixture
def run_script():
    def run(code: str, folder: Path, environment: dict[str, str]) -> tuple[str, str]:
        import sys

        done = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True,
            env={**os.environ, **environment},
        )  # fmt: skip
        return done.stdout, done.stderr

    return run


@pytest.mark.parametrize("where", [".Rprofile", "named", "site", "home", ".Renviron"])
def test_no_profile_changes_a_number_or_prints_among_the_rows(run_script, tmp_path, where):
    expected, _ = _answer(run_script, Path("/"))
    profile = tmp_path / (".Rprofile" if where in (".Rprofile", "home") else "profile.R")
    profile.write_text(f"cat('Welcome\\n'); file.create('{tmp_path}/ran'); {MASKS}")
    (work := tmp_path / "work").mkdir()
    environment = {"named": {"R_PROFILE_USER": str(profile)}, "site": {"R_PROFILE": str(profile)}}.get(where, {})
    if where == "home":
        environment = {"HOME": str(tmp_path)}
    if where == ".Renviron":
        (work / ".Renviron").write_text(f"R_PROFILE={profile}\nR_PROFILE_USER={profile}\n")
    found, _ = _answer(run_script, tmp_path if where == ".Rprofile" else work, **environment)
    assert found == expected
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("how", ["R_LIBS", "R_LIBS_USER", ".Renviron", ".Rprofile"])
def test_a_library_of_the_users_is_kept(run_script, tmp_path, how):
    (library := tmp_path / "library of mine").mkdir()
    environment = {"HOME": str(tmp_path)}
    if how.startswith("R_"):
        environment[how] = str(library)
    elif how == ".Renviron":
        (tmp_path / how).write_text(f"R_LIBS_USER={library}\n")
    else:
        (tmp_path / how).write_text(f".libPaths('{library}')\nsd <- function(...) 1\ncat('Welcome')\n")
    code = "from slant.analysis.bridge import r; r.start(); print(list(r._session['ri'].baseenv['.libPaths']()))"
    assert str(library) in run_script(code, Path("/"), environment)[0]


def test_what_a_process_of_r_says_is_not_among_the_rows(run_script):
    code = "import slant.analysis.bridge.worker_seed, os; os.system('echo from a child'); print('from Python')"
    out, err = run_script(code, ROOT, {})
    assert out == ""
    assert "from a child" in err


@pytest.mark.parametrize("before", [True, False])
def test_sourced_functions_find_nothing_of_a_workspace(tmp_path, before):
    source = f"for (file in list.files('{ROOT / 'R'}', full.names = TRUE)) source(file)\n"
    shown = "print(cohens_d(c(1, 2, 3, 5), c(2, 4, 5, 9)), digits = 15)\n"
    masks = MASKS + "t_test <- contrast_levels <- stop_with <- function(...) 7\n"
    scripts = [source + shown, masks + source + shown if before else source + masks + shown]
    outs = []
    for text in scripts:
        (tmp_path / "script.R").write_text(text)
        command = ["Rscript", "--no-init-file", str(tmp_path / "script.R")]
        outs.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert outs[0] == outs[1] != ""
