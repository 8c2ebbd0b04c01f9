"""`make demo`: what a person sees in the first five minutes, run as it is typed, in a copy of the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import duckdb
import pytest


@pytest.mark.slow
def test_the_demo_collects_fits_and_reports_and_says_that_it_is_simulated(
    root: Path, tmp_path: Path, python: list[str]
) -> None:
    (tmp_path / "tools").mkdir()
    shutil.copy(root / "tools" / "demo.sh", tmp_path / "tools")
    path = f"{Path(python[0]).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["tools/demo.sh"], cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    report = Path(re.findall(r"^The report: (.*)$", done.stderr, re.MULTILINE)[0])
    assert "simulated</strong> data. No model was asked." in report.read_text("utf-8")
    with duckdb.connect(str(tmp_path / "demo" / "demo.duckdb"), read_only=True) as connection:
        counted = connection.execute("SELECT model, count(*) FROM trials GROUP BY ALL").fetchall()
        fits = connection.execute("SELECT count(*) FROM fits WHERE engine = 'lme4'").fetchall()
    assert [count for _, count in counted] == [12_920] * 5
    assert fits == [(50,)]
