"""An edit of a study: what it asks again, what it leaves as it was, and how that is said before anything is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slant.collector import collect
from slant.collector.ask.reading_again import measure_answers, read_by, read_if_edited
from slant.collector.errors import DatabaseWriteError, StudyError, UnknownNameError
from slant.collector.keep.database import showing, writing
from slant.collector.keep.journal import SideJournal
from slant.collector.keep.journal_loader import load_journals
from slant.collector.plan.conversations import plan
from slant.collector.studies.catalogue import Study, load_study
from slant.collector.studies.stored_texts import KeptText, kept_text, text_differences, text_id, written
from tests.support.commands import run_analyze, run_collect
from tests.support.local_server import LocalServer, error
from tests.support.stored import rows_in
from tests.support.tiny_game import GAME
from tests.support.tiny_study import TEXTS, WORDINGS, write_tiny

TWO = WORDINGS + '2,"Where does ""{word}"" go: [{category_1}, {category_2}]?"\n'
PRICE = """[[prices]]
provider = "local"
model = "small"
input = 1000.0
output = 1000.0
date = 2026-01-01
source = "mine"
"""


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return write_tiny(tmp_path, wordings=(WORDINGS, TWO))


@pytest.fixture
def asked(study: Path) -> Path:
    """A database with all 16 answers of a study, collected from a server on loopback."""
    db = study.with_name("a.duckdb")
    with LocalServer() as server:
        assert collect(db, study, ["local/small"], base_url=server.base_url, concurrency=4).is_complete
    return db


async def unavailable(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    return error(503)


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")


def ids(study: Study) -> list[str]:
    return [trial.trial_id for one in plan(study, study.models[0]) for trial in one.trials]


def dry(study: str | Path, db: Path, *more: str) -> str:
    words = ["--study", str(study), "--model", "local/small", "--base-url", "http://127.0.0.1:9", "--dry-run", *more]
    result = run_collect(*words, "--db", db, code=0)
    return result.stderr


def versions(db: Path) -> list[tuple[str, int]]:
    return rows_in(db, "SELECT study_version, count(*) FROM trials GROUP BY ALL ORDER BY ALL")


HARMLESS = [
    ("study.toml", 'label = "Tea/Coffee"', 'label = "Leaves and beans"'),
    ("study.toml", 'title = "Tea and coffee"', 'title = "Drinks"'),
    ("study.toml", '"tokens ~ (1 | wording)"', '"log(tokens) ~ (1 | wording)"'),
    ("study.toml", "[fits.lme4]", '[[models]]\nmodel = "large"\nprovider = "local"\nframe = "plain"\n\n[fits.lme4]'),
    ("study.toml", "[variants.balanced", '[variants.turned.prompt]\noption_order = "balanced"\n\n[variants.balanced'),
    ("stimuli.csv", "group_a,Tea,oolong\n", "group_a,Tea,oolong \n"),
]


@pytest.mark.parametrize(("file", "old", "new"), HARMLESS)
def test_an_edit_that_changes_no_prompt_leaves_every_answer_where_it_is(
    study: Path, file: str, old: str, new: str
) -> None:
    before = ids(load_study(study))
    edit(study.with_name(file), old, new)
    assert ids(load_study(study)) == before


def test_a_variant_more_and_more_games_leave_the_games_that_were_played(tmp_path: Path) -> None:
    file = tmp_path / "posts.toml"
    file.write_text(GAME, "utf-8")
    before = ids(load_study(file))
    file.write_text(GAME.replace("games = 3", "games = 5") + "\n[variants.harder]\nsuccess = 0.2\n", "utf-8")
    assert ids(load_study(file))[: len(before)] == before
    file.write_text(GAME.replace("Name one of", "Choose one of"), "utf-8")
    assert not set(ids(load_study(file))) & set(before)


@pytest.mark.slow
def test_a_changed_comma_asks_its_own_wording_again_and_no_other(study: Path, asked: Path) -> None:
    edit(study.with_name("wordings.csv"), "go:", "go,")
    said = dry(study, asked)
    old, new = versions(asked)[0][0], load_study(study).version
    assert f"This is version {new} of drinks; 16 answers of {old} are here. Different: wordings.csv 2. " in said
    assert "8 trials would be asked again" in said
    with LocalServer() as server, pytest.warns(UserWarning, match="8 trials would be asked again"):
        report = collect(asked, study, ["local/small"], base_url=server.base_url)
    assert (report.models[0]["already_done"], report.models[0]["asked"]) == (8, 8)
    assert sorted(versions(asked)) == sorted([(old, 8), (new, 16)])


@pytest.mark.slow
def test_what_would_be_asked_again_has_its_price_before_anything_is_sent(study: Path, asked: Path) -> None:
    prices = study.with_name("prices.toml")
    prices.write_text(PRICE, "utf-8")
    edit(study.with_name("wordings.csv"), "go:", "go,")
    assert "8 trials would be asked again, about $1.39." in dry(study, asked, "--prices", str(prices))


@pytest.mark.slow
def test_other_settings_are_said_before_anything_is_asked_twice(study: Path, asked: Path) -> None:
    edit(study, 'provider = "local"\nframe', 'provider = "local"\nsettings = { temperature = 0.2 }\nframe')
    said = dry(study, asked)
    assert 'asked with the settings {}; now they are {"temperature": 0.2}' in said
    assert "16 trials would be asked again" in said


@pytest.mark.slow
def test_another_seed_is_said_and_a_study_as_it_was_says_nothing(study: Path, asked: Path) -> None:
    assert "asked again" not in dry(study, asked)
    assert "small has answers here with the seed 0; now it is 5. 16 trials would be asked again" in dry(
        study, asked, "--seed", "5"
    )


@pytest.mark.slow
def test_a_study_needs_no_file_once_a_database_has_it(study: Path, asked: Path) -> None:
    version = load_study(study).version
    for name in TEXTS:
        study.with_name(name).unlink()
    its = load_study("drinks", db=asked)
    assert (its.version, its.as_typed) == (version, "drinks")
    assert "asked again" not in dry("drinks", asked)
    with pytest.raises(UnknownNameError, match="drinks"):
        load_study("drink", db=asked)


def test_a_text_of_a_database_is_read_once_and_a_file_of_a_person_whenever_it_is_asked_for(
    asked: Path, tmp_path: Path
) -> None:
    first, second = (load_study("drinks", db=asked) for _ in range(2))
    assert first is second
    (own_folder := tmp_path / "slant-study-of-mine").mkdir()  # begins as slant's own temporary folders do
    own = write_tiny(own_folder)
    before = load_study(own)
    edit(own, before.title, "Edited")
    assert (load_study(own).title, before.as_typed) == ("Edited", str(own))


@pytest.mark.slow
def test_a_journal_alone_makes_database_and_study_again(study: Path, asked: Path) -> None:
    before, text = versions(asked), kept_text(asked, "drinks")
    asked.unlink()
    load_journals(asked)
    assert versions(asked) == before
    assert kept_text(asked, "drinks") == text
    assert text is not None
    assert text.files["wordings.csv"] == TWO


@pytest.mark.slow
def test_a_text_that_asks_nothing_new_is_kept_all_the_same(study: Path, asked: Path) -> None:
    edit(study, "tokens ~ (1 | wording)", "log(tokens) ~ (1 | wording)")
    words = ["--study", str(study), "--model", "local/small", "--base-url", "http://127.0.0.1:9", "--db", str(asked)]
    assert "Nothing to ask" in run_collect(*words).stderr
    assert load_study("drinks", db=asked).fits["lme4"].formula == "log(tokens) ~ (1 | wording)"


@pytest.mark.parametrize("name", ["../study.toml", "/tmp/study.toml", "a\\..\\study.toml", "C:study.toml", ""])
def test_a_study_of_a_database_writes_nothing_outside_its_folder(name: str) -> None:
    files = {name: "x"}
    with pytest.raises(StudyError, match="can't be read"):
        written(KeptText(text_id(files), files))


def test_a_text_that_was_changed_in_the_database_is_refused(asked: Path) -> None:
    with writing(asked) as connection:
        connection.execute("UPDATE study_files SET text = replace(text, 'coffee', 'cocoa') WHERE file = 'names.csv'")
    with pytest.raises(StudyError, match="not the one that was kept"):
        load_study("drinks", db=asked)


@pytest.mark.slow
def test_one_version_is_shown_and_the_others_are_mentioned(study: Path, asked: Path) -> None:
    old = load_study(study).version
    edit(study.with_name("wordings.csv"), "go:", "go,")
    with LocalServer() as server, pytest.warns(UserWarning, match="asked again"):
        collect(asked, study, ["local/small"], base_url=server.base_url)
    shown = run_collect("status", "--db", asked, "--format", "csv")
    assert [row.split(",")[2] for row in shown.stdout.splitlines()[1:]] == [load_study(study).version]
    assert f"Not shown: 8 answers of version {old} of drinks." in shown.stderr
    whole = run_collect("status", "--db", asked, "--format", "csv", "--study-version", old[:6])
    assert [(row.split(",")[2], row.split(",")[6]) for row in whole.stdout.splitlines()[1:]] == [(old, "16")]


def test_what_is_computed_of_some_runs_is_not_kept_for_all(asked: Path) -> None:
    runs = [f"{run} small" for (run,) in rows_in(asked, "SELECT run_id FROM runs")]
    with showing(runs=["another small"]):
        assert versions(asked) == []
        with pytest.raises(DatabaseWriteError, match="some runs only"), writing(asked):
            pass
    with showing(runs=runs):
        assert sum(count for _, count in versions(asked)) == 16


def test_answers_are_found_by_the_settings_they_were_asked_with(asked: Path) -> None:
    def status(*words: str) -> str:
        return run_collect("status", "--db", asked, "--format", "csv", *words).output

    assert "asked for with temperature=0.2." in status("--settings", "temperature=0.2")
    assert "--settings must be KEY=VALUE" in status("--settings", "cold")
    assert "There is no run" in status("--run", "1999")


BEFORE = {"s.toml": 'title = "a"\n[prompt]\nwordings = [{ wording = 1, text = "x" }, { wording = 3, text = "y" }]\n'}


@pytest.mark.parametrize(
    ("now", "places"),
    [
        ({"s.toml": BEFORE["s.toml"].replace('"y"', '"z"')}, ["[prompt.wordings] 3"]),
        ({"s.toml": BEFORE["s.toml"].replace('"a"', '"b"')}, ["title"]),
        ({"s.toml": BEFORE["s.toml"], "w.csv": "word,tier\nlatte,1\n"}, ["w.csv word", "w.csv latte"]),
    ],
)
def test_differences_name_keys_and_rows(now: dict[str, str], places: list[str]) -> None:
    assert text_differences(BEFORE, now) == places


OPINION = """
name = "opinion"
title = "Opinions"
design = "factorial"
factors.claim = ["one", "two"]
templates.plain = "Do you agree? {claim}"
questions.agree = { kind = "choice", options = ["No", "Maybe", "Yes"], text = "Say it." }
questions.why = { kind = "text", text = "Why?" }
crossing.questions = "apart"
models = [{ model = "gpt-6-luna", provider = "openai" }]
"""
AS_SCALE = 'kind = "scale", labels = { 1 = "No", 2 = "Maybe", 3 = "Yes" }, answer = "Answer with No, Maybe or Yes."'


def test_an_edit_of_how_answers_are_read_reads_the_kept_ones_and_asks_nothing(tmp_path: Path) -> None:
    file, db = tmp_path / "opinion.toml", tmp_path / "a.duckdb"
    file.write_text(OPINION)
    collect(db, file, simulated=True, repetitions=4)
    measure_answers(db, load_study(str(file)), {"warmth": len}, "why")
    edit(file, 'kind = "choice", options = ["No", "Maybe", "Yes"]', AS_SCALE)
    typed = ["--study", str(file), "--db", str(db)]
    said = run_collect(*typed, "--simulated", "--repetitions", "4").output
    assert "opinion has been edited, and reads 8 kept answers differently now" in said
    assert "Nothing to ask: all 16 trials" in said
    found = set(rows_in(db, "SELECT answer, rating FROM factorial_trials WHERE is_valid AND question = 'agree'"))
    assert found
    assert found <= {("Maybe", 2), ("No", 1), ("Yes", 3)}
    warmth = rows_in(db, "SELECT count(*) FROM factorial_trials WHERE question = 'warmth'")
    assert warmth != [(0,)]  # what a person's own function measured stays
    again = run_collect("reread", *typed).output
    assert "16 answers read again, 0 differently than before" in again


def test_while_another_collector_is_at_work_an_edit_is_read_later(tmp_path: Path) -> None:
    file, db = tmp_path / "opinion.toml", tmp_path / "a.duckdb"
    file.write_text(OPINION)
    collect(db, file, simulated=True)
    edit(file, 'kind = "choice", options = ["No", "Maybe", "Yes"]', AS_SCALE)
    with SideJournal(db, "another"):
        assert "Once no other collector is at work" in (read_if_edited(db, load_study(str(file))) or "")
    assert "reads 2 kept answers differently now" in (read_if_edited(db, load_study(str(file))) or "")


def test_a_damaged_database_is_made_again_before_an_edit_is_looked_for(tmp_path: Path) -> None:
    file, db = tmp_path / "opinion.toml", tmp_path / "a.duckdb"
    file.write_text(OPINION)
    collect(db, file, simulated=True)
    with db.open("r+b") as damaged:
        damaged.seek(20_000)
        damaged.write(bytes(200_000))
    said = run_collect("--study", file, "--db", db, "--simulated").output
    assert "was made again from its journal" in said
    assert "Nothing to ask: all 4 trials" in said


@pytest.mark.parametrize("name", ["callbacks", "habits", "interference"])
def test_a_title_changes_no_reading(db: Path, name: str) -> None:
    collect(db, name, simulated=True, pilot=40, yes=True)
    found = read_by(db, load_study(name))
    assert found.read >= 40
    assert (found.changed, found.not_read) == (0, 0)


@pytest.mark.slow
def test_the_methods_count_what_a_smaller_plan_and_an_older_version_have_answered_of_this_one(tmp_path: Path) -> None:
    file, db = write_tiny(tmp_path), tmp_path / "a.duckdb"
    words = ["--study", file, "--model", "simulated/small", "--db", db]
    run_collect(*words, code=0)
    (tmp_path / "wordings.csv").write_text(TWO, "utf-8")
    run_collect(*words, code=0)
    assert "The plan has 16 trials" in (said := run_collect("methods", "--db", db).stdout)
    assert "Of 16 trials, " in said
    run_collect(*words, "--repetitions", 2, code=0)
    assert "The plan has 32 trials" in (said := run_collect("methods", "--db", db).stdout)
    assert "Of 32 trials, " in said
    first = rows_in(db, "SELECT run_id FROM runs ORDER BY started_at")[0][0]
    assert "Of 8 trials, " in run_collect("methods", first, "--db", db).stdout


@pytest.mark.slow
def test_a_fit_of_a_version_without_answers_says_that_there_are_none_and_not_that_a_factor_is_missing(
    tmp_path: Path,
) -> None:
    file, db = tmp_path / "desks.toml", tmp_path / "a.duckdb"
    file.write_text(
        'name = "desks"\ntitle = "Desks"\ndesign = "factorial"\nfactors.name = ["Ann", "Bo"]\n'
        'templates.plain = "{name} has a desk."\nquestions.tidy = { text = "Is it tidy?", kind = "yes_no" }\n',
        "utf-8",
    )
    words = ["--study", file, "--model", "local/m", "--db", db, "--max-retries", 0]
    with LocalServer() as server:
        assert run_collect(*words, "--base-url", server.base_url).exit_code == 0
    edit(file, "Is it tidy?", "Is the desk tidy?")
    with LocalServer(unavailable) as server:
        assert run_collect(*words, "--base-url", server.base_url).exit_code == 1
    for words in (["--fit", "amce"], ["report", "--out", tmp_path / "a.html"]):
        said = run_analyze(*words, "--db", db).stderr
        assert "holds no such rows" in said, said
        assert "Not shown: 2 answers of version" in said
