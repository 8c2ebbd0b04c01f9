"""Word lists of strangers: a study is made of them, or a sentence says why not, at once and with nothing written. Files
of people's answers with more in them than was asked for: nothing of that is kept, and a sentence says why."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from slant.collector import import_trials
from slant.collector.errors import UsageError
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import journal_paths, opened_journal
from slant.collector.studies.catalogue import load_variants
from slant.collector.studies.new_study import write_new_study
from tests.hostile.lists import LISTS_OF_STRANGERS, HostileLists, write_lists
from tests.hostile.people import CANARY, FILES, PeopleFile

MOST_S = 1.0


@pytest.mark.parametrize("hostile", LISTS_OF_STRANGERS, ids=lambda hostile: hostile.name)
def test_a_study_is_made_of_them_or_a_sentence_says_why_not(hostile: HostileLists, tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    write_lists(tmp_path / "lists")
    hostile.become(tmp_path / "lists")
    begun, new = time.process_time(), tmp_path / "new"
    if hostile.sentence is None:
        paths = write_new_study("mine", hostile.design, new, tmp_path / "lists")
        assert load_variants(paths[0])
    else:
        with pytest.raises(UsageError) as refused:
            write_new_study("mine", hostile.design, new, tmp_path / "lists")
        assert hostile.sentence in str(refused.value)
        assert not new.exists()
    assert time.process_time() - begun < MOST_S


def test_their_texts_keep_the_word_that_our_template_replaces(tmp_path: Path) -> None:
    write_lists(tmp_path)
    (tmp_path / "prompts.csv").write_text((tmp_path / "prompts.csv").read_text().replace("Pair", "STUDY: pair"))
    write_new_study("mine", "pairing", tmp_path / "new", tmp_path)
    assert "STUDY: pair" in (tmp_path / "new" / "wordings.csv").read_text()
    assert 'name = "mine"' in (tmp_path / "new" / "study.toml").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("told", ["nan", "inf", "1e400", "x", "1_0"])
def test_a_coding_of_theirs_that_is_no_number_costs_its_row_only(told: str, tmp_path: Path) -> None:
    write_lists(tmp_path)
    study = write_new_study("mine", "decision", tmp_path / "new", tmp_path)[0]
    head = "dataset,variation,row,response,decision_bias,iat_bias\n"
    (tmp_path / "answers.csv").write_text(f"{head}age,v1,0,White leads.,1,{told}\nage,v1,1,White leads.,1,0.5\n")
    file, db = tmp_path / "answers.csv", tmp_path / "a.duckdb"
    report = import_trials(db, str(study), [file], "openai/gpt-4", "bai", "chained")
    assert report.rows_imported == 1
    assert ["iat_bias must be a number" in str(problem) for problem in report.problems] == [True]


STUDY = """
name = "drinks"
title = "Drinks"
design = "factorial"
factors.item = ["tea", "milk"]
templates.plain = "Do you like {item}?"
questions.rating = { text = "Answer.", kind = "scale", max = 5 }
models = [{ model = "gpt-6-luna", provider = "openai" }]
"""


def everything_kept(db: Path) -> bytes:
    texts = [db.read_bytes()] if db.exists() else []
    for path in journal_paths(journal_folder(db)):
        with opened_journal(path) as journal:
            texts.append(journal.read())
    return b"".join(texts)


@pytest.mark.slow
@pytest.mark.parametrize("hostile", FILES, ids=lambda hostile: hostile.name)
def test_nothing_that_was_not_asked_for_is_kept(hostile: PeopleFile, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    file, db = tmp_path / hostile.file, tmp_path / "t.duckdb"
    file.write_bytes(hostile.text.encode("utf-8", "surrogateescape"))
    said = {"consent": "informed", "origin": "a stranger", "person": list(hostile.person)}
    if hostile.refusal:
        with pytest.raises(UsageError, match=hostile.refusal):
            import_trials(db, str(tmp_path / "study.toml"), [file], layout="people", **said)
    else:
        report = import_trials(db, str(tmp_path / "study.toml"), [file], layout="people", **said)
        assert [hostile.problem in problem.text for problem in report.problems] == [True] * bool(hostile.problem)
        assert not any(CANARY in problem.text for problem in report.problems)
    assert CANARY.encode() not in everything_kept(db)
