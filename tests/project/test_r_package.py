"""The checkout as an R package: it installs, its check is clean, and every analysis is documented with an example."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from slant.analysis.bridge.r_home import r_installation
from tests.support.tracked import tracked_copy


@pytest.fixture(scope="module")
def r_program() -> str:
    found = r_installation()
    if found is None:
        pytest.skip("R is not here")
    return str(Path(found.rscript).with_name("R"))


def run(command: list[str], cwd: Path, **more: str) -> str:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **more}, capture_output=True, text=True, check=False, timeout=1800
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def help_pages(root: Path) -> dict[str, str]:
    pages = (file.read_text("utf-8") for file in (root / "man").glob("*.Rd"))
    return {name: page for page in pages for name in re.findall(r"^\\alias\{(.+)\}$", page, re.M)}


def exported(root: Path) -> list[str]:
    return re.findall(r"^export\((.+)\)$", (root / "NAMESPACE").read_text("utf-8"), re.M)


def test_every_exported_function_has_a_help_page_and_an_example_that_is_run(root: Path) -> None:
    pages = help_pages(root)
    for name in exported(root):
        assert {r"\value", r"\examples", r"\title"} <= set(re.findall(r"^\\\w+", pages[name], re.M)), name
        assert not re.search(r"\\(dontrun|donttest)", pages[name]), f"the example of {name} is not run"


def test_every_package_that_the_code_calls_is_named_in_description(root: Path) -> None:
    code = "\n".join(file.read_text("utf-8") for file in (root / "R").glob("*.R"))
    called = set(re.findall(r"\b([A-Za-z][A-Za-z0-9.]*):::?", re.sub(r"^ *#.*$", "", code, flags=re.M)))
    fields = re.findall(r"^(?:Imports|Suggests):\n((?: .*\n)*)", (root / "DESCRIPTION").read_text("utf-8"), re.M)
    named = set(re.findall(r"[\w.]+", re.sub(r"\(.*?\)", "", "".join(fields))))
    assert called - {"base"} <= named


def test_r_code_is_ascii_but_for_its_comments(root: Path) -> None:
    """R CMD check warns of other characters, and a locale without them would read others."""
    lines = ((file.name, line) for file in (root / "R").glob("*.R") for line in file.read_text("utf-8").splitlines())
    assert [f"{name}: {line}" for name, line in lines if not line.isascii() and not line.lstrip().startswith("#")] == []


def test_the_first_help_page_lists_every_exported_function(root: Path) -> None:
    listed = set(re.findall(r"\\link\[=(\w+)\]", (root / "man" / "slant-package.Rd").read_text("utf-8")))
    assert listed == set(exported(root))


def test_the_checkout_installs_into_a_library_and_its_functions_are_found(
    root: Path, tmp_path: Path, r_program: str
) -> None:
    (tmp_path / "library").mkdir()
    quick = ["--no-docs", "--no-byte-compile", "--no-test-load", f"--library={tmp_path / 'library'}"]
    run([r_program, "CMD", "INSTALL", *quick, str(tracked_copy(root, tmp_path / "copy"))], tmp_path)
    code = "library(slant); cat(getNamespaceExports('slant'), class(effect_size(simulate_trials())$estimates))"
    found = run([f"{r_program}script", "-e", code], tmp_path, R_LIBS=str(tmp_path / "library")).split()
    assert sorted(found) == sorted([*exported(root), "data.frame"])


@pytest.mark.slow
def test_the_check_of_the_package_ends_without_an_error_a_warning_or_an_unexplained_note(
    root: Path, tmp_path: Path, r_program: str
) -> None:
    run([r_program, "CMD", "build", str(tracked_copy(root, tmp_path / "slant"))], tmp_path)
    (built,) = tmp_path.glob("slant_*.tar.gz")
    run([r_program, "CMD", "check", "--no-manual", built.name], tmp_path, _R_CHECK_FORCE_SUGGESTS_="false")
    log = (tmp_path / "slant.Rcheck" / "00check.log").read_text("utf-8")
    assert "creating vignettes" in log or "re-building of vignette outputs ... OK" in log
    assert re.search(r"^Status: OK$", log, re.M), log
