"""Registrations, lakes, notes and conditions of strangers: refused in a sentence, soon and in little memory."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from slant.collector import collect, export_lake, preregister, read_registration, write_registration
from slant.collector.errors import DatabaseError, UsageError
from slant.collector.keep.database import reading
from slant.collector.view.notes_file import NotesFile
from slant.collector.view.trial_filter import TrialFilter, guarded
from tests.hostile.become import Hostile
from tests.hostile.documents import CONDITIONS, LAKES, NOTES, REGISTRATIONS
from tests.support.lakes import sign
from tests.support.tiny_study import write_tiny

MOST_S = 5.0


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database (a.duckdb), its lake, a registration of its study, and notes on nothing."""
    folder = tmp_path_factory.mktemp("documents")
    study = write_tiny(folder)
    collect(folder / "a.duckdb", study, ["simulated/small"])
    export_lake(folder / "a.duckdb", folder / "lake")
    write_registration(preregister(study, simulated=True), folder / "plan.json")
    (folder / "notes.csv").write_text("trial_id,label,note\n")
    return folder


def became(hostile: Hostile, true: Path, folder: Path) -> Path:
    copy = folder / true.name
    (shutil.copytree if true.is_dir() else shutil.copy)(true, copy)
    hostile.become(copy)
    return copy


@pytest.mark.slow
@pytest.mark.parametrize("hostile", REGISTRATIONS, ids=lambda hostile: hostile.name)
def test_what_is_no_registration_is_refused(hostile: Hostile, home: Path, tmp_path: Path) -> None:
    path, begun = became(hostile, home / "plan.json", tmp_path), time.process_time()
    with pytest.raises(UsageError, match="is no registration") as refused:
        read_registration(path)
    assert hostile.sentence in str(refused.value)
    assert time.process_time() - begun < MOST_S


@pytest.mark.slow
@pytest.mark.parametrize("hostile", LAKES, ids=lambda hostile: hostile.name)
def test_what_is_no_lake_is_refused(hostile: Hostile, home: Path, tmp_path: Path) -> None:
    path, begun = became(hostile, home / "lake", tmp_path), time.process_time()
    sign(path)  # a stranger's checksums fit their files
    with pytest.raises(DatabaseError, match="lake") as refused, reading(path):
        pass
    assert hostile.sentence in str(refused.value)
    assert time.process_time() - begun < MOST_S


@pytest.mark.parametrize("hostile", NOTES, ids=lambda hostile: hostile.name)
def test_what_are_no_notes_is_refused_and_stays_as_it_is(hostile: Hostile, home: Path, tmp_path: Path) -> None:
    path = became(hostile, home / "notes.csv", tmp_path)
    with pytest.raises(UsageError) as refused:
        NotesFile(path)
    assert hostile.sentence in str(refused.value)
    assert [each.name for each in tmp_path.iterdir()] == ["notes.csv"]


def test_a_note_of_any_lines_is_one_row_and_stays_it(tmp_path: Path) -> None:
    notes = NotesFile(tmp_path / "notes.csv")
    notes.keep("t", "odd", "one\rtwo,x\r\nthree\0\n=1+1")
    notes.keep("u", "plain", "")
    assert notes.read()["t"]["note"] == "one\ntwo,x\nthree\ufffd\n=1+1"
    assert list(notes.read()) == ["t", "u"]


def test_notes_into_a_folder_that_is_not_there_are_refused_before_the_first(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        NotesFile(tmp_path / "none" / "notes.csv")


@pytest.mark.slow
@pytest.mark.parametrize(("condition", "sentence"), CONDITIONS.values(), ids=CONDITIONS)
def test_a_condition_reads_these_trials_and_can_be_stopped(condition: str, sentence: str, home: Path) -> None:
    begun = time.process_time()
    with pytest.raises(UsageError) as refused, guarded(home / "a.duckdb") as connection:
        TrialFilter(where=condition).rows(connection).fetchall()
    assert sentence in str(refused.value)
    assert time.process_time() - begun < MOST_S
