"""People's rows of a design that reads texts are read as a model's are: the same answers have the same readings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from slant.analysis.rows.views import rows_of_study
from slant.collector import collect, import_trials
from slant.collector.importing.writer import ImportReport
from slant.collector.keep.database import reading
from slant.collector.keep.frames import frame_of
from slant.collector.studies.new_study import write_new_study
from tests.support.stored import rows_in

SAID: dict[str, Any] = {"layout": "people", "consent": "informed", "origin": "a test"}
ASKED = ("test", "condition", "item", "wording", "answer")
OF_RUNS = (
    "source", "run_id", "trial_id", "conversation", "model", "model_label", "model_no", "participant", "repetition",
    "position", "seed", "batch_id",
)  # fmt: skip


def view_rows(db: Path, view: str) -> pl.DataFrame:
    with reading(db) as connection:
        rows = frame_of(connection.view(view))
    varying = ("tokens", "latency", "cost", "served", "reasoning", "token_source", "response_time")
    shared = [name for name in rows.columns if name not in OF_RUNS and not name.startswith(varying)]
    return rows.select(shared).sort([name for name in ASKED if name in shared], nulls_last=True)


@pytest.mark.slow
def test_pairings_of_people_are_read_as_those_of_a_model(tmp_path: Path) -> None:
    """Only which group a prompt named first is not known of people."""
    study, view = "word_association", "pairing_trials"
    collect(tmp_path / "m.duckdb", study, ["simulated/gpt-4o"], pilot=5, yes=True)
    with reading(tmp_path / "m.duckdb") as connection:
        answered = frame_of(connection.table("attempts").filter("outcome = 'answered'"))
    rows = answered.select(ASKED)
    rows.with_columns(participant=pl.lit("ann")).write_csv(tmp_path / "rows.csv")
    report = import_trials(tmp_path / "p.duckdb", study, [tmp_path / "rows.csv"], **SAID)
    assert [problem.text for problem in report.problems] == []
    assert (report.people, report.rows_imported) == (1, rows.height)
    models, people = (view_rows(tmp_path / name, view) for name in ("m.duckdb", "p.duckdb"))
    models = models.filter(pl.col("answer").is_in(rows["answer"].to_list()))
    assert people.height == models.height > 0
    differing = [name for name in models.columns if not people[name].equals(models[name], null_equal=True)]
    assert differing == ["first_group"]


def of_people(folder: Path, study: str, rows: str, **options: Any) -> ImportReport:
    (folder / "rows.csv").write_text(rows)
    return import_trials(folder / "p.duckdb", study, [folder / "rows.csv"], **{**SAID, **options})


@pytest.fixture
def workshops(tmp_path: Path) -> str:
    """The study of the template: men and women, leading and caring, in two wordings."""
    return str(write_new_study("dec", "decision", tmp_path / "dec")[0])


def decided(folder: Path) -> list[tuple[object, ...]]:
    columns = "participant, group_a, group_b, word_a, word_b, first_group, outcome, choice, decision_bias"
    with reading(folder / "p.duckdb") as connection:
        return connection.sql(f"SELECT {columns} FROM decision_trials ORDER BY participant").fetchall()  # noqa: S608


def test_decisions_of_people_are_read_with_what_each_row_says_was_shown(tmp_path: Path, workshops: str) -> None:
    rows = """participant,wording,option_a,option_b,word_a,word_b,first_group,asked,answer
x,1,Martin,Ruth,budgets,wellbeing,,,"Ruth should lead the one on budgets, Martin the one on wellbeing"
y,1,Clara,Peter,teamwork,budgets,Clara,,"Peter: budgets; Clara: teamwork"
z,2,Peter,Clara,budgets,teamwork,,Budgets,clara.
u,2,Peter,Clara,budgets,teamwork,,,Clara
v,2,Peter,Clara,budgets,teamwork,,,I'd rather not say
"""
    assert of_people(tmp_path, workshops, rows).problems == []
    assert decided(tmp_path) == [
        (1, "Martin", "Ruth", "budgets", "wellbeing", None, "answered", "Martin", 0),
        (2, "Peter", "Clara", "budgets", "teamwork", "b", "answered", "Clara", 1),
        (3, "Peter", "Clara", "budgets", "teamwork", None, "answered", "Peter", 0),
        (4, "Peter", "Clara", "budgets", "teamwork", None, "malformed", None, None),  # gets which of the two?
        (5, "Peter", "Clara", "budgets", "teamwork", None, "refused", None, None),
    ]


@pytest.mark.slow
def test_decisions_of_people_about_a_draw_have_all_columns_of_a_models(tmp_path: Path, workshops: str) -> None:
    collect(tmp_path / "m.duckdb", workshops, ["simulated/gpt-6-luna"], variant="one_message")
    models = view_rows(tmp_path / "m.duckdb", "decision_trials").filter(outcome="answered")
    models.select(*ASKED).with_columns(participant=pl.lit("ann")).write_csv(tmp_path / "rows.csv")
    said = {**SAID, "variant": "one_message"}
    report = import_trials(tmp_path / "p.duckdb", workshops, [tmp_path / "rows.csv"], **said)
    assert (report.rows_imported, report.problems) == (models.height, [])
    people = view_rows(tmp_path / "p.duckdb", "decision_trials")
    assert [name for name in models.columns if not people[name].equals(models[name], null_equal=True)] == []


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ("1,Peter,Martin,,", 'has "Peter" and "Martin" as two of one list'),
        ("1,Peter,Clara,cooking,Clara", 'asked for "cooking", which is not among the words of workshops'),
        ("7,Peter,Clara,,", "must say which wording of workshops was shown, one of 1 (colleagues), 2 (neighbours)"),
        ("1,Peter,,,", "says neither which two people were shown"),
    ],
)
def test_a_decision_that_does_not_say_what_was_shown_is_a_sentence(
    tmp_path: Path, workshops: str, cells: str, sentence: str
) -> None:
    report = of_people(tmp_path, workshops, f"participant,wording,option_a,option_b,asked,answer\nx,{cells}\n")
    assert [problem.line for problem in report.problems] == [2]
    assert sentence in report.problems[0].text


def test_each_person_who_codes_is_a_coder_and_the_item_alone_says_which_answer(tmp_path: Path) -> None:
    study = str(write_new_study("again", "coding", tmp_path / "again", start="two_options")[0])
    items = pl.read_csv(tmp_path / "again" / "texts.csv")["item"][:2]
    rows = "".join(f"{who},{item},{answer}\n" for item in items for who, answer in (("x", "1"), ("y", "neither")))
    report = of_people(tmp_path, study, f"coder,item,answer\n{rows}", columns=["participant=coder"])
    assert (report.rows_imported, report.problems) == (4, [])
    with reading(tmp_path / "p.duckdb") as connection:
        coded = connection.sql("SELECT DISTINCT coder, second_coding = 'neither' FROM coding_answer_rows ORDER BY ALL")
        assert coded.fetchall() == [("people 1", False), ("people 2", True)]


def test_agreement_is_shown_of_the_study_that_codes_and_of_the_coded_one() -> None:
    frame = pl.DataFrame({"study": ["a", "b"], "coding_study": ["c", "d"]})
    assert rows_of_study(frame, "c").rows() == rows_of_study(frame, "a").rows() == [("a", "c")]


def test_a_conjoint_s_own_columns_choice_and_place_are_neither_the_answer_nor_the_profile_s_place(
    tmp_path: Path,
) -> None:
    write_new_study("flats", "factorial", tmp_path / "flats", start="conjoint")
    head = "person,task,rent,rooms,place,way,choice,rating\n"
    rows = "p1,1,500,one room,in the centre,on foot,1,5\np1,1,650,two rooms,in a village,by bus,0,3\n"
    (tmp_path / "rows.csv").write_text(head + rows, "utf-8")
    report = import_trials(tmp_path / "a.duckdb", str(tmp_path / "flats"), [tmp_path / "rows.csv"], **SAID)
    assert report.problems == []
    query = """SELECT question, position, coalesce(chosen, rating), attributes['place']
               FROM factorial_profiles ORDER BY ALL"""
    assert rows_in(tmp_path / "a.duckdb", query) == [
        ("choice", 1, 1, "in the centre"), ("choice", 2, 0, "in a village"),
        ("rating", 1, 5, "in the centre"), ("rating", 2, 3, "in a village"),
    ]  # fmt: skip
