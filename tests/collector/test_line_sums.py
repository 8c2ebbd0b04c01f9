"""A journal proves itself: what is not as it was written is named and not believed, and the rest is loaded."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector.keep.journal import Journal, encode, encode_attempt, journal_folder
from slant.collector.keep.journal_files import compress
from slant.collector.keep.journal_lines import parse
from slant.collector.keep.journal_loader import load_journals
from slant.collector.keep.line_sums import MISSING, WRONG, checked_lines, divided, with_sum
from tests.support.made import a_run, an_attempt


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
    parsed = parse(encode_attempt(an_attempt(1)) + b'{"attempt_id":"x"}\n' + encode_attempt(an_attempt(2)))
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
        lines = [encode({"kind": "run"} | asdict(replace(a_run(), run_id=run_id))), *map(encode_attempt, attempts)]
        journal_folder(db).mkdir(exist_ok=True)
        (journal_folder(db) / f"{run_id}.jsonl").write_bytes(b"".join(lines))
    report = load_journals(db)
    assert "9 attempts don't" in " ".join(report.notes)
