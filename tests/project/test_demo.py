"""`make demo`: what a person sees in the first five minutes, run as it is typed, in a copy of the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest


@pytest.mark.slow
@pytest.mark.needs("R")
def test_the_demo_collects_fits_and_reports_on_one_screen_and_says_that_it_is_simulated(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "tools").mkdir()
    for name in ("demo.py", "steps.py"):
        shutil.copy(root / "tools" / name, tmp_path / "tools")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "tools/demo.py"],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    lines = (done.stdout + done.stderr).splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 100
    assert "  64,600 asked, 58,615 answered, 5,985 refused, 0 failed" in lines
    assert [line.split()[1] for line in lines if line.startswith("flowers_insects")] == ["1.03"]
    report = tmp_path / re.findall(r"^Open the report in a browser: (.*)$", done.stderr, re.MULTILINE)[0]
    assert "simulated</strong> data. No model was asked." in report.read_text("utf-8")
    assert len(list((tmp_path / "demo" / "figures").glob("*.png"))) == 5
    with duckdb.connect(str(tmp_path / "demo" / "demo.duckdb"), read_only=True) as connection:
        counted = connection.execute("SELECT model, count(*) FROM trials GROUP BY ALL").fetchall()
        fits = connection.execute("SELECT count(*) FROM fits WHERE engine = 'lme4' AND refusals_removed").fetchall()
    assert [count for _, count in counted] == [12_920] * 5
    assert fits == [(50,)]


def test_a_demo_that_can_not_go_on_says_which_command_ended_and_what_to_type(root: Path, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    for name in ("demo.py", "steps.py"):
        shutil.copy(root / "tools" / name, tmp_path / "tools")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "collect").write_text("#!/bin/sh\necho 'Error: no disk.' >&2\nexit 1\n")
    (tmp_path / "bin" / "collect").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    command = [sys.executable, "tools/demo.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "Error: no disk.\nError: The demo can't go on: this command ended with status 1 (above)." in done.stderr
    assert "analyze doctor" in done.stderr
