"""What `analyze check` and the report say of a registered study: "as registered", or each deviation."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from slant.analysis import fit, game_indices, tables
from slant.analysis.calls.results import results
from slant.analysis.pages.html_report import _registered
from slant.analysis.questions.checks.registration import deviations, registered_study
from slant.analysis.rows.study_choice import Look, new_looks
from slant.collector import collect, load_study, preregister
from slant.collector.errors import DatabaseError
from slant.collector.keep.database import writing
from slant.collector.records import Registration
from slant.collector.registration.canonical import registration_of
from tests.support.commands import run_analyze
from tests.support.each_row import each_row
from tests.support.stored import rows_in
from tests.support.tiny_study import write_tiny

MODEL = ("simulated/small",)
FIT = """
[fits.{name}]
engine = "effect_size"
view = "association_trials"
outcome = "{outcome}"
contrast = "condition"
by = ["model", "test"]
levels = {{ condition = ["compatible", "incompatible"] }}
{flags}
"""


def study_with_fit(folder: Path, outcome: str = "tokens", flags: str = "") -> str:
    folder.mkdir(exist_ok=True)
    path = write_tiny(folder)
    text = path.read_text("utf-8").partition("[fits.lme4]")[0]
    path.write_text(text + FIT.format(name="d", outcome=outcome, flags=flags), "utf-8")
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("registered")
    collect(folder / "a.duckdb", study_with_fit(folder / "study"), MODEL, registration=planned(folder))
    return folder


def planned(folder: Path, **choices: Any) -> Registration:
    return preregister(folder / "study" / "study.toml", MODEL, **choices)


def changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> pl.DataFrame:
    """The deviations of the data from a registration that was changed."""
    document = json.loads(planned(folder).text)
    change(document)
    return deviations(folder / "a.duckdb", registration_of(document))


def told(rows: pl.DataFrame) -> list[tuple[Any, ...]]:
    return rows.select("deviation", "registered", "found", "n").rows()


def command(*words: object) -> str:
    result = run_analyze(*words)
    assert result.exit_code == 0, result.stderr
    return result.stdout


@pytest.mark.slow
def test_a_study_done_as_registered_has_no_deviation(folder: Path) -> None:
    assert changed(folder, lambda document: None).is_empty()
    page = command("check", "--db", folder / "a.duckdb")
    assert "As registered: no deviation was found." in page
    assert planned(folder).sha256 in page


@pytest.mark.slow
def test_another_version_of_the_study_is_named(folder: Path) -> None:
    found = changed(folder, lambda document: document["study"].update(version="000000000000"))
    ((kind, registered, _, n),) = told(found)
    assert (kind, registered, n) == ("study_version", "000000000000", 8)


def test_prompts_that_were_not_registered_are_counted(folder: Path) -> None:
    found = changed(folder, lambda document: [hashes.__delitem__(slice(3)) for hashes in document["prompts"].values()])
    assert found.select("deviation", "model", "n").rows() == [("prompts", "small", 3)]


def other_model(document: dict[str, Any], *eligible: str) -> None:
    document["plans"][0]["models"][0].update(model="large", requested_model="large")
    document["later_models"]["eligible"] = list(eligible)


@pytest.mark.slow
def test_a_model_that_is_neither_named_nor_eligible_is_a_deviation(folder: Path) -> None:
    found = changed(folder, other_model)
    assert ("model", None, "simulated/small", 8) in told(found)
    assert ("fewer_trials", "8", "0", 8) in told(found)  # of the one that was registered
    eligible = changed(folder, lambda document: other_model(document, "simulated/s*"))
    assert [row[0] for row in told(eligible)] == ["fewer_trials"]


@pytest.mark.slow
def test_fewer_and_more_trials_than_planned_are_told_but_not_a_planned_look(folder: Path) -> None:
    def plan(trials: int) -> pl.DataFrame:
        return changed(
            folder, lambda d: (d["plans"][0].update(trials_per_model=trials), d["looks"].update(at=[trials]))
        )

    assert told(plan(20)) == [("fewer_trials", "20", "8", 12)]
    assert told(plan(6)) == [("more_trials", "6", "8", 2)]
    look = changed(folder, lambda d: (d["plans"][0].update(trials_per_model=20), d["looks"].update(at=[8, 20])))
    assert told(look) == []


@each_row(
    ("place", "changed_to", "row"),
    [
        (lambda plan: plan, {"seed": 7}, ("seed", "7", "0", 8)),
        (lambda plan: plan, {"variant": "balanced"}, ("variant", "balanced", "base", 8)),
        (lambda plan: plan["models"][0], {"settings": {"temperature": 1}}, ("settings", '{"temperature":1}', "{}", 8)),
        (lambda plan: plan["models"][0], {"provider": "openai"}, ("source", "collected", "simulated", 8)),
    ],
)
def test_what_is_not_as_registered_is_named_with_its_trials(
    place: Callable[[Any], Any], changed_to: dict[str, Any], row: tuple[Any, ...], folder: Path
) -> None:
    assert told(changed(folder, lambda document: place(document["plans"][0]).update(changed_to))) == [row]


@pytest.mark.slow
@pytest.mark.needs("R")
def test_a_fit_with_another_formula_is_named_and_so_are_exclusions(folder: Path, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    shutil.copy(folder / "a.duckdb", db)
    edited = study_with_fit(tmp_path / "study", outcome="output_tokens", flags='drop_flags = ["is_refusal"]')
    with writing(db) as connection:
        connection.execute("UPDATE attempts SET answer = 'No.', outcome = 'refused' WHERE position = 0")
    fit(db, edited, "d", workers=1)
    found = told(deviations(db, planned(folder)))
    assert ("formula", "effect_size: d: tokens ~ condition", "effect_size: d: output_tokens ~ condition", 1) in found
    assert ("exclusion", "filtered, malformed, refused, rejected, truncated", "is_refusal", 1) in found
    assert rows_in(db, "SELECT analysis, n_trials FROM looks") == [("d", 8)]


@pytest.mark.slow
def test_looking_more_often_than_planned_is_a_deviation_looking_again_is_not(folder: Path, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    shutil.copy(folder / "a.duckdb", db)
    looks = [Look("drinks", "simulated", "base", "d", "small", "tea_coffee", n) for n in (4, 8, 8)]
    for _ in range(2):
        results(db, [], beside=new_looks(db, looks))
    assert told(deviations(db, planned(folder))) == [("looks", "1", "2", 1)]
    assert told(deviations(db, planned(folder, looks_at=[4]))) == []


@pytest.mark.slow
@pytest.mark.needs("R")
def test_fits_of_a_study_that_grows_are_looks(tmp_path: Path) -> None:
    study, db = study_with_fit(tmp_path / "study"), tmp_path / "a.duckdb"
    for repetitions in (1, 2, 2):
        collect(db, study, MODEL, repetitions=repetitions)
        fit(db, study, "d", workers=1)
    assert ("looks", "1", "2", 1) in told(deviations(db, planned(tmp_path, repetitions=2)))
    assert told(deviations(db, planned(tmp_path, repetitions=2, looks_at=[8]))) == []


@pytest.mark.slow
@pytest.mark.needs("R")
def test_indices_of_games_are_looks_too(tmp_path: Path) -> None:
    db = tmp_path / "games.duckdb"
    for repetitions in (1, 2):
        collect(db, "ultimatum", ["simulated/greedy"], repetitions=repetitions)
        game_indices(db, "ultimatum", n_boot=1, n_random=1, workers=1)
    found = deviations(db, preregister("ultimatum", ["simulated/greedy"], repetitions=2))
    assert found.select("deviation", "subject", "registered", "found").rows() == [("looks", "game_indices", "1", "2")]


@pytest.mark.slow
def test_the_report_has_a_verdict_for_each_source_version_and_variant(folder: Path) -> None:
    study, db = load_study(str(folder / "study" / "study.toml")), folder / "a.duckdb"
    ((title, found),) = _registered(db, study, None, tables(db)["outcome_counts"])
    assert title.startswith("Simulated data, variant base, version ")
    assert (found.standing, found.verdict) == ("not found", "As registered: no deviation was found.")


@pytest.mark.slow
def test_the_report_says_it_at_the_top(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "r.json"
    other.write_text(planned(folder, seed=5).text, "utf-8")
    for more, words in ((), "As registered"), (("--registration", other), "Not as registered: another seed"):
        command("report", "--db", folder / "a.duckdb", "--out", tmp_path / "r.html", *more)
        assert words in (tmp_path / "r.html").read_text("utf-8")


@pytest.mark.slow
def test_rows_of_deviations_are_a_table_like_those_of_other_checks(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(planned(folder, repetitions=2).text, "utf-8")
    more = ("--registration", tmp_path / "r.json", "--show", "registration", "--format", "json")
    (row,) = json.loads(command("check", "--db", folder / "a.duckdb", *more))
    assert (row["deviation"], row["registered"], row["found"]) == ("fewer_trials", "16", "8")
    page = tmp_path / "page.html"
    command("check", "--db", folder / "a.duckdb", "--registration", tmp_path / "r.json", "--out", page)
    assert "fewer trials than planned" in page.read_text("utf-8")


def test_to_show_deviations_makes_no_other_check(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr("slant.analysis.questions.checks.study_checks.check", lambda *_, **__: made.append("checks"))
    answer = command("check", "--db", folder / "a.duckdb", "--show", "registration", "--format", "json")
    assert (json.loads(answer), made) == ([], [])


def test_a_registration_that_a_stranger_changed_in_the_database_is_refused(folder: Path, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    shutil.copy(folder / "a.duckdb", db)
    with writing(db) as connection:
        connection.execute("""UPDATE registrations SET text = replace(text, '"seed":0', '"seed":1')""")
    with pytest.raises(DatabaseError, match="its hash is different"):
        registered_study(db, "drinks")


def test_without_a_registration_nothing_is_said_of_one(folder: Path) -> None:
    assert registered_study(folder / "a.duckdb", "rmiat") is None
