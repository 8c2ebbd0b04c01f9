"""Every argument of every exported R function, given wrong: a sentence of ours, and nothing written.

r_mistakes.R walks over the exports; the sentences stand in r_mistakes.txt, which `SLANT_NEW_MISTAKES=1 pytest
tests/project/test_r_mistakes.py` writes anew.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.sentences import by_sentence

SENTENCES = Path(__file__).with_name("r_mistakes.txt")
NO_SENTENCES = ("FROM INSIDE", "NOTHING")  # R's own words from deep inside; no error at all


@pytest.mark.slow
@pytest.mark.needs("lme4", "lmerTest", "ggplot2", "brms", "stm", "duckdb")
def test_every_wrong_argument_of_r_ends_in_a_sentence_and_nothing_is_written(tmp_path: Path) -> None:
    words = ["Rscript", str(Path(__file__).with_name("r_mistakes.R")), str(ROOT)]
    environment = os.environ | {"LC_ALL": "C.UTF-8"}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    told = dict(zip(lines[::2], (line.strip() for line in lines[1::2]), strict=True))
    if os.environ.get("SLANT_NEW_MISTAKES"):
        SENTENCES.write_text(by_sentence(told), "utf-8")
    assert {call: said for call, said in told.items() if said.startswith(NO_SENTENCES)} == {}
    assert list(tmp_path.iterdir()) == []
    assert len(told) > 800
    assert by_sentence(told) == SENTENCES.read_text("utf-8")
