"""Factors that exist at some levels of another one only: cells, prompts, shares, tables and fits know it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from slant.collector import collect
from slant.collector.designs.factorial.tasks import expected_shares
from slant.collector.errors import SlantError
from slant.collector.plan.conversations import plan
from slant.collector.studies.catalogue import fits_of, load_study
from tests.support.each_row import each_row
from tests.support.stored import rows_in

STUDY = """
name = "parties"
title = "Who is asked again?"
design = "factorial"
factors.scenario.levels = { potluck = "a potluck, bringing {food}", walk = "a walk", dinner = "a dinner with {food}" }
factors.food = { levels = ["soup", "pie"], within = { scenario = ["potluck", "dinner"] } }
factors.name = ["Ann", "Jan"]
templates.plain = "{name} comes to {scenario}."
questions.again = { text = "Ask them again?", kind = "yes_no" }
models = [{ model = "small", provider = "local" }]
"""


def study_file(folder: Path, text: str = STUDY) -> Path:
    (folder / "parties.toml").write_text(text, "utf-8")
    return folder / "parties.toml"


def test_a_nested_factor_is_crossed_where_it_exists_only(tmp_path: Path) -> None:
    study = load_study(study_file(tmp_path))
    trials = [conversation.trials[0] for conversation in plan(study, study.models[0])]
    assert Counter(trial.item.split(", ")[0] for trial in trials) == {"potluck": 4, "dinner": 4, "walk": 2}
    texts = {study.design.asks.text(study, study.models[0], trial).partition("\n")[0] for trial in trials}
    assert "Jan comes to a walk." in texts
    assert "Ann comes to a potluck, bringing pie." in texts
    shares = expected_shares(study.data)["food"]
    assert (shares["soup"], shares["pie"]) == (0.5, 0.5)


def test_fits_compare_a_nested_factor_where_it_exists(tmp_path: Path) -> None:
    fits = fits_of(load_study(study_file(tmp_path)))
    assert "food" not in fits["amce"].settings["attributes"]
    assert fits["amce_food"].where["food"] == ("soup", "pie")
    own = '[fits.own]\nengine = "lm"\nview = "factorial_profiles"\nformula = "chosen ~ food"\n'
    assert fits_of(load_study(study_file(tmp_path, STUDY + own)))["own"].where == {"food": ("soup", "pie")}


def test_tables_count_it_where_it_exists(tmp_path: Path, db: Path) -> None:
    collect(db, study_file(tmp_path), simulated=True, repetitions=2)
    views = {"factorial_refusals": "n", "factorial_balance": "n", "factorial_marginal_means": "n_shown"}
    for view, n in views.items():
        rows = rows_in(db, f"SELECT level, {n} FROM {view} WHERE attribute = 'food' ORDER BY ALL")  # noqa: S608
        assert rows == [("pie", 8), ("soup", 8)], view


@each_row(
    ("change", "said"),
    [
        (('{ scenario = ["potluck", "dinner"] }', '{ place = "x" }'), 'no factor (of within, "food")'),
        (('["potluck", "dinner"]', '"diner"'), 'Did you mean "dinner"?'),
        (('{ scenario = ["potluck", "dinner"] }', "{ }"), "must name one factor"),
        (('{ scenario = ["potluck", "dinner"] }', '{ food = "soup" }'), "no factor"),
    ],
)
def test_what_it_is_within_must_exist(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(SlantError) as error:
        load_study(study_file(tmp_path, STUDY.replace(*change)))
    assert said in str(error.value)
