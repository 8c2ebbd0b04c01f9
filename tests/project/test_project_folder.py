"""A folder of somebody's own, full of files whose names slant or its libraries have, too: none of them is ever run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from slant.analysis.bridge.r_home import r_installation
from slant.collector.system.child_processes import safe_path
from tests.support import SUPPORT
from tests.support.fitted import MODELS, process_id, small_database

NAMES = ("analysis", "collector", "slant", "polars", "duckdb", "click", "aiohttp", "rpy2", "random", "tests", "orjson")
OWN = "open('{name}.was_run', 'a').write('x')\nraise SystemExit('this is the {name}.py of the project')\n"
needs_r = pytest.mark.skipif(r_installation() is None, reason="R is not on this machine")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(OWN.format(name=name))
    return folder


def typed(project: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command as it is typed in the project's folder."""
    program, *rest = words
    command = [str(Path(sys.executable).with_name(program)), *rest]
    return subprocess.run(
        command, cwd=project, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def run_of(project: Path) -> list[str]:
    return sorted(path.name for path in project.glob("*.was_run"))


@pytest.mark.slow
@needs_r
def test_collecting_fitting_and_tables_run_nothing_of_the_folder(project: Path) -> None:
    asked = typed(project, "collect", "--study", "rmiat", "--model", "simulated/o3-mini", "--pilot", "160")
    assert (asked.returncode, run_of(project)) == (0, []), asked.stderr
    fitted = typed(project, "analyze", "--fit", "effect_size", "--workers", "1", "--format", "json")
    assert (fitted.returncode, run_of(project)) == (0, []), fitted.stderr
    assert len(json.loads(fitted.stdout)) == 10
    tables = typed(project, "analyze", "tables", "tokens_by_condition", "--format", "json")
    assert (tables.returncode, run_of(project)) == (0, []), tables.stderr
    assert {path.name for path in project.iterdir()} == {
        *(f"{name}.py" for name in NAMES),
        "slant.duckdb",
        "slant.duckdb.journal",
    }


@pytest.mark.slow
@needs_r
def test_python_m_runs_nothing_of_the_folder_but_a_slant_of_its_own(project: Path) -> None:
    (project / "slant.py").unlink()  # Python itself takes this one for the package, before slant can say anything
    small_database(project / "slant.duckdb")
    found = typed(project, "python", "-m", "slant.analysis", "--fit", "effect_size", "--format", "json")
    assert (found.returncode, run_of(project)) == (0, []), found.stderr
    assert len(json.loads(found.stdout)) == len(MODELS)
    listed = typed(project, "python", "-m", "slant.collector", "studies")
    assert (listed.returncode, run_of(project)) == (0, []), listed.stderr


@pytest.mark.slow
@needs_r
@pytest.mark.parametrize("lacks", ["", pytest.param("forkserver", marks=pytest.mark.slow)])
def test_a_script_of_the_project_may_fit_beside_files_of_such_names(project: Path, lacks: str) -> None:
    for name in ("slant", "polars", "duckdb", "click", "random", "orjson", "aiohttp"):  # of these Python takes its own
        (project / f"{name}.py").unlink()
    small_database(project / "slant.duckdb")
    (project / "fits.py").write_text(
        "from slant import fit\n"
        "print(fit('slant.duckdb', fit='effect_size', workers=1).diagnostics['status'].to_list())\n"
    )
    lacking = str(SUPPORT / "lacking")
    found = typed(project, "python", "fits.py", PYTHONPATH=lacking, SLANT_LACKS=lacks)
    assert (found.returncode, run_of(project)) == (0, []), found.stderr
    assert found.stdout.strip() == str(["ok"] * len(MODELS))


@pytest.mark.slow
def test_child_processes_get_the_search_path_without_the_current_folder_and_that_of_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "elsewhere"
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(script / "its_script.py"), raising=False)
    before = [place for place in sys.path if place and Path(place).resolve() != script.resolve()]
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), ".", str(script), *before])
    assert safe_path() == before


@pytest.mark.slow
def test_the_folder_of_a_job_is_kept_for_the_process_that_is_to_run_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "path", [*safe_path(), str(root)])
    assert str(root) not in safe_path()
    assert str(root) in safe_path(process_id)


@pytest.mark.slow
@needs_r
def test_objects_that_r_saved_in_the_folder_do_not_take_the_place_of_rs_own(project: Path) -> None:
    saved = subprocess.run(
        ["Rscript", "-e", "mean <- sd <- var <- function(...) 42; save.image('.RData')"], cwd=project, check=False
    )
    assert saved.returncode == 0
    small_database(project / "slant.duckdb")
    said = ("analyze", "--fit", "effect_size", "--format", "csv")
    with_objects = typed(project, *said, "--refit").stdout
    (project / ".RData").unlink()
    assert with_objects == typed(project, *said, "--refit").stdout != ""


@pytest.mark.slow
@needs_r
@pytest.mark.parametrize("lacks", ["", pytest.param("forkserver", marks=pytest.mark.slow)])
def test_a_worker_that_can_not_start_says_why_and_leaves_kept_fits_alone(tmp_path: Path, lacks: str) -> None:
    db = small_database(tmp_path / "slant.duckdb")
    kept = "SELECT call_id, status, fitted_at FROM fits ORDER BY ALL"
    assert typed(tmp_path, "analyze", "--fit", "effect_size").returncode == 0
    with duckdb.connect(str(db), read_only=True) as connection:
        before = connection.execute(kept).fetchall()
    (tmp_path / "broken.py").write_text(
        "import os\nfrom slant.analysis.cli.main import analyze\n"
        "os.environ['PYTHONIOENCODING'] = 'nonsense'  # no Python can start with this\n"
        "analyze(['--fit', 'effect_size', '--refit'])\n"
    )
    lacking = str(SUPPORT / "lacking")
    failed = typed(tmp_path, "python", "broken.py", PYTHONPATH=lacking, SLANT_LACKS=lacks)
    assert failed.returncode == 1
    assert "Error: The process in which R runs could not start.\n" in failed.stderr
    assert "unknown encoding: nonsense" in failed.stderr.partition("Error: The process")[2]
    assert "memory" not in failed.stderr
    with duckdb.connect(str(db), read_only=True) as connection:
        assert connection.execute(kept).fetchall() == before
    assert [status for _, status, _ in before] == ["ok"] * len(MODELS)
