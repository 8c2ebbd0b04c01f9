"""Finished journals are compressed: every reader takes both forms, and nothing is lost in between. A journal proves
itself: what is not as it was written is named and not believed, and the rest is loaded."""

from __future__ import annotations

import hashlib
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector import collect, import_trials
from slant.collector.errors import JournalError
from slant.collector.keep import journal_files, journal_loader
from slant.collector.keep.final_trials import read_finals
from slant.collector.keep.journal import FolderLock, Journal, encode, journal_folder, pack_journals
from slant.collector.keep.journal_files import (
    MISSING,
    WRONG,
    checked_lines,
    compress,
    compress_finished,
    divided,
    journal_name,
    journal_paths,
    journal_size,
    opened_journal,
    whole_lines,
    with_sum,
)
from slant.collector.keep.journal_lines import parse
from slant.collector.keep.journal_loader import load_journals, waiting_bytes
from slant.collector.system import files
from tests.support.commands import run_collect
from tests.support.journals import journal_text, only_journal
from tests.support.made import a_run, an_attempt
from tests.support.raw_rows import tidy, write_csv
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

REPEAT = 30
PLANNED = 8 * REPEAT
COMPRESS = (
    "import sys, pathlib; from slant.collector.keep.journal_files import compress; compress(pathlib.Path(sys.argv[1]))"
)


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packed")
    collect(folder / "a.duckdb", write_tiny(folder), simulated=True, repetitions=REPEAT)
    return folder / "a.duckdb"


@pytest.fixture
def text(answered: Path) -> bytes:
    [path] = journal_paths(journal_folder(answered))
    return journal_text(path)


@pytest.fixture
def plain(text: bytes, answered: Path, tmp_path: Path) -> Path:
    """A journal next to which no database lies, as text."""
    folder = journal_folder(tmp_path / "b.duckdb")
    folder.mkdir()
    path = folder / journal_name(journal_paths(journal_folder(answered))[0])
    path.write_bytes(text)
    return path


def test_a_run_leaves_a_journal_of_an_eighth_of_its_text(answered: Path) -> None:
    [path] = journal_paths(journal_folder(answered))
    assert path.name.endswith(".jsonl.zst")
    assert path.stat().st_size * 8 < journal_size(path) == len(journal_text(path))


@pytest.mark.slow
def test_checksums_make_a_compressed_import_hardly_larger(tmp_path: Path) -> None:
    """Than it was before there were any."""
    draw = random.Random(1)
    rows = [
        tidy(repetition=n // 20 + 1, wording=n % 20, answer=draw.choice(["Good", "Bad"]), tokens=draw.randint(50, 900))
        for n in range(6_000)
    ]
    import_trials(tmp_path / "t.duckdb", "rmiat", [write_csv(tmp_path / "rows.csv", rows)])
    [path] = journal_paths(journal_folder(tmp_path / "t.duckdb"))
    text = journal_text(path)
    without = re.sub(rb',"sum":"[^"]{4}"}\n', b"}\n", text)
    names = journal_files.zstd.CompressionParameter
    options: dict[int, int] = {names.compression_level: 7, names.window_log: 23}
    assert len(text) - len(without) == 13 * text.count(b"\n")
    assert path.stat().st_size <= 1.05 * len(journal_files.zstd.compress(without, options=options))


def test_a_database_is_made_again_from_compressed_journals(plain: Path) -> None:
    compress(plain)
    db = plain.parent.with_name("b.duckdb")
    assert waiting_bytes(db) if db.exists() else True
    assert load_journals(db).rows == PLANNED
    assert (load_journals(db).rows, waiting_bytes(db)) == (0, 0)


@pytest.mark.slow
def test_what_was_loaded_of_the_text_is_not_loaded_again_from_its_compressed_form(plain: Path, text: bytes) -> None:
    db = plain.parent.with_name("b.duckdb")
    plain.write_bytes(text[: len(text) // 2])
    first = load_journals(db).rows
    plain.write_bytes(text)
    compress(plain)
    assert 0 < waiting_bytes(db) <= len(text)
    assert 0 < first < first + load_journals(db).rows == PLANNED


def test_what_only_a_compressed_journal_holds_counts_as_done(plain: Path, answered: Path) -> None:
    compress(plain)
    finals = read_finals(plain.parent.with_name("b.duckdb"), "drinks")
    ids = [row[0] for row in rows_in(answered, "SELECT trial_id FROM trials")]
    assert finals.among(ids) == b"\1" * PLANNED


def test_a_reader_that_saw_the_text_reads_on_in_its_compressed_form(plain: Path, text: bytes) -> None:
    seen = journal_paths(plain.parent)
    compress(plain)
    assert seen == [plain]
    assert journal_size(plain) == len(text)
    assert b"".join(data for _, data in whole_lines(plain, 0, 10_000)) == text
    with opened_journal(plain) as file:
        file.seek(1000)
        assert file.read(10) == text[1000:1010]


def test_both_forms_at_once_are_one_journal_and_end_as_one(plain: Path, text: bytes) -> None:
    packed = compress(plain)
    plain.write_bytes(text)
    assert journal_paths(plain.parent) == [plain]
    compress_finished(plain.parent)
    assert journal_paths(plain.parent) == [packed]
    assert journal_text(packed) == text


def test_a_compressed_form_that_is_not_the_text_takes_its_place_never(plain: Path, text: bytes) -> None:
    packed = compress(plain)
    packed.write_bytes(packed.read_bytes()[:-50])
    plain.write_bytes(text)
    compress_finished(plain.parent)
    assert journal_text(packed) == text


def test_a_full_disk_leaves_the_text(plain: Path, text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "onto_disk", full)
    compress_finished(plain.parent)
    assert plain.read_bytes() == text
    assert [path.name for path in plain.parent.iterdir()] == [plain.name]


def test_what_can_be_read_of_a_damaged_one_is_loaded_and_the_rest_reported(plain: Path, text: bytes) -> None:
    packed = compress(plain)
    data = packed.read_bytes()
    packed.write_bytes(data[:40] + bytes(200) + data[240:])
    report = load_journals(plain.parent.with_name("b.duckdb"))
    assert report.problems
    assert "Can't read all of the journal" in report.problems[0]
    (plain.parent / "none.jsonl.zst").write_bytes(b"not zstd")
    with pytest.raises(JournalError, match="Can't read"):
        journal_size(plain.parent / "none.jsonl.zst")


def test_a_plan_says_which_answers_a_damaged_journal_makes_it_ask_again(plain: Path, answered: Path) -> None:
    packed, db = compress(plain), plain.parent.with_name("b.duckdb")
    packed.write_bytes(packed.read_bytes()[: packed.stat().st_size // 2])
    words = ["--study", answered.parent / "study.toml", "--simulated", "--repetitions", REPEAT, "--dry-run"]
    lost = "Compressed file ended before the end-of-stream marker was reached. What is lost with it is asked, and paid"
    assert lost in run_collect(*words, "--db", db, code=0).stderr
    load_journals(answered)
    assert lost not in run_collect(*words, "--db", answered, code=0).stderr


def test_of_one_that_is_cut_off_all_but_the_last_block_is_read(tmp_path: Path) -> None:
    lines = [b'{"kind":"%s"}\n' % hashlib.sha256(str(n).encode()).hexdigest().encode() for n in range(20_000)]
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines))
    packed = compress(tmp_path / "a.jsonl")
    packed.write_bytes(packed.read_bytes()[: packed.stat().st_size // 2])
    read: list[bytes] = []
    with pytest.raises(JournalError, match="Can't read all"):
        read.extend(data for _, data in whole_lines(packed, 0, 32_000_000))
    assert b"".join(lines).startswith(b"".join(read))
    assert b"".join(read).count(b"\n") > 8_000


@pytest.mark.slow
def test_a_kill_while_it_compresses_loses_nothing(plain: Path, text: bytes) -> None:
    draw, big = random.Random(4), text * 150
    for _ in range(3):
        plain.write_bytes(big)
        process = subprocess.Popen([sys.executable, "-c", COMPRESS, str(plain)])
        while not list(plain.parent.glob(".*.part")) and process.poll() is None:
            time.sleep(0.001)
        time.sleep(draw.uniform(0, 0.2))
        process.send_signal(signal.SIGKILL)
        process.wait()
        [path] = journal_paths(plain.parent)
        assert journal_text(path) == big
        compress_finished(plain.parent)
        assert [p.name for p in plain.parent.iterdir()] == [f"{plain.name}.zst"]
        (plain.parent / f"{plain.name}.zst").unlink()


def test_nobody_compresses_while_another_collects(answered: Path) -> None:
    path = only_journal(answered)
    lock = FolderLock(journal_folder(answered))
    pack_journals(answered)
    assert path.exists()
    lock.release()
    pack_journals(answered)
    assert not path.exists()


@pytest.mark.slow
def test_a_line_that_nobody_can_have_written_costs_itself_and_no_memory(
    plain: Path, text: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = text.splitlines(keepends=True)
    longest = max(map(len, lines))
    monkeypatch.setattr(journal_files, "LONGEST_LINE", 2 * longest)
    monkeypatch.setattr(journal_loader, "CHUNK_BYTES", longest)
    plain.write_bytes(b"".join([*lines[:20], b'{"answer":"' + b"a" * 20 * longest + b'"}\n', *lines[20:]]))
    report = load_journals(plain.parent.with_name("b.duckdb"))
    assert report.rows == PLANNED
    [problem] = report.problems
    assert f"{plain.name}:21: " in problem
    assert "line of more than 200 MB" in problem


def test_a_folder_of_journals_that_is_a_link_is_told_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "a.duckdb.journal").symlink_to(tmp_path / "elsewhere")
    loaded = load_journals(tmp_path / "a.duckdb")
    assert "a.duckdb.journal: skipped with all journals in it, because it is a link" in str(loaded.problems)


@given(st.binary(min_size=1, max_size=60), st.integers(0, 10_000))
def test_a_flipped_bit_anywhere_in_a_line_is_noticed(inside: bytes, place: int) -> None:
    inside = inside.replace(b"\n", b" ")
    line = bytearray(with_sum(b'{"a":"' + inside + b'"}')[:-1])
    whole = bytes(line)
    line[place // 8 % len(line)] ^= 1 << place % 8
    other = with_sum(b'{"b":1}')[:-1]
    assert checked_lines([whole, other])[1] == {}
    assert checked_lines([bytes(line), other])[1] in ({0: WRONG}, {0: MISSING})


@given(st.lists(st.binary(max_size=30), max_size=6), st.integers(0, 10_000))
def test_a_text_is_divided_only_if_every_line_is_as_it_was_written(inside: list[bytes], place: int) -> None:
    texts = [b'{"kind":"%b"}' % text.replace(b"\n", b" ")[: 20 * (n % 2)] for n, text in enumerate(inside)]
    texts = [text if n % 2 else text.replace(b"kind", b"a") for n, text in enumerate(texts)]
    whole = b"".join(map(with_sum, texts))
    assert divided(whole, b'{"kind":') == (b"".join(map(with_sum, texts[::2])), texts[1::2])
    if whole:
        damaged = bytearray(whole)
        damaged[place % len(damaged)] ^= 1
        assert divided(bytes(damaged), b'{"kind":') is None


def test_a_line_without_its_checksum_is_not_believed_among_others() -> None:
    parsed = parse(encode(an_attempt(1)) + b'{"attempt_id":"x"}\n' + encode(an_attempt(2)))
    assert parsed.bad == [(1, MISSING)]
    assert parsed.attempts["attempt_id"].to_list() == ["run-1-1", "run-1-2"]


@pytest.mark.parametrize("packed", [False, True])
def test_of_a_damaged_journal_the_sound_lines_are_loaded(packed: bool, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with Journal(db, a_run()) as journal:
        journal.append_many(an_attempt(n) for n in range(50))
    path = journal.path
    path.write_bytes(path.read_bytes().replace(b'"run-1-7"', b'"run-1-8"', 1))
    if packed:
        compress(path)
    report = load_journals(db)
    assert report.rows == 49
    assert [WRONG in problem for problem in report.problems] == [True]


def test_lines_that_stand_twice_count_once(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    with Journal(db, a_run()) as journal:
        journal.append_many(an_attempt(n) for n in range(20))
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(b"".join([*lines, *lines[1:11]]))
    report = load_journals(db)
    assert report.rows == 20
    assert "10 lines left out" in " ".join(report.notes)


def test_a_journal_of_another_collector_counts_no_trial_again(tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    for run_id in ("run-1", "run-2"):
        attempts = [replace(an_attempt(n), run_id=run_id, attempt_id=f"{run_id}-{n}") for n in range(9)]
        lines = [encode({"kind": "run"} | asdict(replace(a_run(), run_id=run_id))), *map(encode, attempts)]
        journal_folder(db).mkdir(exist_ok=True)
        (journal_folder(db) / f"{run_id}.jsonl").write_bytes(b"".join(lines))
    report = load_journals(db)
    assert "9 attempts don't" in " ".join(report.notes)
