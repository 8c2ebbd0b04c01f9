"""The README's code in R and in Python, on the answers that its first commands collect."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.readers_folder import README, blocks_of, check_lines, folder_with_rmiat, typed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_with_rmiat(tmp_path_factory.mktemp("readme"))


@pytest.mark.needs("DBI", "duckdb")
def test_the_r_code_prints_what_the_readme_shows(folder: Path) -> None:
    (code,) = blocks_of(README, "r")
    assert code.startswith("library(slant)\n")
    attached = 'for (file in list.files("R", full.names = TRUE)) source(file)\n'
    (folder / "readme.R").write_text(code.replace("library(slant)\n", attached), "utf-8")
    (shown,) = blocks_of(README, "")
    check_lines(shown.splitlines(), typed("Rscript readme.R", folder), "the R code")


def test_the_python_code_runs(folder: Path) -> None:
    (code,) = blocks_of(README, "python")
    (folder / "readme.py").write_text(f"if __name__ == '__main__':\n{re.sub('^', '    ', code, flags=re.M)}", "utf-8")
    typed("python readme.py", folder)
    assert (folder / "fits.rds").stat().st_size > 1000
