"""Names of slant's own files that lead elsewhere: nothing outside changes or is read, nothing waits."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from slant.collector import collect, export_lake, merge
from slant.collector.errors import DatabaseError, SlantError, UsageError
from slant.collector.keep.batch_jobs import JobFolder
from slant.collector.keep.export import export_trials as export
from slant.collector.keep.journal import FolderLock, Journal, journal_folder, utc_now
from slant.collector.keep.journal_files import compress_finished
from slant.collector.keep.journal_loader import load_journals as load
from slant.collector.providers.prices import load_prices
from tests.hostile.links import JOURNAL, LAKE, Trap, a_home, laid, what_lies_in
from tests.support.made import a_run
from tests.support.tiny_study import write_tiny


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    collect(folder / "a.duckdb", write_tiny(folder), ["simulated/small"])
    export_lake(folder / "a.duckdb", folder / "lake")
    return folder


def a_copy(kept: Path, folder: Path) -> Path:
    for name in ("a.duckdb.journal", "lake"):
        shutil.copytree(kept / name, folder / name)
    return Path(shutil.copy(kept / "a.duckdb", folder))


def test_links_that_lead_to_each_other_are_a_sentence_for_each_file_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (circle := tmp_path / "b").symlink_to("a")
    study = write_tiny(tmp_path)
    with pytest.raises(DatabaseError, match="a link that leads back to itself"):
        collect(circle, study, ["simulated/small"])
    with pytest.raises(UsageError, match="it is a link"):
        collect(tmp_path / "t.duckdb", study, ["simulated/small"], registration=circle)
    with pytest.raises(UsageError, match="it is a link"):
        load_prices(circle)


@pytest.mark.slow
@pytest.mark.parametrize("trap", JOURNAL, ids=lambda trap: trap.name)
def test_a_journal_leads_nowhere_else(trap: Trap, kept: Path, tmp_path: Path) -> None:
    db, home = a_copy(kept, tmp_path), a_home(tmp_path)
    laid(trap, journal_folder(db), home)
    before = what_lies_in(home)
    with suppress(SlantError), Journal(db, replace(a_run(), run_id="20261126T000000Z-tiny-ffffff")) as journal:
        journal.append_many([{"kind": "end", "finished_at": utc_now()}])
        compress_finished(journal.folder)
    with suppress(SlantError):
        JobFolder(db).sweep()
    with suppress(SlantError):
        load(db)
    with suppress(SlantError):
        merge(tmp_path / "all.duckdb", [db])
    assert what_lies_in(home) == before
    merged = tmp_path / "all.duckdb.journal"
    assert not any(b"of the user's" in path.read_bytes() for path in merged.glob("*") if path.is_file())


@pytest.mark.slow
@pytest.mark.parametrize("trap", LAKE, ids=lambda trap: trap.name)
def test_a_lake_leads_nowhere_else(trap: Trap, kept: Path, tmp_path: Path) -> None:
    db, home = a_copy(kept, tmp_path), a_home(tmp_path)
    laid(trap, tmp_path / "lake", home)
    before = what_lies_in(home)
    with pytest.raises(SlantError, match=r"it is a (link|pipe)"):
        export_lake(db, tmp_path / "lake")
    assert what_lies_in(home) == before


@pytest.mark.slow
def test_a_journal_that_is_a_link_is_named_and_the_rest_is_loaded(kept: Path, tmp_path: Path) -> None:
    db, home = a_copy(kept, tmp_path), a_home(tmp_path)
    db.unlink()
    laid(next(trap for trap in JOURNAL if "jsonl: link to a file" in trap.name), journal_folder(db), home)
    report = load(db)
    assert report.rows > 0
    assert any("skipped, because it is a link" in problem for problem in report.problems)


def test_a_database_behind_a_link_has_the_journal_of_the_file_itself(kept: Path, tmp_path: Path) -> None:
    db = a_copy(kept, tmp_path)
    (tmp_path / "link.duckdb").symlink_to(db)
    assert journal_folder(tmp_path / "link.duckdb") == journal_folder(db)
    assert load(tmp_path / "link.duckdb").rows == 0
    assert not (tmp_path / "link.duckdb.journal").exists()


def test_a_second_name_without_the_journal_is_asked_nothing(kept: Path, tmp_path: Path) -> None:
    db = a_copy(kept, tmp_path)
    os.link(db, tmp_path / "other.duckdb")
    with pytest.raises(SlantError, match="second name"):
        FolderLock(journal_folder(tmp_path / "other.duckdb"))
    assert not (tmp_path / "other.duckdb.journal").exists()
    FolderLock(journal_folder(db)).release()


def test_two_names_with_a_journal_each_are_asked_nothing(kept: Path, tmp_path: Path) -> None:
    db = a_copy(kept, tmp_path)
    os.link(db, tmp_path / "other.duckdb")
    shutil.copytree(journal_folder(db), tmp_path / "other.duckdb.journal")
    for name in (db, tmp_path / "other.duckdb"):
        with pytest.raises(SlantError, match="each of them has a journal"):
            FolderLock(journal_folder(name))


def test_pipes_and_devices_are_no_databases_and_no_prices(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", Path("/dev/null"), Path("/dev/zero")):
        with pytest.raises(DatabaseError, match="is no database: it is a"):
            load(place)
        with pytest.raises(SlantError, match="it is a"):
            load_prices(place)


@pytest.mark.slow
def test_an_export_goes_into_a_pipe_that_is_read(kept: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(SlantError, match="nobody reads from it"):
        export(kept / "a.duckdb", None, tmp_path / "pipe.csv", overwrite=True)
    reader = os.open(tmp_path / "pipe.csv", os.O_RDONLY | os.O_NONBLOCK)
    rows = duckdb.connect(str(kept / "a.duckdb"), read_only=True).sql("SELECT count(*) FROM runs").fetchall()[0][0]
    export(kept / "a.duckdb", None, tmp_path / "pipe.csv", view="run_provenance", overwrite=True)
    assert os.read(reader, 1_000_000).count(b"\n") > rows
    os.close(reader)
    assert (tmp_path / "pipe.csv").is_fifo()
