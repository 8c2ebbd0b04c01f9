"""Fixtures that all tests share: where the authors' data lie, and a database made here."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from slant.collector.keep.schema import cached_new_database
from slant.collector.providers import PROVIDERS
from tests.support.authors import Authors, imported_authors
from tests.support.chromium import Browser
from tests.support.ledger import Ledger
from tests.support.made_once import shared_folder
from tests.support.needs import skip_what_is_lacking

# How long an example takes says something about the machine, and nothing about what is tested.
# `make test` tries fewer examples than `make test-full` does, where a test does not say how many.
for name, n_examples in (("quick", 10), ("full", 100)):
    settings.register_profile(
        name, max_examples=n_examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("full" if os.environ.get("SLANT_FULL") else "quick")

ROOT = Path(__file__).resolve().parent.parent
BAD = ("failed", "error")


@cache
def ledger() -> Ledger | None:
    """Where `make test` asks for it, what each file costs; tests that run pytest themselves cost what they do here."""
    named = os.environ.pop("SLANT_TEST_LEDGER", "")
    return Ledger(Path(named)) if named else None


def pytest_sessionfinish() -> None:
    if kept := ledger():
        kept.turn_to("")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if kept := ledger():
        kept.turn_to(item.nodeid.partition("::")[0])
    skip_what_is_lacking(item)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Adds to the file that `make test` counts from: outcome, number, reason."""
    if not (named := os.environ.get("SLANT_TEST_COUNTS")) or "PYTEST_XDIST_WORKER" in os.environ:
        return
    stats = terminalreporter.stats
    lines = [f"passed\t{len(stats.get('passed', []))}\t", f"failed\t{sum(len(stats.get(s, [])) for s in BAD)}\t"]
    for report in stats.get("skipped", []):
        lines.append(f"skipped\t1\t{report.longrepr[2].removeprefix('Skipped: ')}")
    with Path(named).open("a", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


# Files that take longest begin first: then all processes end at about one time.
LONG = (
    "test_calibrate", "test_views", "test_readme_study", "test_readme_paper", "test_compare", "test_own_studies",
    "test_report", "test_bayes", "test_mistakes", "test_atlas", "test_figures", "test_setup", "test_fits",
    "test_numbers_of_conditions", "test_topics", "test_checks", "test_faults", "test_kill", "test_report_interference",
    "test_batch_kill", "test_permute", "test_sensitivity", "test_archive",
    "test_merge", "test_cli_analyze", "test_report_games", "test_report_browser", "test_count_models",
    "test_both_languages", "test_copied_study", "test_recovery", "test_packaging", "test_batches", "test_status",
)  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    config.option.loadscopereorder = False  # else pytest-xdist begins with the files that have most tests


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path.stem, len(LONG)))


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `shared` next to the checkout, with the authors' raw data; absent on most machines."""
    folder = ROOT.parent / "shared"
    if not (folder / "data" / "rmiat").is_dir():
        pytest.skip("the authors' raw data (../shared) are not here")
    return folder


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """The path of a test's own database, which is not there yet."""
    return tmp_path / "a.duckdb"


@pytest.fixture(scope="session")
def python() -> list[str]:
    """The interpreter of this very environment, for tests that start processes."""
    return [sys.executable]


@pytest.fixture(scope="session")
def authors(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Authors:
    """The authors' raw data, imported: once, however many processes share the tests out among them."""
    return imported_authors(shared, shared_folder(tmp_path_factory, "authors"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("chromium")) as one:
        yield one


@pytest.fixture
def keys_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key for each provider that wants one."""
    for provider in PROVIDERS.values():
        if provider.key_variable:
            monkeypatch.setenv(provider.key_variable, "a-key")


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's cache of this test's own, but for what a new database is copied from, which takes seconds to make."""
    shared = cached_new_database().parent
    own = tmp_path / "cache" / "slant" / shared.name
    own.parent.mkdir(parents=True)
    own.symlink_to(shared)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MB, which fills up; needs the right to mount, which containers and people often lack."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can't be mounted here (needs root)")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
