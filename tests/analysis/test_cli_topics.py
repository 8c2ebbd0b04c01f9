"""Topics on the command line: one table to stdout, what must be known about it to stderr, and a search that goes on."""

from __future__ import annotations

import csv
import io
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from slant import analysis
from slant.analysis.fitting.result_versions import other_version_sentences
from slant.analysis.plots.registry import figure_rows
from slant.analysis.questions.topics.topic_models import search_topics
from slant.collector.errors import RError, UsageError
from slant.collector.keep.database import writing
from slant.collector.studies.catalogue import load_study
from slant.collector.system.shipped_files import studies_dir
from tests.analysis.test_cli_analyze import analyze
from tests.support.topics_made import QUICK, talking_database

pytestmark = [pytest.mark.slow, pytest.mark.needs("stm")]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return talking_database(tmp_path_factory.mktemp("cli_topics") / "a.duckdb")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study for few texts: a word need not be in 300 of them."""
    folder = tmp_path_factory.mktemp("study")
    shutil.copytree(studies_dir() / "rmiat", folder / "rmiat")
    text = (studies_dir() / "rmiat.toml").read_text("utf-8")
    file = folder / "rmiat.toml"
    file.write_text(text.replace("lower_thresh = 300", "lower_thresh = 5").replace("max_em_its = 50", "max_em_its = 4"))
    return file


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_fit_prints_topics_and_says_what_they_lack_and_match(db: Path, study: Path) -> None:
    answer = analyze("--fit", "stm", "--study", study, "--db", db, "--format", "csv")
    assert [row["topic"] for row in rows(answer.stdout)] == ["1", "2", "3", "4"]
    assert any("bias" in row["frex_words"].split(", ") for row in rows(answer.stdout))
    assert "Not converged after 4 steps" in answer.stderr
    assert (
        "This can't be the paper's own fit (imported), because texts are missing: claude-3.7-sonnet in" in answer.stderr
    )
    assert "printed FREX words agree" in answer.stderr
    contrasts = analyze(
        "--fit", "stm", "--study", study, "--db", db, "--show", "contrasts", "--adjust", "holm", "--format", "csv"
    )
    adjusted = rows(contrasts.stdout)
    assert {row["adjusted_by"] for row in adjusted} == {"holm"}
    assert all(float(row["p_adjusted"]) >= float(row["p_value"]) for row in adjusted)
    assert "p_bh" not in adjusted[0]


def test_what_does_not_fit_together_is_refused(db: Path, study: Path) -> None:
    for arguments, said in (
        (("--show", "words", "--adjust", "BH"), "The table words has no p values to adjust."),
        (("--topics", "1"), "Can't fit one topic."),
        (("--show", "thoughts"), "thoughts"),
    ):
        answer = analyze("--fit", "stm", "--study", study, "--db", db, *arguments)
        assert (answer.exit_code != 0, answer.stdout) == (True, "")
        assert said in answer.stderr
    lme4 = analyze("--fit", "lme4", "--db", db, "--topics", "3")
    assert lme4.exit_code == 2
    assert "topics" in lme4.stderr


def test_a_search_computes_only_what_is_not_kept(db: Path) -> None:
    said: list[tuple[int, int]] = []
    first = search_topics(db, "rmiat", [3], settings=QUICK, max_em_its=3)
    both = search_topics(db, "rmiat", [4, 3], settings=QUICK, max_em_its=3, progress=lambda *done: said.append(done))
    assert said == [(1, 2), (2, 2)]
    assert both.filter(pl.col("n_topics") == 3).equals(first)
    assert both["n_topics"].to_list() == [3, 4]
    assert not list(Path(f"{db}.models").glob("*.prepared.*"))
    drawn = list(figure_rows(db, load_study("rmiat"), ["search_k"]))
    assert [one.rows["n_topics"].to_list() for one in drawn] == [[3, 4]]


def test_what_can_not_be_searched_is_said(db: Path) -> None:
    with pytest.raises(UsageError, match="Can't fit 1 topics"):
        search_topics(db, "rmiat", [1, 3])
    with pytest.raises(RError, match="a word must be in more than 300 of them"):
        search_topics(db, "rmiat", [3])


def test_a_search_that_was_killed_goes_on_where_it_stopped(root: Path, tmp_path: Path, study: Path) -> None:
    db = talking_database(tmp_path / "a.duckdb")
    numbers = list(range(3, 21))  # some seconds: what ended is kept every two
    code = "from slant.analysis.cli.main import analyze; analyze()"
    words = ["topics", "search", "--study", str(study), "--topics", "3:20", "--workers", "1", "--db", str(db)]
    command = [sys.executable, "-c", code, *words]
    killed = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL, start_new_session=True)
    until = time.monotonic() + 900
    while (before := searched(db)).is_empty() and time.monotonic() < until:
        time.sleep(0.2)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert 0 < before.height < len(numbers)
    found = search_topics(db, study, numbers)
    assert found["n_topics"].to_list() == numbers
    assert found.join(before, on=["n_topics", "searched_at"], how="semi").height == before.height
    assert not list(tmp_path.glob("a.duckdb.models/*.prepared.*"))


def searched(db: Path) -> pl.DataFrame:
    return analysis.open_trials(db, view="topic_searches")


def test_a_search_of_other_versions_is_made_again_and_said(tmp_path: Path) -> None:
    db = talking_database(tmp_path / "a.duckdb")
    first = search_topics(db, "rmiat", [2, 3], settings=QUICK, max_em_its=2)
    assert list(other_version_sentences(db)) == []
    with writing(db) as connection:
        other = """replace(versions, '"tm": "0', '"tm": "9')"""
        two = "SELECT call_id FROM stm_searches WHERE n_topics = 2"
        connection.execute(f"UPDATE calls SET versions = {other} WHERE call_id IN ({two})")  # noqa: S608
    (said,) = other_version_sentences(db, "rmiat")
    assert said.startswith("Other versions: 1 fit of stm (topics search) kept from tm 9")
    again = search_topics(db, "rmiat", [2, 3], settings=QUICK, max_em_its=2)
    assert again["versions"].equals(first["versions"])
    is_new = again["searched_at"] != first["searched_at"]
    assert is_new.to_list() == [True, False]
    assert searched(db).height == 2
