"""Answers of people: what comes in by an allow-list, what is left out, and what is told in a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from slant.collector import import_trials
from slant.collector.errors import UsageError
from slant.collector.importing.people import importing
from slant.collector.importing.people.columns import milliseconds
from slant.collector.importing.writer import ImportReport
from slant.collector.keep.database import reading
from slant.collector.keep.journal import journal_folder
from slant.collector.keep.journal_files import journal_paths, opened_journal
from slant.collector.keep.journal_loader import load_journals
from slant.collector.view.trial_filter import TrialFilter
from tests.support.commands import run_collect
from tests.support.stored import rows_in

SAID = {"layout": "people", "consent": "informed, data may be shared", "origin": "a test"}
TRAITS = """
name = "traits"
title = "A questionnaire"
design = "factorial"
factors.item = ["I talk a lot", "I worry"]
templates.plain = "How much does this describe you? {item}"
questions.rating = { text = "Answer.", kind = "scale", max = 5, labels = { 1 = "not at all", 5 = "very" } }
models = [{ model = "gpt-6-luna", provider = "openai" }]
"""
ITEM_NAMES = ("I talk a lot", "I worry")
ITEMS = ("item:1=I talk a lot", "item:2=I worry")
QUALTRICS = """RecordedDate,IPAddress,ResponseId,RecipientEmail,LocationLatitude,Status,Q1,Q2,AGE,comment
When,Address,Id,Mail,Latitude,Status,I talk a lot,I worry,Your age,Anything else?
"{""ImportId"":""recordedDate""}","{""ImportId"":""ip""}",x,x,x,x,"{""ImportId"":""QID1""}",x,x,x
2025-01-01,192.168.0.7,R_1abc,ann@example.org,52.1234,IP Address,1,2,18-29,call me
2025-01-01,192.168.0.8,R_2abc,bob@example.org,52.1234,IP Address,5,,30-44,hello
2025-01-01,192.168.0.9,R_3abc,eve@example.org,52.1234,Survey Preview,5,1,30-44,hello
"""


def import_rows(folder: Path, text: str, name: str = "rows.csv", study: str = TRAITS, **options: Any) -> ImportReport:
    (folder / name).write_text(text)
    (folder / "study.toml").write_text(study)
    return import_trials(folder / "t.duckdb", str(folder / "study.toml"), [folder / name], **{**SAID, **options})


def rows_of(folder: Path, query: str) -> list[tuple[Any, ...]]:
    return rows_in(folder / "t.duckdb", query)


def everything_kept(folder: Path) -> bytes:
    """All bytes of the database and the text of its journals."""
    texts = [(folder / "t.duckdb").read_bytes()]
    for path in journal_paths(journal_folder(folder / "t.duckdb")):
        with opened_journal(path) as journal:
            texts.append(journal.read())
    return b"".join(texts)


def import_survey(folder: Path, **options: Any) -> ImportReport:
    named: dict[str, Any] = {"columns": ["item:answer=Q*"], "map_values": ITEMS, "person": ["age_group=AGE"]}
    return import_rows(folder, QUALTRICS, **{**named, **options})


@pytest.mark.slow
def test_a_survey_of_qualtrics_loses_its_headers_and_previews(tmp_path: Path) -> None:
    report = import_survey(tmp_path)
    assert (report.people, report.rows_imported, report.rows_without_answer, report.problems) == (2, 3, 1, [])
    rows = rows_of(tmp_path, "SELECT participant, item, rating, source FROM factorial_trials ORDER BY ALL")
    assert rows == [(1, "I talk a lot", 1, "human"), (1, "I worry", 2, "human"), (2, "I talk a lot", 5, "human")]


def test_what_is_left_out_is_listed_and_nowhere_kept(tmp_path: Path) -> None:
    report = import_survey(tmp_path)
    left = ("recordeddate", "ipaddress", "recipientemail", "locationlatitude", "status", "comment")
    assert report.left_out == left
    kept = everything_kept(tmp_path)
    assert b"18-29" in kept
    for word in (b"R_1abc", b"example.org", b"192.168", b"52.1234", b"call me", b"rows.csv"):
        assert word not in kept


def test_people_are_told_with_their_attributes_by_number(tmp_path: Path) -> None:
    import_survey(tmp_path)
    rows = rows_of(tmp_path, "SELECT participant, attributes FROM participants ORDER BY 1")
    assert rows == [(1, {"age_group": "18-29"}), (2, {"age_group": "30-44"})]
    assert rows_of(tmp_path, "SELECT source, consent, origin FROM runs") == [("human", *list(SAID.values())[1:])]


def test_the_viewer_shows_the_answers_of_one_person(tmp_path: Path) -> None:
    import_survey(tmp_path)
    with reading(tmp_path / "t.duckdb") as connection:
        rows = TrialFilter.of({"participant": "2"}).rows(connection).select("participant").fetchall()
    assert set(rows) == {(2,)}
    with pytest.raises(UsageError, match="participant"):
        TrialFilter.of({"participant": "ann"})


@pytest.mark.slow
def test_the_same_file_brings_nothing_twice_and_another_goes_on_numbering(tmp_path: Path) -> None:
    import_survey(tmp_path)
    again = import_survey(tmp_path)
    assert (again.rows_imported, again.people) == (0, 0)
    assert "1 file imported before" in again.warnings[0]
    more = "participant,item,answer\nx,I worry,4\n"
    import_rows(tmp_path, more, "more.csv")
    assert rows_of(tmp_path, "SELECT participant FROM trials WHERE answer = '4'") == [(3,)]
    files = [tmp_path / "rows.csv", tmp_path / "more.csv"]
    both = import_trials(tmp_path / "t.duckdb", str(tmp_path / "study.toml"), files, **SAID)
    assert both.warnings[0].startswith("2 files imported before")


@pytest.mark.slow
def test_a_lost_database_is_made_again_from_the_journal(tmp_path: Path) -> None:
    import_survey(tmp_path)
    query = "SELECT * EXCLUDE (latency_s) FROM trials ORDER BY trial_id"
    kept, told = rows_of(tmp_path, query), rows_of(tmp_path, "FROM participants ORDER BY participant")
    (tmp_path / "t.duckdb").unlink()
    load_journals(tmp_path / "t.duckdb")
    assert (rows_of(tmp_path, query), rows_of(tmp_path, "FROM participants ORDER BY participant")) == (kept, told)


@pytest.mark.slow
def test_a_whole_file_and_single_rows_are_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query = """SELECT trial_id, conversation_id, participant, item, answer, choice, position, response_time_ms, sequence
               FROM trials ORDER BY trial_id"""
    rows = ("b,I worry,4,650,1", "a,I worry,5,,1", "b,I talk a lot,NA,700,2", "b,I worry,1,800,3")
    text = "\n".join(["subject,item,response,rt,position", *rows, ""])
    (tmp_path / "whole").mkdir()
    (tmp_path / "rows").mkdir()
    whole = import_rows(tmp_path / "whole", text)
    monkeypatch.setattr(importing, "whole_answers", lambda *_: None)
    single = import_rows(tmp_path / "rows", text)
    assert rows_of(tmp_path / "whole", query) == rows_of(tmp_path / "rows", query)
    assert (whole.rows_imported, whole.rows_without_answer, whole.people) == (3, 1, 2)
    assert (single.rows_imported, single.warnings) == (3, whole.warnings)


@pytest.mark.parametrize(
    ("lacking", "sentence"), [("consent", "need the participants' consent"), ("origin", "need their origin")]
)
def test_consent_and_origin_are_asked_for(lacking: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=sentence):
        import_survey(tmp_path, **{lacking: None})
    assert not (tmp_path / "t.duckdb").exists()


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (["ann@example.org"], '"email" has an e-mail address, so nothing was imported'),
        (["2001:db8:85a3:0:0:8a2e"], '"email" has an IP address, so nothing was imported'),
        (["x" * 200], '"email" has texts of more than 100 characters'),
        ([f"P{number:05}" for number in range(60)], '"email" has 60 values among 60 people, which tells them apart'),
    ],
)
def test_a_column_that_leads_to_people_is_refused_before_anything_is_kept(
    cells: list[str], sentence: str, tmp_path: Path
) -> None:
    rows = "".join(f"{number},I worry,2,{cell}\n" for number, cell in enumerate(cells))
    with pytest.raises(UsageError, match=sentence):
        import_rows(tmp_path, f"participant,item,answer,email\n{rows}", person=["email"])
    assert not (tmp_path / "t.duckdb").exists()


@pytest.mark.parametrize(
    ("more", "rows", "sentence"),
    [
        ("", "1,I worry,2\n1,I worry,4", "a second answer of a participant to the same question"),
        (",age_group", "1,I worry,2,18-29\n1,I talk a lot,4,60+", "has another age_group of its participant than"),
        (",rt", "1,I worry,5,10\n2,I worry", "has 2 fields, but the first line names 4"),
        (
            "",
            "2,I worry,4\n1,I worry,write to a@example.org",
            "has an e-mail address in its answer, which is not stored",
        ),
    ],
)
def test_a_row_that_can_not_be_taken_is_told_and_is_no_missing_answer(
    more: str, rows: str, sentence: str, tmp_path: Path
) -> None:
    person = ["age_group"] if more == ",age_group" else []
    report = import_rows(tmp_path, f"participant,item,answer{more}\n{rows}\n", person=person)
    assert [(problem.line, sentence in problem.text) for problem in report.problems] == [(3, True)], report.problems
    assert (report.rows_imported, report.rows_without_answer) == (1, 0)
    assert b"example.org" not in everything_kept(tmp_path)


def test_data_of_jspsych_are_one_person_after_another(tmp_path: Path) -> None:
    trials = [
        {"trial_type": "html-button-response", "trial_index": 0, "rt": 900.5, "response": 1, "stimulus": "Welcome"},
        {"trial_type": "html-button-response", "trial_index": 1, "rt": 512, "answer": "4", "item": "I worry"},
    ]
    report = import_rows(tmp_path, json.dumps([trials, trials]), "data.json")
    assert (report.people, report.rows_imported) == (2, 2)
    rows = rows_of(tmp_path, "SELECT participant, answer, response_time_ms, latency_s FROM trials ORDER BY 1")
    assert rows == [(1, "4", 512.0, 0.512), (2, "4", 512.0, 0.512)]


def test_lines_of_json_and_parquet_are_read_alike(tmp_path: Path) -> None:
    import polars as pl

    frame = pl.DataFrame({"subject": ["a", "b"], "item": ["I worry"] * 2, "response": [1, 2], "rt": [800, None]})
    (tmp_path / "study.toml").write_text(TRAITS)
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.write_ndjson(tmp_path / "rows.jsonl")
    for name in ("parquet", "jsonl"):
        db = tmp_path / f"{name}.duckdb"
        report = import_trials(db, str(tmp_path / "study.toml"), [tmp_path / f"rows.{name}"], **SAID)
        assert (report.people, report.rows_imported, report.problems) == (2, 2, [])


def test_the_command_says_how_many_people_and_what_was_left_out(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("participant,item,answer,name\n1,I worry,2,Ann\n")
    (tmp_path / "study.toml").write_text(TRAITS)
    options = ("--layout", "people", "--consent", "yes", "--origin", "here", "--db", tmp_path / "t.duckdb")
    done = run_collect("import", "--study", tmp_path / "study.toml", *options, tmp_path / "rows.csv")
    assert "1 person, now numbered; the ids in the file are not stored." in done.stderr
    assert "Columns not imported, and not stored: name." in done.stderr


TRIALS = """session_id,block_number,block_pairing_definition,trial_number,trial_name,trial_error,trial_latency,agent
88,1,"Flowers,Insects",1,aster,0,640,Mozilla
88,3,"Flowers/Good,Insects/Bad",1,aster,0,712,Mozilla
88,4,"Flowers/Good,Insects/Bad",1,clover,1,1310,Mozilla
88,6,"Insects/Good,Flowers/Bad",1,aster,0,905,Mozilla
"""
PAIRED = ("condition:Flowers/Good,Insects/Bad=compatible", "condition:Insects/Good,Flowers/Bad=incompatible")


def import_latencies(folder: Path) -> ImportReport:
    (folder / "trials.csv").write_text(TRIALS)
    named: dict[str, Any] = {"columns": ["test==flowers_insects", "wording==1"], "map_values": PAIRED}
    return import_trials(folder / "t.duckdb", "rmiat", [folder / "trials.csv"], **SAID, **named)


@pytest.mark.slow
def test_trials_of_an_implicit_association_test_come_with_latency_error_and_phase(tmp_path: Path) -> None:
    report = import_latencies(tmp_path)
    assert (report.problems, report.left_out) == ([], ("agent",))
    assert "1 row of no trial of the study (consent, the person, training, a pause), not imported" in report.warnings
    query = """SELECT phase, condition, item, response_time_ms, is_error, choice = expected, participant
               FROM association_trials ORDER BY phase, condition"""
    assert rows_of(tmp_path, query) == [
        ("practice", "compatible", "aster", 712.0, False, True, 1),
        ("practice", "incompatible", "aster", 905.0, False, True, 1),
        ("test", "compatible", "clover", 1310.0, True, False, 1),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("more", ["", ",is_error"])  # a whole file at once, and row by row
def test_a_question_may_have_values_of_its_own(more: str, tmp_path: Path) -> None:
    values = ["answer:0=2", "answer:1=3", "answer[item=I worry]:0=5"]
    rows = "1,I talk a lot,0\n1,I worry,0\n2,I worry,1\n".replace("\n", "," * bool(more) + "\n")
    report = import_rows(tmp_path, f"participant,item,answer{more}\n{rows}", map_values=values)
    assert (report.rows_imported, report.problems) == (3, [])
    rated = rows_of(tmp_path, "SELECT participant, item, rating FROM factorial_trials ORDER BY ALL")
    assert rated == [(1, "I talk a lot", 2), (1, "I worry", 5), (2, "I worry", 3)]


@pytest.mark.slow
@pytest.mark.parametrize("more", ["", ",is_error"])  # a whole file at once, and row by row
def test_values_may_be_typed_by_the_files_own_name_and_keys_in_any_case(more: str, tmp_path: Path) -> None:
    rows = f"participant,item,Pressed{more}\n1,I talk a lot,E\n1,I worry,i\n2,I worry,x\n"
    rows = rows.replace(",E", ",E,").replace(",i\n", ",i,\n").replace(",x", ",x,") if more else rows
    for name in ("pressed", "PRESSED", "answer", "Answer"):
        (folder := tmp_path / f"as_{name}").mkdir()
        said = {"columns": ["answer=Pressed"], "map_values": [f"{name}:e=2", f"{name}:I=3"]}
        report = import_rows(folder, rows, **said)
        rated = rows_of(folder, "SELECT rating FROM factorial_trials WHERE participant = 1 ORDER BY item")
        assert (rated, report.rows_imported) == ([(2,), (3,)], 3), (name, report)
        assert any("without a --map-value: x" in warning for warning in report.warnings), (name, report.warnings)


@pytest.mark.parametrize("more", ["", ",answered_at"])  # a whole file at once, and row by row
def test_the_page_that_a_person_saw_is_kept_with_the_answer_and_its_time_if_it_is_named(
    more: str, tmp_path: Path
) -> None:
    rows = f"participant,item,answer,page_width_px,options_direction,finished{more}\n"
    rows += "".join(
        f"{n},I talk a lot,{n},{width},{how},2026-05-01 10:0{n}:00{',' * bool(more)}\n"
        for n, (width, how) in enumerate([(320, "column"), (1280, "row"), ("", "")], 1)
    )
    report = import_rows(tmp_path, rows, columns=["answered_at=finished"] if more else [])
    assert (report.rows_imported, report.problems) == (3, [])
    kept = rows_of(tmp_path, "SELECT page_width_px, options_direction FROM attempts ORDER BY participant")
    assert kept == [(320, "column"), (1280, "row"), (None, None)]
    times = rows_of(tmp_path, "SELECT count(done_at), CAST(min(done_at) AS VARCHAR) FROM attempts")
    assert times == ([(3, "2026-05-01 10:01:00")] if more else [(0, None)])
    bad = rows.replace("column", "sideways").replace("1,I talk", "4,I talk")
    assert "options_direction must be" in import_rows(tmp_path, bad, "b.csv").problems[0].text


def test_the_number_of_a_button_is_its_text_where_the_file_has_it(tmp_path: Path) -> None:
    """As jsPsych writes it with `save_trial_parameters: {choices: true}`."""
    rows = """trial_type,trial_index,response,choices,item,participant
html-button-response,1,1,"[""2"",""4""]",I worry,1
html-button-response,2,0,"[""3"",""4""]",I talk a lot,1
"""
    report = import_rows(tmp_path, rows)
    assert (report.rows_imported, report.problems) == (2, [])
    rated = rows_of(tmp_path, "SELECT item, rating FROM factorial_trials ORDER BY ALL")
    assert rated == [("I talk a lot", 3), ("I worry", 4)]


@pytest.mark.slow
def test_methods_say_where_answers_are_from_and_what_was_agreed_to(tmp_path: Path) -> None:
    import_survey(tmp_path)
    said = run_collect("methods", "--db", tmp_path / "t.duckdb").stdout
    assert "were given by people and imported" in said
    assert "Where they are from: a test. What the people agreed to: informed, data may be shared." in said
    assert "We queried" not in said
    assert "The model was" not in said


def test_a_person_of_whom_nothing_is_taken_gets_no_number(tmp_path: Path) -> None:
    rows = [{"trial_index": 0, "rt": 300, "response": " "}]
    rows += [{"trial_index": n, "subject": "s1", "item": item, "response": n} for n, item in enumerate(ITEM_NAMES, 1)]
    report = import_rows(tmp_path, json.dumps(rows), "rows.json", columns=["participant=subject"])
    assert (report.people, report.rows_imported) == (1, 2)
    assert rows_of(tmp_path, "SELECT DISTINCT participant FROM trials") == [(1,)]


def test_people_who_give_one_answer_to_two_wordings_have_answered_both(tmp_path: Path) -> None:
    study = TRAITS.replace("factors.item", "factors.trait").replace("{item}", "{trait}")
    study = study.replace("questions.rating", 'templates.other = "Are you so? {trait}"\nquestions.rating')
    rows = "participant,trait,template,answer\n1,I worry,plain,4\n2,I worry,other,4\n"
    report = import_rows(tmp_path, rows, study=study, columns=["template=template"])
    assert (report.rows_imported, report.problems) == (2, [])
    assert rows_of(tmp_path, "SELECT condition FROM trials ORDER BY participant") == [("plain",), ("other",)]


def test_a_column_with_the_names_of_templates_says_which_was_shown(tmp_path: Path) -> None:
    study = (
        'name = "traits"\ntitle = "Jobs"\ndesign = "factorial"\nfactors.name = ["Ann", "Bo"]\n'
        'templates = { plain = "{name} applies.", letter = "A letter of {name}." }\n'
        'questions.fit = { text = "Suitable?", kind = "yes_no" }\nmodels = [{ model = "m", provider = "local" }]\n'
    )
    import_rows(tmp_path, "participant,name,template,answer\n1,Ann,letter,yes\n1,Bo,plain,no\n", study=study)
    said = rows_of(tmp_path, "SELECT condition, answer FROM trials ORDER BY ALL")
    assert said == [("letter", "yes"), ("plain", "no")]
    [problem] = import_rows(tmp_path, "participant,name,answer\n1,Ann,yes\n", "b.csv", study).problems
    assert "nothing says which of the study's 2 was shown" in problem.text


PAY = """
name = "pay"
title = "t"
design = "factorial"
factors.name = ["Ann", "Jo"]
templates.plain = "{name} works."
questions.pay = { text = "What should {name} earn?", kind = "number" }
"""


def test_decimal_commas_of_people_are_decimals(tmp_path: Path) -> None:
    rows = "participant;name;answer;rt\n1;Ann;1,234;812,5\n1;Jo;2,5;1.033,25\n"
    lost = import_rows(tmp_path, rows, study=PAY)
    assert [problem.text.endswith("(with commas: --decimal ,)") for problem in lost.problems] == [True] * 2
    import_rows(tmp_path, rows, study=PAY, decimal=",")
    numbers = rows_of(tmp_path, "SELECT number FROM factorial_trials ORDER BY ALL")
    times = rows_of(tmp_path, "SELECT response_time_ms FROM trials ORDER BY ALL")
    assert (numbers, times) == ([(1.234,), (2.5,)], [(812.5,), (1033.25,)])
    assert [milliseconds(said, ",") for said in ("812.5", "1033.2512", "1.033", "0,5")] == [812.5, 1033.2512, 1033, 0.5]
    with pytest.raises(UsageError, match="no decimal mark"):
        import_rows(tmp_path, rows, study=PAY, decimal=";")
