"""A model next to people: the rows that are compared, the numbers of R alone, and what may be said."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from slant.analysis import alike, report
from slant.analysis.calls.call import Call, answered
from slant.analysis.questions.alike import share_of_shared
from slant.collector import import_trials
from slant.collector.errors import DatabaseError, UnknownNameError
from slant.collector.studies.catalogue import load_study
from tests.support.commands import run_analyze

ITEMS = ("I talk a lot", "I worry", "I plan", "I forget", "I sing")
GROUPS = ("young", "old")
STUDY = f"""
name = "traits"
title = "A questionnaire"
design = "factorial"
factors.item = {json.dumps(list(ITEMS))}
templates.plain = "How much does this describe you? {{item}}"
questions.rating = {{ text = "Answer.", kind = "scale", max = 7, labels = {{ 1 = "not at all", 7 = "very" }} }}
models = [{{ model = "gpt-6-luna", provider = "openai" }}]
[personas]
"""
PERSONAS = 'nobody = ""\nyoung = "You are young."\nold = "You are old."\n'


def rating(draw: random.Random, item: int, group: str) -> int:
    own = {"young": 0.8, "old": -0.8}.get(group, 0.0) * (1 if item % 2 else -1)
    return min(7, max(1, round(draw.gauss(2.5 + item * 0.6 + own, 1.1))))


@pytest.fixture(scope="module", autouse=True)
def few_draws() -> Iterator[None]:
    """Permutations and bootstrap samples are R's: its own tests look at their numbers (test-alike.R)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("slant.analysis.questions.alike.DRAWS", 99)
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 people of two groups; a model with 20 answers as nobody and as either, drawn as people are."""
    return filled(tmp_path_factory.mktemp("traits"), PERSONAS, {"nobody": "nobody", "young": "young", "old": "old"})


def filled(folder: Path, personas: str, group_of: dict[str, str]) -> Path:
    draw = random.Random(4)
    (folder / "study.toml").write_text(STUDY + personas)
    people = [
        f"{person},{item},{rating(draw, number, GROUPS[person % 2])},{GROUPS[person % 2]},nobody"
        for person in range(60)
        for number, item in enumerate(ITEMS)
    ]
    (folder / "people.csv").write_text("participant,item,answer,age_group,group\n" + "\n".join(people) + "\n")
    study = str(folder / "study.toml")
    said = {"layout": "people", "consent": "informed", "origin": "a test", "person": ["age_group"]}
    report = import_trials(folder / "t.duckdb", study, [folder / "people.csv"], **said)  # type: ignore[arg-type]
    assert (report.rows_imported, report.problems) == (300, [])
    lines = [
        {"model": "gpt-6-luna", "test": "rating", "condition": "plain", "group": persona, "item": item,
         "repetition": repetition, "wording": 1, "age_group": group, "answer": str(rating(draw, number, group))}
        for persona, group in group_of.items()
        for repetition in range(1, 21)
        for number, item in enumerate(ITEMS)
    ]  # fmt: skip
    (folder / "model.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = import_trials(folder / "t.duckdb", study, [folder / "model.jsonl"])
    assert (report.rows_imported, report.problems) == (300, [])
    return folder


def test_a_model_beside_people_has_the_numbers_of_r_alone(place: Path) -> None:
    study = load_study(str(place / "study.toml"))
    found = alike(place / "t.duckdb", study)
    draw = random.Random(4)
    rows = [
        {"unit": str(person), "item": item, "y": float(rating(draw, number, GROUPS[person % 2])),
         "is_people": True, "group": GROUPS[person % 2]}
        for person in range(60) for number, item in enumerate(ITEMS)
    ]  # fmt: skip
    rows += [
        {"unit": f"{repetition}{persona}", "item": item, "y": float(rating(draw, number, persona)),
         "is_people": False, "group": None if persona == "nobody" else persona}
        for persona in ("nobody", *GROUPS) for repetition in range(1, 21) for number, item in enumerate(ITEMS)
    ]  # fmt: skip
    direct = answered(Call("alike", pl.DataFrame(rows), {"outcome": "y", "group": "group", "n_draws": 99}))
    there, here = (frame.filter(kind="item").sort("name") for frame in (direct["differences"], found.differences))
    assert here["difference"].to_list() == pytest.approx(there["difference"].to_list())
    assert here["p_equivalence"].to_list() == pytest.approx(there["p_equivalence"].to_list())
    assert found.personas["slope"].to_list() == pytest.approx(direct["personas"]["slope"].to_list())


@pytest.mark.slow
def test_personas_follow_the_group_of_their_name_without_being_told_which_attribute(place: Path) -> None:
    personas = alike(place / "t.duckdb", str(place / "study.toml")).personas
    assert personas["n_groups"].to_list() == [2]
    assert personas["conf_low"][0] > 0.5
    assert personas["rmse_persona"][0] < personas["rmse_plain"][0]
    with pytest.raises(UnknownNameError, match="attribute of people"):
        alike(place / "t.duckdb", str(place / "study.toml"), group="county")


@pytest.mark.slow
def test_personas_of_other_names_follow_the_group_that_a_column_says(tmp_path: Path) -> None:
    rows = ("level,text,age_group", "nobody,,nobody", "ann,You are Ann.,young", "bo,You are Bo.,old")
    (tmp_path / "personas.csv").write_text("\n".join(rows))
    folder = filled(tmp_path, 'file = "personas.csv"\n', {"nobody": "nobody", "ann": "young", "bo": "old"})
    personas = alike(folder / "t.duckdb", str(folder / "study.toml"), group="age_group").personas
    assert personas["n_groups"].to_list() == [2]
    assert personas["conf_low"][0] > 0.5
    assert personas["rmse_persona"][0] < personas["rmse_plain"][0]


@pytest.mark.slow
def test_the_shell_says_what_may_be_said_and_no_more(place: Path) -> None:
    typed = ["alike", "--study", str(str(place / "study.toml")), "--db", str(place / "t.duckdb"), "--bound", "0.8"]
    done = run_analyze(*typed, "--format", "csv")
    assert done.exit_code == 0, done.output
    assert "gpt-6-luna, rating: equivalent within the bound on these items, in this wording (difference" in done.stderr
    assert done.stdout.startswith("source,study_version,variant,model,test,n_model,n_people")
    titles = {
        "summary": "How far is the model from people?", "spread": "Do models vary as people do?",
        "order": "Do models put items in the order of people?",
        "range": "How many people's answers lie outside the model's?",
        "personas": "Does a persona follow the people of its group?",
    }  # fmt: skip
    for show, title in titles.items():
        file = place / f"{show}.svg"
        drawn = run_analyze(*typed, "--show", show, "--figure", file)
        assert drawn.exit_code == 0, drawn.output
        assert title in file.read_text("utf-8")


@pytest.mark.slow
def test_a_report_sets_models_beside_people_and_says_how_and_what_it_is_not(place: Path) -> None:
    page = report(place / "t.duckdb", str(place / "study.toml"), place / "r.html").read_text("utf-8")
    for said in ("models and people", "two one-sided tests", "from which these people were not sampled", "People"):
        assert said in page


def test_people_alone_are_told_how_to_ask_a_model(place: Path, tmp_path: Path) -> None:
    said = {"layout": "people", "consent": "informed", "origin": "a test"}
    import_trials(tmp_path / "p.duckdb", str(str(place / "study.toml")), [place / "people.csv"], **said)  # type: ignore[arg-type]
    with pytest.raises(DatabaseError, match="holds no answers of models"):
        alike(tmp_path / "p.duckdb", str(place / "study.toml"))


def test_a_model_that_refuses_beside_people_is_compared_in_part_or_not_at_all(place: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(place, tmp_path / "place")
    shy = '{ model = "shy", provider = "openai" }]'
    study = folder / "study.toml"
    study.write_text(study.read_text().replace("}]", f"}}, {shy}"))
    rows = [
        {"model": model, "test": "rating", "condition": "plain", "group": "nobody", "item": item, "wording": 1,
         "repetition": repetition, "answer": "I can't help with that."}
        for model, n in (("gpt-6-luna", 4), ("shy", 5)) for item in ITEMS for repetition in range(30, 30 + n)
    ]  # fmt: skip
    (folder / "refused.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert import_trials(folder / "t.duckdb", str(study), [folder / "refused.jsonl"]).problems == []
    assert alike(folder / "t.duckdb", str(study)).warnings[:2] == [
        "gpt-6-luna, rating: 20 of 320 answers are missing (refused, or not read); only the others are compared.",
        "shy, rating: 25 of 25 answers are missing (refused, or not read); nothing is compared.",
    ]


def test_drawn_profiles_of_one_name_are_no_shared_item() -> None:
    people = pl.DataFrame({
        "participant": [1, 1, 2, 2], "item": ["task 1", "task 2"] * 2, "position": [1] * 4,
        "job": ["nurse", "clerk", "clerk", "nurse"], "party": ["left", "left", "right", "right"],
    })  # fmt: skip
    model = people.head(2).with_columns(party=pl.lit("right"))  # a persona's
    assert share_of_shared(model, people, ["job", "party"]) == 0.5
    assert share_of_shared(model, people, []) == 1
