"""The journal keeps what it acknowledged, whatever happens to the process or the disk."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from slant.collector.errors import DatabaseBusyError, DatabaseError, JournalError
from slant.collector.keep import journal_loader as loading
from slant.collector.keep.database import reading, writing
from slant.collector.keep.final_trials import read_finals
from slant.collector.keep.journal import Journal, journal_folder
from slant.collector.keep.journal_loader import Loader, load_journals
from tests.support.made import a_run, an_attempt, attempts_in
from tests.support.stored import rows_in


def test_an_acknowledged_answer_is_in_the_file_and_loads_once(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with Journal(db, a_run()) as journal:
        journal.append_many([an_attempt(1), an_attempt(2)])
        assert len(journal.path.read_bytes().splitlines()) == 3
    assert load_journals(db).rows == 2
    assert load_journals(db).rows == 0
    assert attempts_in(db) == 2


def test_a_half_written_last_line_is_not_loaded_and_is_cut_off_by_the_next_run(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with Journal(db, a_run("one")) as journal:
        journal.append_many([an_attempt(1)])
    path = journal_folder(db) / "one.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines()[1][:40])
    assert load_journals(db).rows == 1
    with Journal(db, a_run("two")) as journal:
        assert "half-written" in journal.mended[0]
    assert path.read_bytes() == whole


def test_a_last_line_that_lacks_only_its_end_is_kept(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with Journal(db, a_run("one")) as journal:
        journal.append_many([an_attempt(1)])
        path = journal.path
    lines = path.read_bytes().splitlines(keepends=True)[:2]
    path.write_bytes(b"".join(lines).rstrip(b"\n"))
    with Journal(db, a_run("two")) as journal:
        assert journal.mended == []
    assert load_journals(db).rows == 1


@pytest.mark.parametrize(
    "garbage",
    [
        b"garbage\n", b'{"some": "json"}\n', b"\x00\xff\xfe\n", b"[]\n", b"\n", b'{"kind":\n', b'{"kind":"nonsense"}\n',
        b'{"kind" : "run"}\n', b"[" * 100_000 + b"\n", b'{"kind":"end","finished_at":"x"}\n',
    ],
    ids=range(10),
)  # fmt: skip
def test_a_line_of_garbage_or_of_another_kind_costs_only_itself_and_is_reported_with_its_number(
    tmp_path: Path, garbage: bytes
) -> None:
    db = tmp_path / "a.duckdb"
    with Journal(db, a_run()) as journal:
        journal.append_many([an_attempt(n) for n in range(1, 6)])
        path = journal.path
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], garbage, *lines[3:]]))
    report = load_journals(db)
    assert (report.rows, len(report.problems)) == (5, 1)
    assert f"{path}:4:" in report.problems[0]
    assert load_journals(db).problems == []
    assert rows_in(db, "SELECT journal, line_no FROM journal_problems") == [(path.name, 4)]


def test_surrogates_and_null_characters_in_an_answer_are_kept_as_well_as_a_file_can(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with Journal(db, a_run()) as journal:
        journal.append_many([replace(an_attempt(1), answer="a\ud800b\x00c\u2028d\ne")])
    assert load_journals(db).problems == []
    assert rows_in(db, "SELECT answer FROM attempts") == [("a?b\ufffdc\u2028d\ne",)]


def test_a_second_writer_learns_who_holds_the_journal(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with Journal(db, a_run("one")), pytest.raises(JournalError, match="Another collector") as caught:
        Journal(db, a_run("two"))
    assert "process " in str(caught.value)
    Journal(db, a_run("three")).close("finished")


def test_a_full_disk_keeps_what_was_in_flight_and_says_so(tmp_path: Path, small_disk: Path) -> None:
    journal = Journal(small_disk / "a.duckdb", a_run())
    filler = small_disk / "filler"
    with pytest.raises(OSError, match="No space"), filler.open("wb", buffering=0) as file:
        file.writelines(b"x" * 65_536 for _ in range(200))
    journal.append_many([replace(an_attempt(n), response="y" * 9_000) for n in range(20)])
    assert journal.is_full
    with pytest.raises(JournalError, match="No space left"):
        journal.append_many([replace(an_attempt(99), response="y" * 6_000_000)])
    journal.close("disk full")
    filler.unlink()
    assert load_journals(small_disk / "a.duckdb").rows == 20


@pytest.mark.slow
def test_a_folder_that_may_not_be_written_is_a_sentence_and_costs_no_answer(tmp_path: Path, python: list[str]) -> None:
    db = tmp_path / "a.duckdb"
    with writing(db), Journal(db, a_run()) as journal:
        journal.append_many([an_attempt(1)])
    # root may write anywhere, unless that is taken from it
    limited = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    tmp_path.chmod(0o555)
    words = [*limited, *python, "-m", "slant.collector", "load", "--db", str(db)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    tmp_path.chmod(0o755)
    assert (done.returncode, done.stderr.count("\n")) == (1, 2)
    assert done.stderr.startswith(f'Error: Can\'t write the database "{db}": ')
    expected = "Permission denied.\n  What the journal next to it holds is safe: see that file and folder may"
    assert expected in done.stderr
    assert load_journals(db).rows == 1


def test_a_text_file_is_not_taken_for_a_database(tmp_path: Path) -> None:
    db = tmp_path / "notes.txt"
    db.write_text("my notes\n" * 1000)
    for way in (reading, writing):
        with pytest.raises(DatabaseError, match="not a DuckDB database"), way(db):
            pass
    assert db.read_text().startswith("my notes")


def test_another_programs_database_is_left_as_it_is(tmp_path: Path) -> None:
    db = tmp_path / "other.duckdb"
    with duckdb.connect(str(db)) as other:
        other.execute("CREATE TABLE invoices (n INTEGER)")
    for way in (reading, writing):
        with pytest.raises(DatabaseError, match=r"another program's database .*invoices"), way(db):
            pass
    with duckdb.connect(str(db)) as other:
        assert other.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("invoices",)]


@pytest.mark.slow
def test_a_reader_in_another_process_is_named_when_it_does_not_let_go(tmp_path: Path, python: list[str]) -> None:
    db = tmp_path / "a.duckdb"
    load = Journal(db, a_run())
    load.close("finished")
    load_journals(db)
    script = (
        "import duckdb,sys; c=duckdb.connect(sys.argv[1], read_only=True); print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen([*python, "-c", script, str(db)], stdin=-1, stdout=-1, text=True) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "open\n"
        with pytest.raises(DatabaseBusyError) as busy, writing(db, patience_s=0.3):
            pass
        assert busy.value.details[0].endswith(f"(PID {reader.pid})")
        reader.communicate("\n")
    with writing(db, patience_s=5) as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchall() == [(1,)]


def test_the_journal_line_is_json_with_the_names_of_the_columns(tmp_path: Path) -> None:
    with Journal(tmp_path / "a.duckdb", a_run()) as journal:
        journal.append_many([an_attempt(7)])
        lines = [json.loads(line) for line in journal.path.read_bytes().splitlines()]
    assert lines[0]["kind"] == "run"
    assert lines[1]["trial_id"] == "trial-7"
    assert lines[1]["tokens"] == 64
    assert "fingerprint" not in lines[1]


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (b'"done_at":"20', b'"done_at":"9x'),
        (b'"wording":1', b'"wording":99999999999'),
        (b'"repetition":1', b'"repetition":[]'),
        (b'"tokens":64', b'"tokens":"many"'),
    ],
)
def test_a_value_that_the_database_will_not_take_costs_only_its_line(tmp_path: Path, good: bytes, bad: bytes) -> None:
    db = tmp_path / "a.duckdb"
    with Journal(db, a_run()) as journal:
        journal.append_many([an_attempt(n) for n in range(1, 30)])
        path = journal.path
    lines = path.read_bytes().splitlines(keepends=True)
    assert good in lines[7]
    path.write_bytes(b"".join([*lines[:7], lines[7].replace(good, bad, 1), *lines[8:]]))
    report = load_journals(db)
    assert (report.rows, len(report.problems)) == (28, 1)
    assert f"{path}:8:" in report.problems[0]


def test_a_copy_of_a_journal_does_not_double_its_answers(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with Journal(db, a_run()) as journal:
        journal.append_many([an_attempt(1)])
        path = journal.path
    path.with_name("run-1 (copy).jsonl").write_bytes(path.read_bytes())
    report = load_journals(db)
    assert report.rows == 1
    assert "copy of another journal" in report.problems[0]


@pytest.mark.slow
@pytest.mark.parametrize("content", ["nothing", "no tables"])
def test_an_empty_file_is_filled_like_one_that_is_not_there(tmp_path: Path, content: str) -> None:
    db = tmp_path / "a.duckdb"
    if content == "nothing":
        db.touch()
    else:
        duckdb.connect(str(db)).close()
    with pytest.raises(DatabaseError, match="holds nothing yet"), reading(db):
        pass
    with Journal(db, a_run()) as journal:
        journal.append_many([an_attempt(1)])
    assert read_finals(db, "rmiat").among(["trial-1", "trial-2"]) == b"\1\0"
    assert load_journals(db).rows == 1


def test_a_path_with_the_word_lock_in_it_is_not_taken_for_a_locked_file(tmp_path: Path) -> None:
    (tmp_path / "blocks").mkdir()
    db = tmp_path / "blocks" / "clock.duckdb"
    db.write_text("my notes")
    with pytest.raises(DatabaseError, match="not a DuckDB database"), reading(db, patience_s=30):
        pass


@pytest.mark.slow
def test_a_flush_that_has_held_the_database_long_enough_leaves_the_rest_in_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = tmp_path / "a.duckdb"
    monkeypatch.setattr(loading, "CHUNK_BYTES", 1)  # a line a chunk
    with Journal(db, a_run()) as journal:
        journal.append_many([an_attempt(sequence) for sequence in range(1, 4)])
    loader = Loader(db)
    assert loader.load(max_held_s=1e-9).rows < 3
    loader.load()
    assert attempts_in(db) == 3
