"""`make test-fresh` and the last lines of `make test`: what they say of machines, versions, and what was skipped."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import needs


@pytest.fixture
def tools(root: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    for folder in ("analysis", "tools"):
        monkeypatch.syspath_prepend(str(root / folder))
    return importlib.import_module


def numbers(lme4: float, brms: float, agree: int) -> dict[str, dict[str, Any]]:
    return {
        "lme4": {"a": lme4, "b": 1.0},
        "effect sizes": {"d": 0.5},
        "brms": {"x": [brms, 0.1]},
        "print": {"S6": [agree, 9], "S7": [3, 3]},
    }


def test_numbers_that_differ_between_versions_are_shown(tools: Any) -> None:
    said = tools("fresh_numbers").differences({"old": numbers(2.0, 1.0, 9), "new": numbers(2.2, 2.0, 8)})
    assert said == [
        "old and new, lme4: 2 numbers, 1 differ by more than 1e-09 of themselves",
        "  a: 2.0, 2.2 (by 0.09)",
        "old and new, effect sizes: 1 numbers, 0 differ by more than 1e-09 of themselves",
        "old and new, brms: 1 means, the largest difference is 7.1 Monte Carlo errors",
        "  x: 1.0000, 2.0000 (7.1 errors)",
        "print, table S6: old 9 of 9, new 8 of 9 agree",
    ]


def test_the_same_numbers_are_said_in_a_line_each_and_what_failed_is_named(tools: Any) -> None:
    said = tools("fresh_numbers").differences({"old": numbers(2.0, 1.0, 9), "new": numbers(2.0, 1.2, 9), "bad": {}})
    assert said[0] == "bad: no numbers, as a step failed"
    assert said[-2:] == [
        "old and new, brms: 1 means, the largest difference is 1.4 Monte Carlo errors",
        "print: 12 of 12 numbers agree in old, new",
    ]


def test_the_table_has_a_line_for_each_suite_and_step(tools: Any) -> None:
    fresh = tools("fresh")
    tried = fresh.Tried("trixie", {"R": "4.5.0", "Python": "3.13.5"}, {"demo": ("yes", "", 200.4)})
    head, row = fresh.table([tried])
    assert head == "suite   R      Python  lme4  brms  testthat  ggplot2  step  passed  skipped  seconds"
    assert row.split() == ["trixie", "4.5.0", "3.13.5", "?", "?", "?", "?", "demo", "yes", "200"]


def test_without_root_it_says_what_it_needs(tools: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    module = tools("fresh_root")
    monkeypatch.setattr(module.os, "geteuid", lambda: 1000)
    with pytest.raises(SystemExit):
        module.check_rights()
    assert "this needs root and debootstrap.\n" in capsys.readouterr().err


def test_what_was_skipped_is_counted_by_reason(tools: Any, tmp_path: Path) -> None:
    (tmp_path / "counts").write_text(
        "passed\t7\t\nfailed\t0\t\nskipped\t1\tR package stm is not here\nskipped\t1\tR package stm is not here\n"
    )
    outcomes, reasons = tools("test").counts_of(tmp_path / "counts")
    assert (dict(outcomes), dict(reasons)) == (
        {"passed": 7, "failed": 0, "skipped": 2},
        {"R package stm is not here": 2},
    )


CASE = """
import pytest
def test_good(): pass
@pytest.mark.needs("stm")
def test_topics(): pass
def test_other(): pytest.skip("a reason of its own")
"""


@pytest.mark.slow
def test_a_test_skips_with_the_reason_that_make_test_counts(root: Path, tmp_path: Path) -> None:
    """Real pytest with the tests' own conftest.py, in a copy, on a machine whose list of packages has no stm."""
    (tmp_path / "tests").mkdir()
    for name in ("__init__.py", "conftest.py", "support"):
        (tmp_path / "tests" / name).symlink_to(root / "tests" / name)
    (tmp_path / "pyproject.toml").symlink_to(root / "pyproject.toml")
    (tmp_path / "tests" / "test_case.py").write_text(CASE)
    (tmp_path / "conftest.py").write_text("from tests.support import needs\nneeds.r_packages = lambda: set()\n")
    command = [sys.executable, "-m", "pytest", "-q", "tests/test_case.py", "-p", "no:cacheprovider"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["SLANT_TEST_COUNTS"] = str(tmp_path / "counts")
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env=environment)
    lines = (tmp_path / "counts").read_text().splitlines()
    assert lines[:2] == ["passed\t1\t", "failed\t0\t"]
    reason = needs.lack("R") or "R package stm is not here"
    assert sorted(lines[2:]) == sorted([f"skipped\t1\t{reason}", "skipped\t1\ta reason of its own"])


@pytest.mark.needs("R")
def test_a_package_that_the_list_has_not_is_a_mistake_in_the_test() -> None:
    with pytest.raises(AssertionError, match="not in analysis"):
        needs.lack("stmm")
