"""The same file in R: R's own duckdb package reads what the collector wrote, without any extension to download."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from slant.collector.keep.export import export_trials
from tests.support.fitted import small_database
from tests.support.given import database

pytestmark = pytest.mark.slow

# run_progress compares settings as JSON, an extension that R's duckdb has not got; nobody analyses it.
VIEWS = (
    "trials", "models", "tests", "association_trials", "tokens_by_condition", "refusal_counts", "refusals_by_condition",
    "effect_size_parts", "iat_mentions", "outcome_counts", "served_models", "token_sources", "duplicate_finals",
    "forced_choice_trials", "compliance_by_condition", "consistency_by_condition", "observed_delta_p",
    "repetition_agreement",
)  # fmt: skip


@pytest.fixture
def rscript() -> str:
    return str(shutil.which("Rscript"))


@pytest.mark.needs("DBI", "duckdb")
def test_r_opens_every_view_that_analyses_read(tmp_path: Path, root: Path, rscript: str) -> None:
    models = [{"model": "o3-mini", "label": "o3-mini", "model_no": 1, "settings": {"a": [1, "b"]}, "planned": 2}]
    tests = [{"test": "flowers_insects", "test_no": 1, "label": "Flowers/Insects + …", "planned": 2}]
    run = {"run_id": "r1", "study": "rmiat", "study_version": "v1", "models": models, "tests": tests}
    db = database(tmp_path / "a.duckdb", [{}, {"condition": "incompatible"}], [run])
    command = [rscript, str(root / "tests" / "support" / "open_views.R"), str(db), str(root / "R"), *VIEWS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    n_rows = dict(line.split(",") for line in done.stdout.split())
    assert tuple(n_rows) == VIEWS
    assert {n_rows[view] for view in ("trials", "association_trials", "tokens_by_condition")} == {"2"}
    assert n_rows["models"] == n_rows["tests"] == "1"


@pytest.mark.needs("DBI", "duckdb", "nanoparquet")
def test_exports_hold_the_same_rows_for_people_without_duckdb(tmp_path: Path, root: Path, rscript: str) -> None:
    db = small_database(tmp_path / "a.duckdb")
    files = [tmp_path / f"trials.{ending}" for ending in ("csv", "parquet")]
    for file in files:
        export_trials(db, out=file)
    command = [rscript, str(root / "tests" / "support" / "open_exports.R"), str(db), str(root / "R"), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["trials.csv;160;TRUE;;", "trials.parquet;160;TRUE;;"]


@pytest.mark.needs("R")
def test_without_duckdb_r_says_how_to_get_it_and_what_to_do_without(tmp_path: Path, root: Path, rscript: str) -> None:
    bare = {**os.environ, **dict.fromkeys(("R_LIBS", "R_LIBS_SITE", "R_LIBS_USER"), str(tmp_path))}
    asked = subprocess.run(
        [rscript, "--vanilla", "-e", "cat(requireNamespace('duckdb'))"], env=bare, capture_output=True, text=True
    )
    if asked.stdout != "FALSE":
        pytest.skip("R's own library holds duckdb here")
    script = root / "tests" / "support" / "open_views.R"
    command = [rscript, "--vanilla", str(script), "a.duckdb", str(root / "R"), "trials"]
    done = subprocess.run(command, env=bare, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert 'R\'s packages "duckdb" and "DBI" must be installed' in done.stderr
    assert 'install.packages(c("DBI", "duckdb"))' in done.stderr
    assert "read_trials()" in done.stderr
