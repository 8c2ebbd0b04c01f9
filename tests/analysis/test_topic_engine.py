"""All texts of the authors: slant's way of preparing and fitting topics gives what tm and stm give, and the paper's
numbers as far as its texts are here. Smaller cases are in tests/testthat/."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from slant.analysis.bridge.r_home import r_installation


@pytest.mark.needs("stm")
@pytest.mark.slow
def test_all_texts_are_prepared_and_fitted_as_published(root: Path, shared: Path, tmp_path: Path) -> None:
    installed = r_installation()
    assert installed is not None
    command = [str(installed.rscript), "bench/topics.R", str(shared / "data" / "rmiat"), str(tmp_path / "some.rds")]
    answer = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    found = json.loads(answer.stdout.splitlines()[-1])
    assert found["prepared_alike"]
    assert (found["n_texts"], found["n_documents"], found["n_words"]) == (31_989, 31_781, 246)
    assert found["engine"] == "fast"
    assert found["fitted_alike"]
    assert [round(100 * share, 2) for share in found["proportions"]] == [28.93, 18.68, 11.38, 41.01]
