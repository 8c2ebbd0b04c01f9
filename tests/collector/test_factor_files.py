"""Files of factors as spreadsheets write them (capitals, blanks, semicolons, quotes, a column of the factor's name),
and factors of trials as views read them: lists of texts by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from slant.collector import collect, import_trials
from slant.collector.errors import StudyError, UsageError
from slant.collector.keep.export import export_trials
from slant.collector.plan.conversations import planned_prompts
from slant.collector.studies.catalogue import load_study
from tests.support.each_row import each_row
from tests.support.given import database, in_memory, insert
from tests.support.stored import rows_in

STUDY = """
name = "audit"
title = "An audit"
design = "factorial"
factors.name = { file = "names.csv" }
templates.plain = "{name} applies."
questions.rating = { text = "How suitable?", kind = "scale" }
models = [{ model = "gpt-6-luna", provider = "openai" }]
"""


def study_of(folder: Path, names: str) -> str:
    (folder / "names.csv").write_text(names, encoding="utf-8-sig")
    (folder / "study.toml").write_text(STUDY)
    return str(folder / "study.toml")


@pytest.mark.parametrize("header", ["Level;Gender;Home Town", "name;gender;home town", " LEVEL ; Gender;Home  Town"])
def test_a_header_is_known_in_capitals_with_blanks_and_by_the_factors_name(tmp_path: Path, header: str) -> None:
    factor = load_study(study_of(tmp_path, f"{header}\nZoë;f;Turku\nLi, Wei;m;Oulu\n")).data.factors[0]
    assert factor.names == ("name", "gender", "home_town")
    assert factor.values(1) == ("Li, Wei", "m", "Oulu")


def test_a_name_in_quotes_is_shown_with_them_and_found_again(tmp_path: Path) -> None:
    study = study_of(tmp_path, 'level,gender\n"Maria ""Mari"" Paz",f\nBo,m\n')
    loaded = load_study(study)
    shown = str(list(planned_prompts(loaded, loaded.models)))
    assert 'Maria "Mari" Paz applies.' in shown.replace("\\", "")
    (tmp_path / "rows.csv").write_text('model,name,answer\ngpt-6-luna,"Maria ""Mari"" Paz",5\n')
    assert import_trials(tmp_path / "t.duckdb", study, [tmp_path / "rows.csv"]).problems == []
    assert rows_in(tmp_path / "t.duckdb", "SELECT item, choice FROM trials") == [("Maria ”Mari” Paz", "5")]


def test_a_level_that_is_given_twice_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r'level "Ann" of the factor "name" of \S+, \[factors\] is given twice'):
        collect(tmp_path / "t.duckdb", study_of(tmp_path, "name,gender\nAnn,f\nAnn,f\n"), simulated=True)


def test_questions_in_turns_need_no_number_where_each_has_a_turn_of_its_own(tmp_path: Path) -> None:
    more = 'questions.pay = { text = "Pay?", kind = "number" }\ncrossing.questions = "in_turns"\nmodels'
    study = study_of(tmp_path, "name,gender\nAnn,f\nBo,m\n")
    Path(study).write_text(STUDY.replace("models", more))
    (tmp_path / "rows.csv").write_text("model,name,rating,pay\ngpt-6-luna,Ann,5,1 200\ngpt-6-luna,Bo,4,900\n")
    columns = ["test:answer=rating:pay"]
    assert import_trials(tmp_path / "t.duckdb", study, [tmp_path / "rows.csv"], columns=columns).problems == []
    rows = rows_in(tmp_path / "t.duckdb", "SELECT test, round, choice FROM trials WHERE item = 'Ann' ORDER BY round")
    assert rows == [("rating", 1, "5"), ("pay", 2, "1200")]


def test_a_file_with_a_column_for_each_question_is_told_how_to_name_them(tmp_path: Path) -> None:
    study = study_of(tmp_path, "name,gender\nAnn,f\nBo,m\n")
    (tmp_path / "rows.csv").write_text("model,name,rating\ngpt-6-luna,Ann,5\n")
    with pytest.raises(UsageError) as error:
        import_trials(tmp_path / "t.duckdb", study, [tmp_path / "rows.csv"])
    said = error.value.details[-1].removeprefix("Say what its columns are: --map ")
    assert import_trials(tmp_path / "t.duckdb", study, [tmp_path / "rows.csv"], columns=[said]).rows_imported == 1


LISTS = "SELECT factor_lists FROM trial_rows"


@each_row(
    ("factors", "lists"),
    [
        (r'{"words": ["a, b", "say \"no\"", "c:\\d", "two\nlines", "é", null, ""]}',
         {"words": ["a, b", 'say "no"', "c:\\d", "two\nlines", "é", None, ""]}),
        ('{"tier": "easy", "n": 3, "p": 0.50, "is_success": true, "persona": null, "order": []}',
         {"tier": ["easy"], "n": ["3"], "p": ["0.5"], "is_success": ["true"], "persona": [None], "order": []}),
        ('{"candidates": [["x", 1], ["y", 2]], "not_asked": {"ratings": 4}}',
         {"candidates": ['["x",1]', '["y",2]'], "not_asked": ['{"ratings":4}']}),
        ("{}", {}), (None, None), ("[1]", None), ("{not json", None), ("", None),
        ('{"deep": ' + "[" * 5_000 + "]" * 5_000 + "}", {"deep": ["[" * 4_999 + "]" * 4_999]}),
    ],
)  # fmt: skip
def test_factors_are_lists_of_texts_by_name(factors: str | None, lists: dict[str, list[str | None]] | None) -> None:
    with in_memory() as connection:
        insert(connection, [{"trial_id": "t1", "factors": factors}])
        assert connection.execute(LISTS).fetchall() == [(lists,)]


def test_files_have_factors_as_one_text(tmp_path: Path, db: Path) -> None:
    database(db, [{"factors": '{"tier": "easy"}'}])
    export_trials(db, out=tmp_path / "all.csv", view="all_trials")
    header, row = (tmp_path / "all.csv").read_text("utf-8").splitlines()[:2]
    assert "factor_lists" not in header.split(",")
    assert '{""tier"": ""easy""}' in row


@each_row(
    ("template", "question"),
    [
        ('"{name} asks for {pay}."', '"Give {it} to {name}?"'),
        ('{ file = "t.txt" }', '"Give {it} to {name}?"'),
        ('"{name} asks for {pay}."', '{ file = "q.txt" }'),
        ('"{profiles}"\nprofiles.count = 1\nprofiles.text = "{name} asks for {pay}."', '"Give {it} to {name}?"'),
    ],
)
def test_a_prompt_shows_properties_of_a_level(template: str, question: str, tmp_path: Path) -> None:
    study = study_of(tmp_path, 'level,pay,it\nAnn,"$1,000",her {pay}\nBo,$20,his\n')
    (tmp_path / "t.txt").write_text("{name} asks for {pay}.", "utf-8")
    (tmp_path / "q.txt").write_text("Give {it} to {name}?", "utf-8")
    text = STUDY.replace('"{name} applies."', template).replace('"How suitable?"', question)
    Path(study).write_text(text.replace('kind = "scale"', 'kind = "yes_no", answer = ""'), "utf-8")
    loaded = load_study(study)
    prompts = [one.text for one in planned_prompts(loaded, loaded.models)]
    assert sorted(prompts) == [
        "Ann asks for $1,000.\n\nGive her {pay} to Ann?", "Bo asks for $20.\n\nGive his to Bo?",
    ]  # fmt: skip
