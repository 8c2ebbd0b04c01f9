"""What people wrote in their own words leaves a database only if it is asked for."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from slant.analysis import seal
from slant.collector import import_trials
from slant.collector.keep.anonymous import stand_in, without_texts_of_people
from slant.collector.view.bundle import write_bundle

STUDY = """
name = "traits"
title = "A questionnaire"
design = "factorial"
factors.item = ["I talk a lot", "I worry"]
templates.plain = "How much does this describe you? {item}"
questions.rating = { text = "Answer.", kind = "scale", max = 5 }
questions.why = { text = "Say why.", kind = "text" }
models = [{ model = "gpt-6-luna", provider = "openai" }]
"""
SAID = {"layout": "people", "consent": "informed", "origin": "a test"}
WHY = "Since my sister moved to Oslo"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "rows.csv").write_text(f"participant,test,item,answer\n1,rating,I worry,4\n1,why,I worry,{WHY}\n")
    report = import_trials(tmp_path / "t.duckdb", str(tmp_path / "study.toml"), [tmp_path / "rows.csv"], **SAID)
    assert (report.rows_imported, report.problems) == (2, [])
    return tmp_path / "t.duckdb"


def texts_in(archive: Path) -> bytes:
    with zipfile.ZipFile(archive) as packed:
        return b"".join(packed.read(name) for name in packed.namelist())


@pytest.mark.slow
def test_a_seal_has_choices_and_numbers_of_people_and_no_text(db: Path, tmp_path: Path) -> None:
    seal(db, out=tmp_path / "out.zip", with_r=False)
    sealed = texts_in(tmp_path / "out.zip")
    assert WHY.encode() not in sealed
    assert stand_in(WHY).encode() in sealed
    assert b"the texts of people" in sealed
    assert b'"answer":"4"' in sealed


@pytest.mark.slow
def test_a_seal_has_texts_of_people_if_they_are_asked_for(db: Path, tmp_path: Path) -> None:
    seal(db, out=tmp_path / "out.zip", with_r=False, people_texts=True)
    assert WHY.encode() in texts_in(tmp_path / "out.zip")


@pytest.mark.slow
@pytest.mark.parametrize("is_asked_for", [False, True])
def test_a_bundle_has_texts_of_people_only_if_they_are_asked_for(db: Path, tmp_path: Path, is_asked_for: bool) -> None:
    write_bundle(db, tmp_path / "pages", "", people_texts=is_asked_for)
    pages = b"".join(path.read_bytes() for path in (tmp_path / "pages").rglob("*") if path.suffix in (".html", ".csv"))
    assert (WHY.encode() in pages) is is_asked_for
    assert b"answers: people gave them, no model." in pages


def test_what_a_model_wrote_and_what_a_person_chose_stay_as_they_are() -> None:
    of_model = {"source": "collected", "answer": "I can say why", "choice": None}
    chosen = {"source": "human", "answer": "Pleasant", "choice": "Pleasant", "option_a": "Pleasant"}
    assert [without_texts_of_people(row) for row in (of_model, chosen)] == [of_model, chosen]
