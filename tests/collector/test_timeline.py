"""A study's trials for people: a jsPsych timeline that runs in a browser, and whose data come back by an import."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from slant.collector import import_trials
from slant.collector.errors import UsageError
from slant.collector.keep.database import reading
from slant.collector.studies.catalogue import load_study
from slant.collector.studies.new_study import write_new_study
from slant.collector.timeline.receiver import Receiver
from slant.collector.timeline.timeline import BUTTONS, FORM, games_of, timeline_of, timeline_page
from tests.collector.test_people_games import BANDIT
from tests.support.chromium import Browser, chromium
from tests.support.commands import run_collect
from tests.support.stored import rows_in
from tests.support.viewer import TOKEN, running

TRAITS = """
name = "traits"
title = "A </script><b>questionnaire"
design = "factorial"
factors.item = ["I talk a lot", "I worry", "I </script> tidy"]
templates.plain = "How much does this describe you? {item}"
crossing = { questions = "apart" }
questions.rating = { text = "Answer.", kind = "scale", max = 3, labels = { 1 = "not at all", 3 = "very" } }
questions.why = { text = "Say why.", kind = "text" }
personas.nurse = "You are a nurse."
personas.clerk = "You are a clerk."
models = [{ model = "gpt-6-luna", provider = "openai" }]
"""
SAID = {"layout": "people", "consent": "informed", "origin": "this machine"}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(TRAITS)
    return path


def test_each_trial_is_there_once_and_without_a_persona(study: Path) -> None:
    trials = timeline_of(load_study(study))
    assert sorted((trial["data"]["test"], trial["data"]["item"]) for trial in trials) == [
        (test, item) for test in ("rating", "why") for item in ("I </script> tidy", "I talk a lot", "I worry")
    ]
    assert "You are" not in json.dumps(trials)


def test_a_scale_has_buttons_and_a_text_has_a_form(study: Path) -> None:
    trials = {trial["data"]["test"]: trial for trial in timeline_of(load_study(study))}
    assert (trials["rating"]["type"], trials["why"]["type"]) == (BUTTONS, FORM)
    assert trials["rating"]["choices"] == ["1 (not at all)", "2", "3 (very)"]
    assert trials["rating"]["answers"] == ["1", "2", "3"]
    assert "<textarea" in trials["why"]["html"]
    assert "Answer with" not in trials["rating"]["stimulus"]  # buttons show what may be answered


def test_two_options_of_a_planned_trial_are_its_buttons() -> None:
    [first, *_] = timeline_of(load_study("interference"))
    assert first["choices"] == [first["data"]["option_a"], first["data"]["option_b"]]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rmiat", "interference"])
def test_the_text_of_a_button_is_read_as_the_option(name: str, tmp_path: Path) -> None:
    trials = timeline_of(load_study(name))[:8]
    rows = [
        {"trial_type": BUTTONS, "trial_index": n, "participant": "x", "position": n, "answer": trial["answers"][n % 2]}
        | trial["data"]
        for n, trial in enumerate(trials)
    ]
    (tmp_path / "data.json").write_text(json.dumps(rows))
    report = import_trials(tmp_path / "t.duckdb", name, [tmp_path / "data.json"], **SAID)
    assert (report.rows_imported, report.problems) == (8, [])
    found = rows_in(tmp_path / "t.duckdb", "SELECT outcome, choice = answer FROM trials")
    assert found == [("answered", True)] * 8


def test_an_answer_that_is_no_option_is_typed() -> None:
    [first, *_] = timeline_of(load_study("word_association"))
    assert (first["type"], first["fields"]) == (FORM, ["answer"])


@pytest.mark.parametrize("name", ["hiring", "decision"])
def test_trials_that_are_made_from_earlier_answers_have_no_timeline(name: str) -> None:
    with pytest.raises(UsageError, match="each of its trials is made from the answers before it"):
        timeline_of(load_study(name))


def test_a_study_that_asks_nobody_has_no_timeline(tmp_path: Path) -> None:
    observed = 'name = "contests"\ntitle = "Scores"\ndesign = "observed"\ngames = ["PD"]\nactions = ["0", "1"]\n'
    (tmp_path / "study.toml").write_text(observed)
    with pytest.raises(UsageError, match="asks no one; its rows come from files"):
        timeline_of(load_study(str(tmp_path / "study.toml")))


def test_the_page_loads_nothing_and_no_text_ends_its_script(study: Path) -> None:
    loaded = load_study(study)
    page = timeline_page(loaded, timeline_of(loaded), "You agree & <begin>", None)
    assert "default-src &#39;none&#39;" in page
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=", page)
    assert page.count("<script") == page.count("</script>") == 5
    assert "You agree &amp; &lt;begin&gt;" in page


def test_the_command_writes_the_trials_and_the_page(study: Path, tmp_path: Path) -> None:
    done = run_collect("timeline", study, "--trials", "4", "--out", tmp_path / "people")
    assert "6 trials, of which each person gets 4" in done.stderr
    assert len(json.loads((tmp_path / "people" / "timeline.json").read_text())) == 6


def test_the_page_is_answered_in_a_browser_and_its_data_come_back(study: Path, tmp_path: Path) -> None:
    if chromium() is None:
        pytest.skip("there is no Chromium: apt-get install --no-install-recommends chromium")
    loaded = load_study(study)
    (tmp_path / "index.html").write_text(timeline_page(loaded, timeline_of(loaded), "Please agree.", 4), "utf-8")
    with Browser(tmp_path / "browser") as browser:
        rows = answered(browser, (tmp_path / "index.html").as_uri())
        assert [address for address in browser.asked if not address.startswith("file:")] == []
        assert browser.said == []
    (tmp_path / "traits.json").write_text(json.dumps(rows))
    report = import_trials(tmp_path / "t.duckdb", str(study), [tmp_path / "traits.json"], **SAID)
    assert (report.people, report.rows_imported, report.problems) == (1, 4, [])
    with reading(tmp_path / "t.duckdb") as connection:
        query = """SELECT test, choice, rating, text, response_time_ms > 0, respondent
                   FROM factorial_trials ORDER BY test, item"""
        found = connection.sql(query).fetchall()
    assert found == [
        *[("rating", None, 2, None, True, "people 1")] * 2,
        *[("why", None, None, "because I do", True, "people 1")] * 2,
    ]


SERVED = """
[people]
gender = ["woman", "man", "other"]
age = "number"
"""


@pytest.fixture
def served(study: Path, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a page that is served, and the folder where answers arrive."""
    study.write_text(study.read_text() + SERVED)
    loaded, folder = load_study(str(study)), tmp_path / "answers"
    folder.mkdir()
    page = timeline_page(loaded, timeline_of(loaded), "Please agree.", 4, is_served=True)
    with running(Receiver(page, "traits", folder, TOKEN, str).application()) as server:
        yield server.root, folder


@pytest.mark.needs("chromium")
def test_a_served_page_asks_who_answers_and_keeps_it_in_a_file_of_each_person(
    served: tuple[str, Path], study: Path, tmp_path: Path
) -> None:
    address, folder = served
    with Browser(tmp_path / "browser") as browser:
        rows = answered(browser, address)
        assert "have arrived" in browser.evaluate("document.body.innerText")
        assert browser.said == []
    [path] = folder.glob("*.json")
    assert json.loads(path.read_text()) == rows
    report = import_trials(tmp_path / "t.duckdb", str(study), [path], **SAID)
    assert (report.people, report.rows_imported, report.problems) == (1, 4, [])
    found = rows_in(tmp_path / "t.duckdb", "SELECT attributes FROM run_participants")
    assert found == [({"gender": "man", "age": "41"},)]


def test_what_is_no_answer_of_the_page_is_not_kept(served: tuple[str, Path]) -> None:
    address, folder = served
    mine = [{"participant": "../../up", "study": "traits", "answer": "1"}]
    cases = [
        (b"", {}, 400), (b"[", {}, 400), (b"{}", {}, 400), (b"[" * 100_000, {}, 400), (b"[1]", {}, 400),
        (json.dumps([{**mine[0], "study": "other"}]).encode(), {}, 400),
        (json.dumps([*mine, {**mine[0], "participant": "b"}]).encode(), {}, 400),
        (b" " * 9_000_000, {}, 413),
        (json.dumps(mine).encode(), {"Host": "evil.example"}, 403),
        (json.dumps(mine).encode(), {"Origin": "http://evil.example"}, 403),
        (json.dumps(mine).encode(), {}, 200), (json.dumps(mine).encode(), {}, 200),
        (json.dumps([{**mine[0], "answer": "2"}]).encode(), {}, 409),
    ]  # fmt: skip
    assert [status for _, _, status in cases] == [posted(address + "answers", data, more) for data, more, _ in cases]
    assert posted(address.rstrip("/")[:-1] + "x/answers", json.dumps(mine).encode(), {}) == 403
    assert [json.loads(path.read_text()) for path in folder.parent.rglob("answers/*")] == [mine]


def posted(address: str, data: bytes, headers: dict[str, str]) -> int:
    try:
        return int(urlopen(Request(address, data, headers), timeout=60).status)
    except HTTPError as error:
        return error.code


@pytest.fixture
def bandit(tmp_path: Path) -> Path:
    path = tmp_path / "bandit.toml"
    path.write_text(BANDIT.format(rounds=5).replace("games = 1", "games = 3"))
    return path


def test_a_round_of_a_game_says_what_came_of_the_choice_before_it(bandit: Path) -> None:
    games = games_of(load_study(str(bandit)))
    first, second = games[0][:2]
    assert (len(games), len(games[0]), len(first["texts"]), len(second["texts"])) == (3, 5, 1, 4)
    for text, name, is_success in zip(second["texts"], first["answers"], first["successes"], strict=True):
        assert f"{name} went {'well' if is_success else 'badly'}.\n\nRound 2" in text


def test_points_so_far_are_no_text_that_a_page_knows() -> None:
    with pytest.raises(UsageError, match="more than what came of the last choice"):
        games_of(load_study("ultimatum"))


def test_a_game_is_played_in_a_browser_and_comes_back_with_its_successes(bandit: Path, tmp_path: Path) -> None:
    if chromium() is None:
        pytest.skip("there is no Chromium: apt-get install --no-install-recommends chromium")
    run_collect("timeline", bandit, "--consent", "Please agree.", "--out", tmp_path / "page")
    games = json.loads((tmp_path / "page" / "timeline.json").read_text())
    with Browser(tmp_path / "browser") as browser:
        rows = answered(browser, (tmp_path / "page" / "index.html").as_uri())
        assert browser.said == []
    assert [row["is_success"] for row in rows[1:]] in [[round["successes"][1] for round in game] for game in games]
    (tmp_path / "villages.json").write_text(json.dumps(rows))
    report = import_trials(tmp_path / "t.duckdb", str(bandit), [tmp_path / "villages.json"], **SAID)
    assert [problem.text for problem in report.problems] == []
    assert (report.people, report.rows_imported) == (1, 5)
    found = rows_in(tmp_path / "t.duckdb", "SELECT choice, is_success FROM allocation_rounds ORDER BY round")
    assert found == [("Oak", bool(row["is_success"])) for row in rows[1:]]


def answered(browser: Browser, address: str) -> list[dict[str, Any]]:
    """The data of a page whose trials a script has answered: the second button, or one text."""
    browser.open(address)
    answer = """new Promise((done) => {
      const step = () => {
        const button = document.querySelectorAll("button.jspsych-btn"), text = document.querySelector("textarea");
        const radio = document.querySelectorAll("[type=radio]"), age = document.querySelector("[type=number]");
        if (document.querySelector("#save, #sent")) return done(window.slantJsPsych.data.get().json());
        if (age) { age.value = "41"; radio[1].checked = true; document.querySelector("form").requestSubmit(); }
        else if (text) { text.value = "because I do"; document.querySelector("form").requestSubmit(); }
        else if (button.length) (button[1] || button[0]).click();
        setTimeout(step, 30);
      };
      step();
    })"""
    rows: list[dict[str, Any]] = json.loads(browser.evaluate(answer))
    return rows


LAYOUT = """(() => {
  const seen = (e) => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; };
  const groups = document.querySelectorAll("#jspsych-html-button-response-btngroup, .options");
  return { groups: [...groups].map((group) => [...group.children].map(seen)),
           asked: seen(document.querySelector(".asked")), page: document.documentElement.scrollWidth };
})()"""


def uneven(layout: dict[str, Any], width: int) -> list[str]:
    """What a person with a page of this width would not see, or see otherwise than the rest."""
    found: dict[str, Any] = {"scrolls": layout["page"] > width}
    for options in layout["groups"]:
        place, size = (0, 2) if options[0][1] == options[1][1] else (1, 3)
        gaps = {round(b[place] - a[place] - a[size]) for a, b in itertools.pairwise(options)}
        sizes = {(round(option[2]), round(option[3])) for option in options}
        outside = [option for option in [*options, layout["asked"]] if option[0] < 0 or option[0] + option[2] > width]
        found |= {f"gaps {gaps}": len(gaps) > 1, f"sizes {sizes}": len(sizes) > 1, "outside": outside}
    return [f"{width}: {what}" for what, is_so in found.items() if is_so]


SIZES = ((320, 568), (390, 844), (1280, 800))


@pytest.mark.needs("chromium")
def test_every_option_is_visible_equal_in_size_and_distance_on_phones_and_screens(tmp_path: Path) -> None:
    text = TRAITS.replace(
        'max = 3, labels = { 1 = "not at all", 3 = "very" }',
        'max = 7, labels = { 1 = "not at all", 7 = "extraordinarily" }',
    )
    text = text.replace("How much does", "Antidisestablishmentarianism" * 3 + " How much, all in all, does")
    (tmp_path / "study.toml").write_text(text)
    loaded = load_study(str(tmp_path / "study.toml"))
    trials = [trial for trial in timeline_of(loaded) if trial["type"] == BUTTONS]
    (tmp_path / "index.html").write_text(timeline_page(loaded, trials, "Please agree.", None), "utf-8")
    wrong, noted = [], []
    with Browser(tmp_path / "browser") as browser:
        for width, height in SIZES:
            browser.open((tmp_path / "index.html").as_uri(), width, height)
            browser.evaluate('document.querySelector("button.jspsych-btn").click()')
            wrong += uneven(browser.evaluate(LAYOUT), width)
            browser.evaluate('document.querySelectorAll("button.jspsych-btn")[2].click()')
            [row] = [
                row for row in json.loads(browser.evaluate("window.slantJsPsych.data.get().json()")) if "answer" in row
            ]
            noted.append((row["page_width_px"], row["options_direction"]))
    assert wrong == []
    assert noted == [(320, "column"), (390, "column"), (1280, "row")]


FILLED = """(() => {
  const chosen = { choice: "Flat 2", rating_1: "3", rating_2: "7" };
  const inputs = document.querySelectorAll("input[type=radio]");
  for (const input of inputs) input.checked = chosen[input.name] === input.value;
  document.querySelector("form").requestSubmit();
})()"""


@pytest.mark.needs("chromium")
def test_profiles_are_rated_each_by_its_name_and_without_a_word_to_models(tmp_path: Path) -> None:
    write_new_study("flats", "factorial", tmp_path / "study", start="conjoint")
    run_collect("timeline", tmp_path / "study" / "study.toml", "--trials", "1", "--out", tmp_path / "page")
    wrong, rows = [], []
    with Browser(tmp_path / "browser") as browser:
        for width, height in SIZES:
            browser.open((tmp_path / "page" / "index.html").as_uri(), width, height)
            browser.evaluate('document.querySelector("button.jspsych-btn").click()')
            wrong += uneven(browser.evaluate(LAYOUT), width)
            shown = browser.evaluate("document.body.innerText")
            assert "How good is Flat 1?" in shown
            assert not re.search(r"JSON|[{}]", shown)
            browser.evaluate(FILLED)
            rows += json.loads(browser.evaluate("window.slantJsPsych.data.get().json()"))
    assert wrong == []
    (tmp_path / "flats.json").write_text(json.dumps(rows))
    study = str(tmp_path / "study" / "study.toml")
    report = import_trials(tmp_path / "t.duckdb", study, [tmp_path / "flats.json"], **SAID)
    assert (report.problems, report.people) == ([], 3), rows
    with reading(tmp_path / "t.duckdb") as connection:
        query = "SELECT question, position, chosen, rating FROM factorial_profiles"
        found = {row for row in connection.sql(query).fetchall() if row[0] == "rating" or row[2] == 1}
    assert found == {("choice", 2, 1, None), ("rating", 1, None, 3), ("rating", 2, None, 7)}
