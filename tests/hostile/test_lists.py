"""Word lists of strangers: a study is made of them, or a sentence says why not, at once and with nothing written."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

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
