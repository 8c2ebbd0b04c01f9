"""Word lists of strangers: a study is made of them, or a sentence says why not, at once and with nothing written."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from slant.collector import import_trials
from slant.collector.errors import UsageError
from slant.collector.studies.catalogue import load_variants
from slant.collector.studies.new_study import write_new_study
from tests.hostile.lists import LISTS_OF_STRANGERS, HostileLists, write_lists

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
