"""Models of choice of games, fitted from Python: the rows of one view, kept, and read back from the views."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from slant import analysis
from slant.analysis.fitting.fits import FitResult
from slant.analysis.plots.registry import with_people
from slant.collector import collect
from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.studies.catalogue import fits_of, load_study
from tests.support.game_made import game_file

pytestmark = pytest.mark.slow

STUDY = "ultimatum"


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small game that ships, played by two participants that are no models."""
    path = tmp_path_factory.mktemp("choices") / "a.duckdb"
    collect(path, STUDY, models=["simulated/epsilon_greedy", "simulated/random"], yes=True)
    return path


@pytest.fixture(scope="module")
def judged(db: Path) -> FitResult:
    """Candidates for what one of the two players does, judged and replayed, and kept in the database."""
    return analysis.fit(db, STUDY, "policies", settings={"folds": 2}, only={"model": ["random"]})


def test_every_study_of_games_has_models_of_choice() -> None:
    assert {"choice", "policies", "learning"} <= set(fits_of(load_study("hiring")))
    assert "choice" not in fits_of(load_study("hiring", "elicited_rates"))


@pytest.mark.needs("survival")
def test_choices_go_by_what_was_seen_and_are_kept_with_their_terms(db: Path) -> None:
    found = analysis.fit(db, STUDY, "choice")
    assert found.table.filter(model="epsilon_greedy")["term"][0] == "mean"
    inflation = found.tables["choice"]["terms"]
    assert inflation["vif"].min() >= 1
    sets = found.tables["choice"]["sets"].filter(model="random")
    assert sets["nats"][0] == pytest.approx(sets["chance_nats"][0], rel=0.1)


@pytest.mark.needs("survival")
def test_a_setting_that_an_engine_does_not_take_is_named(db: Path) -> None:
    with pytest.raises(UnknownNameError, match="setting of choice"):
        analysis.fit(db, STUDY, "choice", settings={"folds": 2})


def test_candidates_are_judged_and_replayed(db: Path, judged: FitResult) -> None:
    candidates = judged.tables["policies"]["candidates"]
    assert candidates["is_best"].sum() == 1
    assert set(candidates["policy"]) >= {"random", "greedy", "thompson", "learner_two_rates"}
    tables = analysis.tables(db, STUDY, ["policy_candidates", "game_replays"])
    assert tables["policy_candidates"]["policy"].to_list() == candidates["policy"].to_list()
    assert tables["game_replays"].filter(pl.col("policy") == "greedy").height > 5


@pytest.mark.usefixtures("judged")
def test_figures_and_report_show_what_is_kept_and_name_what_is_not(db: Path, tmp_path: Path) -> None:
    drawn = analysis.figures(db, STUDY, tmp_path, names=["replayed_curves"], formats=["svg"])
    assert drawn["problem"].drop_nulls().to_list() == []
    assert drawn["alt_text"].str.contains("random: passes", literal=True).any()
    page = re.sub(r"<[^>]+>", "", analysis.report(db, STUDY, tmp_path / "r.html").read_text("utf-8"))
    assert "the candidate ucb predicts games that it has not seen best" in page
    assert "How models learn. To make it, type analyze --fit learning --study ultimatum" in page
    assert "that a better prediction proves a mechanism" in page


def test_people_are_drawn_behind_the_models_of_their_variant() -> None:
    rows = pl.DataFrame({"source": ["human", "simulated"], "study_version": ["v1", "v2"], "variant": "base",
                         "game_variant": "base", "model": ["people", "random"]})  # fmt: skip
    with_those = with_people(rows)
    assert with_those.filter("is_people").select("source", "study_version", "model").rows() == [
        ("simulated", "v2", "people")
    ]
    assert with_those.height == 3


def test_a_study_changes_the_settings_of_a_fit_that_it_does_not_define(tmp_path: Path) -> None:
    file = game_file(tmp_path, "[fits.learning.settings]\ntwo_rates = true\npeople = { sharpness = 8.2 }\n")
    study = load_study(str(file))
    settings = fits_of(study)["learning"].settings
    assert (settings["two_rates"], settings["people"], settings["chains"]) == (True, {"sharpness": 8.2}, 4)
    assert "two_rates" not in fits_of(study)["policies"].settings
    with pytest.raises(StudyError, match=r'\[fits.lerning\] needs the key "view"'):
        load_study(str(game_file(tmp_path, "[fits.lerning.settings]\ntwo_rates = true\n")))
