"""Journals of strangers: a line that can't be read costs itself and is reported, whatever is in it."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

import pytest

from slant import analysis
from slant.collector.errors import SlantError
from slant.collector.keep.journal import encode, journal_folder
from slant.collector.keep.journal_files import with_sum
from slant.collector.keep.journal_loader import load_journals
from slant.collector.studies.stored_texts import kept_study
from tests.hostile.journals import KEPT, REFUSED
from tests.support.made import a_run, an_attempt
from tests.support.stored import rows_in

RUN = encode({"kind": "run"} | asdict(a_run()))


def loaded(folder: Path, *lines: bytes, name: str = "run-1.jsonl") -> tuple[Path, list[str]]:
    db = folder / "a.duckdb"
    journal_folder(db).mkdir()
    (journal_folder(db) / name).write_bytes(b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines))
    return db, load_journals(db).problems


def test_each_bad_line_is_reported_with_its_number_and_every_good_one_is_kept(tmp_path: Path) -> None:
    good = [encode(an_attempt(n)) for n in (1, 2)]
    signed = [with_sum(line) if line.endswith(b"}") else line for line in (*REFUSED.values(), *KEPT.values())]
    db, problems = loaded(tmp_path, RUN, good[0], *signed, good[1])
    told = [int(match[1]) for problem in problems if (match := re.search(r"\.jsonl:(\d+): ", problem))]
    names = dict(enumerate(REFUSED, start=3))
    assert [names.get(number, number) for number in told] == list(REFUSED)
    rows = rows_in(db, "SELECT attempt_id, answer FROM attempts ORDER BY ALL")
    assert [name for name, _ in rows] == ["run-1-1", "run-1-2", *(f"run-1-{n}" for n in range(20, 27))]
    assert dict(rows)["run-1-26"] == "a\ufffdb"
    assert analysis.open_trials(db, view="trials").height == 2 + len(KEPT)


@pytest.mark.slow
@pytest.mark.parametrize("file", ["../../evil.toml", "/etc/evil.toml", "a\\b.toml", "C:x.toml", "x.txt"])
@pytest.mark.usefixtures("own_cache")
def test_the_text_of_a_study_in_a_journal_is_written_nowhere_else(file: str, tmp_path: Path) -> None:
    kept = {"study": "s", "study_version": "v", "text_id": "x", "kept_at": "2026-01-01", "contents": ["c"]}
    db, problems = loaded(tmp_path, RUN, encode({"kind": "study", **kept, "files": [[file, "name = 'x'"]]}))
    assert problems == []
    with pytest.raises(SlantError, match="can't be read"):
        kept_study("s", db)
    assert [path for path in tmp_path.rglob("*") if path.suffix in (".toml", ".txt")] == []


def test_a_journal_under_another_name_is_left_out(tmp_path: Path) -> None:
    db, problems = loaded(tmp_path, RUN, encode(an_attempt(1)), name="run-9.jsonl")
    assert "is a copy of another journal" in problems[0]
    with pytest.raises(SlantError):
        analysis.open_trials(db)
