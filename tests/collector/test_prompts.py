"""`collect prompts`: what a study sends, and other first steps: folders for studies, misspelled commands."""

from __future__ import annotations

import csv
import io
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import Result

from slant.collector.example_models import EXAMPLE_MODEL
from slant.collector.plan.conversations import one_model_a_frame, plan, planned_count, planned_prompts
from slant.collector.studies.catalogue import load_study
from slant.collector.studies.new_study import write_new_study
from tests.support.commands import run_collect


def collect(*arguments: str, folder: Path) -> Result:
    with chdir(folder):
        return run_collect(*arguments)


@pytest.fixture
def drinks(tmp_path: Path) -> Path:
    write_new_study("drinks", "association", tmp_path / "drinks")
    return tmp_path


@pytest.mark.parametrize("design", ["association", "forced_choice", "pairing", "decision", "allocation"])
def test_one_prompt_of_each_cell_is_one_of_all(design: str, tmp_path: Path) -> None:
    write_new_study("own", design, tmp_path / "own")
    study = load_study(tmp_path / "own" / "study.toml")
    models = one_model_a_frame(study)
    some = list(planned_prompts(study, models, one_a_cell=True))
    every = list(planned_prompts(study, models))
    assert {(each.model, each.text) for each in some} <= {(each.model, each.text) for each in every}
    cells = [(each.model, each.test, each.condition) for each in some if each.turn == 1]
    assert len(set(cells)) == len(cells)
    planned = [conversation.trials for model in models for conversation in plan(study, model)]
    assert len(every) == sum(1 if study.design.asks.plays_games else len(trials) for trials in planned)
    assert all(each.text.strip() for each in every)


@pytest.mark.slow
def test_all_prompts_are_a_csv_in_the_order_of_asking(drinks: Path) -> None:
    ended = collect("prompts", "drinks", "--all", "--format", "csv", folder=drinks)  # the folder of the study
    rows = list(csv.DictReader(io.StringIO(ended.stdout)))
    study = load_study(drinks / "drinks")
    assert len(rows) == planned_count(study) * len(one_model_a_frame(study))
    assert [int(row["position"]) for row in rows[: planned_count(study)]] == list(range(planned_count(study)))
    assert "Nothing" not in ended.stderr
    assert f"{len(rows)} prompts: all." in ended.stderr.replace(",", "")


def test_a_page_of_prompts_escapes_what_a_study_says(drinks: Path) -> None:
    file = drinks / "drinks" / "study.toml"
    file.write_text(file.read_text().replace('title = "', 'title = "<b>tea</b> '))
    ended = collect("prompts", "drinks/study.toml", "--out", "p.html", folder=drinks)
    assert ended.exit_code == 0, ended.stderr
    page = (drinks / "p.html").read_text()
    assert "<b>tea" not in page
    assert not (drinks / "slant.duckdb").exists()


@pytest.mark.parametrize(("typed", "meant"), [("statis", "status"), ("exprot", "export"), ("studys", "studies")])
def test_a_misspelled_command_names_the_nearest(typed: str, meant: str, tmp_path: Path) -> None:
    ended = collect(typed, folder=tmp_path)
    assert ended.exit_code == 2
    assert f'There is no command "{typed}". Did you mean "{meant}"?' in ended.stderr


def test_a_folder_without_a_study_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ended = collect("prompts", "./empty", folder=tmp_path)
    assert (ended.exit_code, "holds no study.toml" in ended.stderr) == (1, True) or ended.exit_code == 2


@pytest.mark.slow
def test_validation_sees_unread_rows_labels_in_labels_and_lonely_words(drinks: Path) -> None:
    folder = drinks / "drinks"
    table = folder / "simulation.csv"
    table.write_text(table.read_text().replace(",rain_sun,", ",rain_snu,"))
    said = collect("studies", "validate", "drinks/study.toml", folder=drinks).stderr
    assert 'the test "rain_snu" is not in the study' in said
    table.write_text(table.read_text().replace(",tea_coffee,", ",tea_cofee,"))
    both = collect("studies", "validate", "drinks/study.toml", folder=drinks).stderr
    assert 'the tests "rain_snu", "tea_cofee" are not in the study' in both
    assert f"No rows for simulation: {EXAMPLE_MODEL.partition('/')[2]} in rain_sun" in said
    study = folder / "study.toml"
    study.write_text(study.read_text().replace('provider = "openai"', 'provider = "opnai"', 1))
    ended = collect("studies", "validate", "drinks/study.toml", folder=drinks)
    assert ended.exit_code != 0
    assert 'no provider "opnai". Did you mean "openai"?' in ended.stderr


def test_a_study_typed_as_an_option_is_named(tmp_path: Path) -> None:
    said = collect("prompts", "--study", "rmiat", folder=tmp_path)
    assert (said.exit_code, "STUDY is typed here without --study." in said.stderr) == (2, True)
    said = collect("prompts", "--stdy", "rmiat", folder=tmp_path)
    assert "No such option '--stdy'" in said.stderr


@pytest.mark.slow
def test_a_provider_under_another_name_is_named(tmp_path: Path) -> None:
    said = collect("--study", "rmiat", "--model", "google/gemini-3-pro", "--dry-run", folder=tmp_path)
    assert 'Its models are asked by the provider "gemini".' in said.stderr
