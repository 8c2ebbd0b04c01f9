"""The page's example of Slurm, as typed, on a Slurm of one node on this machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.slurm import slurm, slurm_root
from tests.support.stored import rows_in
from tests.support.typed_pages import blocks

pytestmark = [pytest.mark.slow, pytest.mark.needs("dask"), pytest.mark.needs("R")]


def test_the_example_of_slurm_runs_as_typed(root: Path, tmp_path: Path) -> None:
    if (programs := slurm_root()) is None:
        pytest.skip("no Slurm (Debian: slurmctld slurmd slurm-client; or SLANT_SLURM, see tests/support/slurm.py)")
    if find_spec("dask_jobqueue") is None:
        pytest.skip("no dask-jobqueue (pip install dask-jobqueue)")
    page = (root / "vignettes" / "cluster.Rmd").read_text("utf-8")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "slant").symlink_to(root)  # where the page's job script looks for it
    (tmp_path / "slurm.py").write_text(blocks(page, "python")[1])
    with slurm(programs, tmp_path / "slurm", "short") as environment:
        environment["HOME"] = str(tmp_path / "home")
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
        environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
        make = "collect --study rmiat --simulated --pilot 50 --db many.duckdb"
        subprocess.run(make, shell=True, cwd=tmp_path, env=environment, check=True, capture_output=True)
        run = [sys.executable, "slurm.py"]
        shown = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert re.search(r"\d+ fits, .*'ok'", shown.stdout)
    failed = rows_in(tmp_path / "many.duckdb", "SELECT DISTINCT messages FROM calls WHERE status = 'failed'")
    assert not any("executor" in messages for (messages,) in failed)
