"""Databases of several collectors brought together: everything comes, nothing twice, nothing is mixed up."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from slant.collector import collect, merge
from slant.collector.errors import DatabaseError, JournalError, UsageError
from slant.collector.keep.journal import FolderLock, SideJournal, encode, journal_folder, write_whole
from slant.collector.keep.journal_files import checked_lines, compress, with_sum
from slant.collector.keep.journal_loader import load_journals
from slant.collector.progress.status import progress, warnings
from tests.support.commands import run_collect
from tests.support.journals import only_journal
from tests.support.stored import rows_in
from tests.support.tiny_game import write_game
from tests.support.tiny_study import write_tiny

REPEAT, N = 30, 3
PLANNED = 8 * REPEAT
COUNTED = "SELECT count(*), count(DISTINCT trial_id) FROM trials"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shards 1 to 3 of 3 (a.duckdb …), and the second one again, from another machine (again.duckdb)."""
    folder = tmp_path_factory.mktemp("shards")
    study = write_tiny(folder)
    for name, k in (("a", 1), ("b", 2), ("c", 3), ("again", 2)):
        collect(folder / f"{name}.duckdb", study, simulated=True, repetitions=REPEAT, shard=(k, N))
    return folder


@pytest.fixture
def shards(home: Path, tmp_path: Path) -> list[Path]:
    folder = Path(shutil.copytree(home, tmp_path / "home"))
    return [folder / f"{name}.duckdb" for name in "abc"]


def test_shards_merge_into_the_whole_and_merging_twice_is_once(shards: list[Path], tmp_path: Path) -> None:
    first = merge(tmp_path / "all.duckdb", shards)
    assert (first.copied, first.already_there, first.attempts_loaded, first.problems) == (3, 0, PLANNED, ())
    again = merge(tmp_path / "all.duckdb", [*shards, shards[0]])
    assert (again.copied, again.attempts_loaded, again.repeated) == (0, 0, 0)
    assert rows_in(tmp_path / "all.duckdb", COUNTED) == [(PLANNED, PLANNED)]
    study = shards[0].parent / "study.toml"
    report = collect(tmp_path / "all.duckdb", study, simulated=True, repetitions=REPEAT)
    assert (report.models[0]["already_done"], report.models[0]["asked"]) == (PLANNED, 0)
    assert progress(tmp_path / "all.duckdb").select("n_planned", "n_done").rows() == [(PLANNED, PLANNED)]


@pytest.mark.slow
def test_the_status_of_some_shards_shows_them_and_the_whole_and_of_all_the_whole(
    shards: list[Path], tmp_path: Path
) -> None:
    db = tmp_path / "all.duckdb"
    merge(db, shards[:2])
    (row,) = progress(db, "test").to_dicts()
    two = PLANNED * 2 // N
    assert (row["shard"], row["n_done"], row["n_planned"], row["n_whole"]) == ("1/3, 2/3", two, two, PLANNED)
    shown = run_collect("status", "--db", db)
    assert all(word in shown.output for word in ("1/3, 2/3", "n_whole", str(PLANNED)))
    merge(db, shards)
    (row,) = progress(db).to_dicts()
    assert (row["shard"], row["n_done"], row["n_planned"], row["n_whole"]) == (None, PLANNED, PLANNED, None)


@pytest.mark.slow
def test_a_source_that_has_grown_adds_what_is_new(shards: list[Path], tmp_path: Path) -> None:
    path = only_journal(shards[0])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    first = merge(tmp_path / "all.duckdb", shards[:1])
    assert 0 < first.attempts_loaded < PLANNED // N
    path.write_bytes(whole)
    second = merge(tmp_path / "all.duckdb", shards[:1])
    assert (second.copied, first.attempts_loaded + second.attempts_loaded) == (1, PLANNED // N)


@pytest.mark.slow
def test_a_trial_of_two_collectors_counts_once_from_the_first_by_time(shards: list[Path], tmp_path: Path) -> None:
    again = shards[0].parent / "again.duckdb"
    report = merge(tmp_path / "all.duckdb", [again, *shards])
    assert report.repeated == PLANNED // N
    assert [row["repeated"] for row in report.sources] == [PLANNED // N, 0, 0, 0]
    assert rows_in(tmp_path / "all.duckdb", COUNTED) == [(PLANNED, PLANNED)]
    of_run = "SELECT DISTINCT run_id FROM trials"
    assert not set(rows_in(again, of_run)) & set(rows_in(tmp_path / "all.duckdb", of_run))
    assert rows_in(
        tmp_path / "all.duckdb", "SELECT n_finals, n_counted, count(*) FROM duplicate_finals GROUP BY ALL"
    ) == [(2, 1, PLANNED // N)]
    assert any("answered for two collectors: 80 trials" in text for text in warnings(tmp_path / "all.duckdb"))


@pytest.mark.slow
def test_a_merged_database_made_again_from_its_journals_counts_the_same(shards: list[Path], tmp_path: Path) -> None:
    db = tmp_path / "all.duckdb"
    merge(db, [shards[1], shards[0].parent / "again.duckdb"])
    before = rows_in(db, "SELECT attempt_id FROM trials ORDER BY ALL")
    db.unlink()
    load_journals(db)
    assert rows_in(db, "SELECT attempt_id FROM trials ORDER BY ALL") == before


@pytest.mark.slow
def test_merges_of_merges_and_folders_without_a_database_hold_the_same(shards: list[Path], tmp_path: Path) -> None:
    again = shards[0].parent / "again.duckdb"
    merge(tmp_path / "one.duckdb", [shards[0], again])
    merge(tmp_path / "two.duckdb", [shards[1], shards[2]])
    for name in ("one", "two"):
        (tmp_path / f"{name}.duckdb").unlink()
    db = tmp_path / "all.duckdb"
    report = merge(db, [tmp_path / "one.duckdb", journal_folder(tmp_path / "two.duckdb")])
    assert (report.repeated, rows_in(db, COUNTED)) == (PLANNED // N, [(PLANNED, PLANNED)])


@pytest.mark.slow
def test_other_versions_and_seeds_are_taken_and_told_apart(shards: list[Path], tmp_path: Path) -> None:
    study = write_tiny(tmp_path, wordings=("Sort", "Put"))
    collect(tmp_path / "edited.duckdb", study, simulated=True, repetitions=REPEAT)
    collect(tmp_path / "seeded.duckdb", study, simulated=True, seed=7)
    report = merge(tmp_path / "all.duckdb", [shards[0], tmp_path / "edited.duckdb", tmp_path / "seeded.duckdb"])
    assert report.repeated == 0
    assert len({(row["study_version"], row["seed"]) for row in report.sources}) == 3
    assert rows_in(tmp_path / "all.duckdb", COUNTED) == [(PLANNED // N + PLANNED + 8,) * 2]


@pytest.mark.slow
def test_model_checks_and_second_counts_come_along(shards: list[Path], tmp_path: Path) -> None:
    [(attempt_id,)] = rows_in(shards[0], "SELECT min(attempt_id) FROM attempts")
    with SideJournal(shards[0], "recount") as journal:
        journal.append(
            {"kind": "recounts", "tokenizer": "words", "counted_at": "2026-11-01", "rows": [[attempt_id, 7]]}
        )
    check = {"kind": "check", "provider": "openai", "requested_model": "o3-mini", "settings": "{}", "verdict": "ok"}
    write_whole(journal_folder(shards[1]), "check-1.jsonl", encode(check))
    merge(tmp_path / "all.duckdb", shards)
    counted = "SELECT attempt_id, reasoning_tokens_recounted FROM attempts WHERE recount_tokenizer = 'words'"
    assert rows_in(tmp_path / "all.duckdb", counted) == [(attempt_id, 7)]
    assert rows_in(tmp_path / "all.duckdb", "SELECT verdict FROM checks") == [("ok",)]


def test_a_damaged_journal_costs_only_what_is_damaged(shards: list[Path], tmp_path: Path) -> None:
    plain = only_journal(shards[0])
    lines = plain.read_bytes().splitlines(True)
    plain.write_bytes(b"".join([*lines[:5], b'{"attempt_id": tor\n', *lines[6:-1], lines[-1][:30]]))
    packed = compress(only_journal(shards[1]))
    packed.write_bytes(packed.read_bytes()[:-200])
    words = ["merge", "--db", str(tmp_path / "all.duckdb"), *map(str, shards)]
    result = run_collect(*words, code=1)
    assert f"{plain.name}:6: can't be read" in result.output
    assert f'Can\'t read all of the journal "{packed}"' in result.output
    [(counted, _)] = rows_in(tmp_path / "all.duckdb", COUNTED)
    assert counted >= PLANNED // N * 2 - 1


@pytest.mark.slow
def test_a_journal_of_the_same_name_with_other_lines_is_left_out(shards: list[Path], tmp_path: Path) -> None:
    merge(tmp_path / "all.duckdb", shards[:1])
    path = only_journal(shards[0])
    written = checked_lines(path.read_bytes().splitlines())[0]
    others = [line.replace(b'"study":"drinks"', b'"study":"others"') for line in written if line]
    path.write_bytes(b"".join(map(with_sum, [*others, b'{"kind":"end"}'])))
    report = merge(tmp_path / "all.duckdb", shards[:1])
    assert "with other lines in it" in report.problems[0]
    assert rows_in(tmp_path / "all.duckdb", COUNTED) == [(PLANNED // N,) * 2]


def test_what_is_no_source_is_said_in_a_sentence(shards: list[Path], tmp_path: Path) -> None:
    (tmp_path / "alone.duckdb").write_bytes(shards[0].read_bytes())
    with pytest.raises(DatabaseError, match="has no journal next to it"):
        merge(tmp_path / "all.duckdb", [tmp_path / "alone.duckdb"])
    with pytest.raises(DatabaseError, match="is not there"):
        merge(tmp_path / "all.duckdb", [tmp_path / "none.duckdb"])
    with pytest.raises(UsageError, match="that all is merged into"):
        merge(shards[0], [shards[0]])
    with pytest.raises(UsageError, match="nothing to merge"):
        merge(tmp_path / "all.duckdb", [])


def test_a_merge_waits_for_no_other_but_says_who_is_there(shards: list[Path], tmp_path: Path) -> None:
    (tmp_path / "all.duckdb.journal").mkdir()
    lock = FolderLock(journal_folder(tmp_path / "all.duckdb"))
    with pytest.raises(JournalError, match="Another collector is writing"):
        merge(tmp_path / "all.duckdb", shards)
    lock.release()


@pytest.mark.slow
def test_a_game_of_two_collectors_is_counted_whole_from_one_of_them(tmp_path: Path) -> None:
    """One of them was killed in the middle of the game and went on, the other one played it in one go."""
    study = write_game(tmp_path)
    for name in ("late", "whole"):
        collect(tmp_path / f"{name}.duckdb", study, ["simulated/greedy"])
    path = only_journal(tmp_path / "late.duckdb")
    (tmp_path / "late.duckdb").unlink()
    lines = path.read_bytes().splitlines(True)
    begun = [line for line in lines if b'"kind"' in line[:8] or json.loads(line).get("round") in (1, 2)]
    path.write_bytes(b"".join(begun))
    collect(tmp_path / "late.duckdb", study, ["simulated/greedy"])
    [(runs,)] = rows_in(tmp_path / "late.duckdb", "SELECT count(DISTINCT run_id) FROM trials")
    assert runs == 2
    merge(tmp_path / "all.duckdb", [tmp_path / "late.duckdb", tmp_path / "whole.duckdb"])
    late = {run for (run,) in rows_in(tmp_path / "late.duckdb", "SELECT run_id FROM runs")}
    rows = rows_in(tmp_path / "all.duckdb", "SELECT conversation_id, run_id FROM trials")
    assert len(rows) == 24
    for game in {game for game, _ in rows}:
        assert len({run in late for other, run in rows if other == game}) == 1, "a game is mixed of two"


def flipped(data: bytes, share: float) -> bytes:
    """The bytes with one bit changed at that share of them, which makes no line end of it."""
    place = int(len(data) * share)
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


DAMAGE = {
    "a bit early": lambda data: flipped(data, 0.2),
    "a bit late": lambda data: flipped(data, 0.9),
    "cut off": lambda data: data[: len(data) // 2],
    "a bit, and cut off": lambda data: flipped(data, 0.5)[: int(len(data) * 0.9)],
}


@pytest.mark.slow
@pytest.mark.parametrize("is_packed", [False, True], ids=["text", "compressed"])
def test_a_damaged_shard_and_its_good_copy_give_all_answers_in_any_order(
    shards: list[Path], tmp_path: Path, is_packed: bool
) -> None:
    path = only_journal(shards[0])
    path = compress(path) if is_packed else path
    good, wrong = path.read_bytes(), []
    n_all = PLANNED // N
    copy = Path(shutil.copytree(path.parent, tmp_path / "copy.duckdb.journal")) / path.name
    for name, damage in DAMAGE.items():
        for is_first in (True, False):
            db = tmp_path / f"{name}{is_first}.duckdb"
            path.write_bytes(damage(good))
            order = [shards[0], tmp_path / "copy.duckdb"]
            first, second = (merge(db, [source]) for source in (order if is_first else order[::-1]))
            of_damaged, of_good = (first, second) if is_first else (second, first)
            found = rows_in(db, "SELECT count(*), count(DISTINCT attempt_id) FROM attempts")
            is_named = bool(of_damaged.problems) or (name == "cut off" and not is_packed)
            if found != [(n_all, n_all)] or not is_named or (of_damaged.copied and of_damaged.problems):
                wrong.append((name, is_first, found, of_damaged.problems, of_good.copied))
            if is_first and of_good.copied != 1:
                wrong.append((name, "the good copy is not counted as taken"))
    assert wrong == []
    assert copy.read_bytes() == good


@pytest.mark.slow
def test_two_damaged_copies_complete_each_other(shards: list[Path], tmp_path: Path) -> None:
    path = only_journal(shards[0])
    other = Path(shutil.copytree(path.parent, tmp_path / "copy.duckdb.journal")) / path.name
    other.write_bytes(flipped(path.read_bytes(), 0.8))
    path.write_bytes(flipped(path.read_bytes(), 0.3))
    merge(tmp_path / "all.duckdb", [shards[0], tmp_path / "copy.duckdb"])
    assert rows_in(tmp_path / "all.duckdb", COUNTED) == [(PLANNED // N, PLANNED // N)]


NO_MERGES = (b"[]", b"{}", b'{"kind":"merge"}', b"null", b"[" * 100_000, b'{"a":' * 5000, b"\xff\xfe", b"",
             b'{"kind":"merge","lineage":[],"source":1,"merged_at":"x","runs":{}}',
             b'{"kind":"merge","lineage":"l","source":"s","merged_at":"2026-11-01","runs":[1,{}]}')  # fmt: skip


@pytest.mark.slow
def test_a_strangers_record_of_a_merge_is_a_sentence_and_blocks_no_merge(shards: list[Path], tmp_path: Path) -> None:
    for number, line in enumerate(NO_MERGES):
        (journal_folder(shards[0]) / f"merge-2026-{number}.jsonl").write_bytes(line + b"\n")
    report = merge(tmp_path / "all.duckdb", shards)
    assert rows_in(tmp_path / "all.duckdb", COUNTED) == [(PLANNED, PLANNED)]
    assert sum("merge-2026-" in problem for problem in report.problems) >= len(NO_MERGES) - 1
    assert merge(tmp_path / "all.duckdb", shards).attempts_loaded == 0
