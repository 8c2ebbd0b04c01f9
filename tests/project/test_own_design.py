"""The design of the page "extending": installed by pip as a package, it is asked and analysed as any other."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from slant.collector.designs import Asks, Design, check_asks, check_views, design_named, give_parts
from slant.collector.errors import DesignError, StudyError
from slant.collector.records import Reply
from slant.collector.studies.catalogue import load_study
from tests.support.installed_package import installed
from tests.support.typed_pages import BLOCK, typed


@pytest.fixture(scope="module")
def blocks(root: Path) -> dict[str, list[str]]:
    text = (root / "vignettes" / "extending.Rmd").read_text("utf-8").split("## A design in a package of your own")[1]
    found: dict[str, list[str]] = {}
    for language, body in BLOCK.findall(text.split("\n## ")[0]):
        found.setdefault(language, []).append(body)
    return found


@pytest.fixture(scope="module")
def rating(blocks: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    [group, entry] = blocks["toml"][0].splitlines()
    declared = group.replace('[project.entry-points."', "[").replace('"]', "]") + "\n" + entry.replace('"', "") + "\n"
    return installed(tmp_path_factory.mktemp("rating"), "slant-rating", blocks["python"][0], declared)


@pytest.fixture
def study(blocks: dict[str, list[str]], rating: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(rating)
    (tmp_path / "warmth.toml").write_text(blocks["toml"][1], "utf-8")
    return tmp_path / "warmth.toml"


def test_a_design_with_its_simulation_and_a_view_takes_less_than_120_lines(blocks: dict[str, list[str]]) -> None:
    assert len(blocks["python"][0].splitlines()) < 120


@pytest.mark.slow
def test_what_the_page_types_asks_the_questions_and_prints_the_table(
    study: Path, rating: Path, blocks: dict[str, list[str]]
) -> None:
    check, collect, table = blocks["sh"][0].splitlines()
    typed(check, study.parent, rating)
    typed(collect, study.parent, rating)
    rows = json.loads(typed(f"{table} --format json 2>/dev/null", study.parent, rating))
    assert [(row["item"], row["condition"], row["n"], row["n_invalid"]) for row in rows] == [
        (item, condition, 20, 0) for item in ("ice", "soup", "tea") for condition in ("honest", "plain")
    ]
    assert len({row["mean_rating"] for row in rows}) > 3
    assert "rating_means" in typed("analyze tables --db warmth.duckdb", study.parent, rating)


@pytest.mark.slow
def test_its_checks_figures_and_report_are_those_that_it_declares(study: Path, rating: Path) -> None:
    typed("collect --study ./warmth.toml --simulated --repetitions 20 --db warmth.duckdb", study.parent, rating)
    found = typed("analyze check --db warmth.duckdb --format csv 2>/dev/null", study.parent, rating)
    assert re.findall(r"base,(\w+),", found) == ["missing_answers", "token_limits"]
    typed("analyze figures refusals --db warmth.duckdb --out figures", study.parent, rating)
    assert list((study.parent / "figures").glob("*refusals*"))
    typed("analyze report --db warmth.duckdb --out warmth.html", study.parent, rating)
    assert "how high each item is rated" in (study.parent / "warmth.html").read_text("utf-8").lower()


def test_its_answers_are_read_as_one_number_from_1_to_7(study: Path) -> None:
    design, warmth = design_named("rating"), load_study(study)
    trial = next(design.asks.conversations(warmth, warmth.models[0], 1, 1)).trials[0]
    answers = ("7", "I say 3.", "8", "3 or 4", "2.5", None)
    read = [design.reads.read(warmth, trial, Reply(answer=answer)) for answer in answers]
    assert [one.choice for one in read] == ["7", "3", None, None, None, None]
    assert {one.outcome for one in read[2:]} == {"malformed"}


def test_trials_of_conditions_take_turns_and_have_ids_of_their_own(study: Path) -> None:
    warmth = load_study(study)
    trials = [one.trials[0] for one in design_named("rating").asks.conversations(warmth, warmth.models[0], 1, 50)]
    assert len({trial.trial_id for trial in trials}) == len(trials) == 300
    assert 20 < sum(trial.condition == "plain" for trial in trials[:60]) < 40


def test_a_mistake_in_its_study_is_told_in_its_own_words(study: Path) -> None:
    study.write_text(study.read_text("utf-8").replace("{item}?", "it?", 1), "utf-8")
    with pytest.raises(StudyError, match='missing in the question "plain"'):
        load_study(study)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("trials", ("", ""), "it must be called rating_"),
        ("rating_trials", ("-- rating_trials", "-- something"), "must begin with"),
        ("rating_trials", ("-- grain", "-- grian"), 'lacks a line "-- grain'),
        ("rating_trials", ("-- design: rating", "-- design: other"), "must say rating"),
        ("rating_trials", ("VIEW rating_trials", "VIEW trials"), "must have"),
    ],
)
def test_a_view_that_is_not_the_design_s_own_is_refused(
    study: Path, name: str, change: tuple[str, str], said: str
) -> None:
    rogue = type(design_named("rating"))()
    rogue.analyses = type(rogue.analyses)()
    rogue.analyses.views = {name: rogue.analyses.views["rating_trials"].replace(*change)}
    with pytest.raises(DesignError, match=re.escape(said)):
        check_views(rogue)


@pytest.mark.parametrize("pair", [("questions", "plan"), ("text", "next")])
def test_a_design_that_asks_nothing_is_refused_when_it_is_loaded(study: Path, pair: tuple[str, str]) -> None:
    rating = type(design_named("rating"))
    without = type("Without", (rating,), {})()
    without.asks = type("AsksNothing", (type(rating.asks),), {name: getattr(Asks, name) for name in pair})()
    check_asks(rating())
    with pytest.raises(DesignError, match=rf"needs {pair[0]}\(\) or {pair[1]}\(\)"):
        check_asks(without)


@pytest.mark.parametrize("part", ["asks", "reads"])
def test_a_design_without_a_part_that_each_needs_is_refused(study: Path, part: str) -> None:
    rating = design_named("rating")
    kept = {name: getattr(rating, name) for name in ("name", "parse", "tests", "asks", "reads") if name != part}
    with pytest.raises(DesignError, match=f"needs a part `{part}`"):
        check_asks(type("Without", (Design,), kept)())


def test_a_small_design_may_be_one_class_with_the_methods_of_all_its_parts(study: Path) -> None:
    rating, warmth = design_named("rating"), load_study(study)
    parts = (rating.asks, rating.reads, rating.simulates, rating.analyses)
    methods = {name: one for part in parts for name, one in vars(type(part)).items() if not name.startswith("__")}
    own = {name: getattr(type(rating), name) for name in ("name", "parse", "tests")}
    flat = type("Flat", (Design,), {**own, **methods})()
    give_parts(flat)
    check_asks(flat)
    check_views(flat)
    asked = [[c.trials for c in one.asks.conversations(warmth, warmth.models[0], 1, 2)] for one in (rating, flat)]
    assert asked[0] == asked[1]
    assert flat.reads.read(warmth, asked[1][0][0], Reply(answer="7")).choice == "7"
    with pytest.raises(DesignError, match="read"):
        give_parts(type("Unread", (Design,), own)())


def test_a_design_has_at_most_twelve_members_and_each_of_its_parts_is_optional_but_two() -> None:
    members = {name for name in (*dir(Design), *Design.__annotations__) if not name.startswith("_")}
    assert len(members) <= 12
    lacking = {name for name in members if not hasattr(Design, name)}
    assert lacking == {"name", "asks", "reads"}
    assert {"simulates", "imports", "analyses"} < members
