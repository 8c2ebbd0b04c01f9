"""Chains: an earlier answer in a later prompt, killed in each link, by batch, ended by a refusal."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from click.testing import CliRunner

from slant.analysis.cli.main import analyze
from slant.collector import collect
from slant.collector.ask.reading_again import read_again, read_by
from slant.collector.cli import collect as collect_command
from slant.collector.designs.factorial.estimands import cluster_of
from slant.collector.errors import SlantError
from slant.collector.plan.conversations import plan, planned_prompts
from slant.collector.records import Reading, Reply, Turn
from slant.collector.studies.catalogue import load_study
from slant.collector.view.pages import Pages
from tests.support.batch_server import BatchServer
from tests.support.batching import Heard
from tests.support.commands import run_collect
from tests.support.each_row import each_row
from tests.support.local_server import LocalServer, completion
from tests.support.stored import rows_in
from tests.support.tiny_game import player

HEAD = 'name = "chain"\ntitle = "Who is the hero?"\ndesign = "factorial"\n'
CHAIN = """
factors.job = ["nurse", "pilot"]
templates.plain = "Tell a story about a {job}."
questions.story = { text = "Two sentences.", kind = "text" }
questions.hero.text = "Is the {job} he or she? {answer.story}"
questions.hero.kind = "choice"
questions.hero.options = ["he", "she"]
questions.hero.ask = "fresh"
questions.why = { text = "You said {answer.hero} of the {job}: {answer.story} Why?", kind = "text", ask = "fresh" }
"""
MODEL = 'models = [{ model = "small", provider = "local" }]\n'
STORY = " {answer.hero}, {job} and {{braces}} went home.\n"


def study_file(folder: Path, text: str = CHAIN, models: str = MODEL) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "chain.toml").write_text(HEAD + text + models, "utf-8")
    return folder / "chain.toml"


def said(prompt: str) -> str:
    return STORY if prompt.startswith("Tell") else "Because." if prompt.endswith("Why?") else "She."


def saying(of_pilots: str = "I can't say.") -> Any:
    """A handler that says what `said` does, but this of pilots."""

    def answer(body: dict[str, Any]) -> str:
        prompt = str(body["messages"][-1]["content"])
        return of_pilots if "pilot he or she" in prompt else said(prompt)

    return player(answer)


def played(text: str, folder: Path, **replies: Any) -> list[list[dict[str, Any]]]:
    """The messages of each turn of the first conversation; `replies` by question, else `said`."""
    study = load_study(study_file(folder, text))
    model, history = study.models[0], list[Turn]()
    conversation = next(iter(plan(study, model)))
    while step := study.design.asks.next(study, model, conversation, history):
        trial, prompt = step
        given = replies.get(trial.test, said(str(prompt.messages[-1]["content"])))
        reply = given if isinstance(given, Reply) else Reply(answer=given)
        history.append(Turn(prompt, reply, study.design.reads.read(study, trial, reply), trial.trial_id))
    return [[dict(message) for message in turn.prompt.messages] for turn in history]


def test_an_earlier_answer_stands_in_a_fresh_prompt_to_the_byte(tmp_path: Path) -> None:
    turns = played(CHAIN, tmp_path)
    job = "nurse" if "nurse" in turns[0][0]["content"] else "pilot"
    assert [len(messages) for messages in turns] == [1, 1, 1]
    assert turns[1][0]["content"] == f"Is the {job} he or she? {STORY}\nAnswer with he or she."
    assert turns[2][0]["content"] == f"You said she of the {job}: {STORY} Why?"


def test_without_fresh_it_is_the_same_conversation_with_what_was_said(tmp_path: Path) -> None:
    turns = played(CHAIN.replace('questions.hero.ask = "fresh"', "").replace(', ask = "fresh"', ""), tmp_path)
    assert [len(messages) for messages in turns] == [1, 3, 5]
    assert turns[2][1] == {"role": "assistant", "content": STORY}


def test_reasoning_and_personas_go_into_a_fresh_prompt(tmp_path: Path) -> None:
    text = CHAIN.replace("{answer.story} Why?", "{reasoning.story} Why?") + 'personas.farmer = "You farm."\n'
    turns = played(text, tmp_path, story=Reply(answer="Once.", reasoning_text="I think {job}."))
    assert [message["role"] for message in turns[2]] == ["system", "user"]
    assert turns[2][1]["content"] == "You said she of the nurse: I think {job}. Why?"
    assert len(played(text, tmp_path, story="Once.")) == 1  # no reasoning came, and nothing to show


def test_a_scale_that_was_shown_reversed_is_quoted_as_it_was_shown(tmp_path: Path) -> None:
    rating = 'kind = "scale", labels = { 1 = "bad", 7 = "good" }, direction = "reversed"'
    text = CHAIN.replace('text = "Two sentences.", kind = "text"', f'text = "How good?", {rating}')
    assert "he or she? 2\n" in played(text, tmp_path, story="2")[1][0]["content"]


@each_row(
    ("change", "said"),
    [
        (("{answer.story}", "{answer.why}"), 'no placeholder "answer.why"'),
        (("{answer.story}", "{answer.stroy}"), 'Did you mean "answer.story"?'),
        (("{answer.story}", "{answers.story}"), "placeholder"),
        (("Two sentences.", "After {answer.story}"), "placeholder"),
        (('hero.ask = "fresh"', 'hero.ask = "new"'), "no ask"),
        (("factors.job", 'crossing.questions = "apart"\nfactors.job'), "no questions"),
        (("{answer.story} Why?", "{reasoning.hero} Why?"), "hides it"),
    ],
)
def test_a_link_that_can_not_hold_is_refused(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    models = MODEL.replace("local", "openai")
    file = study_file(tmp_path, CHAIN.replace(*change), models)
    with pytest.raises(SlantError, match=re.escape(said)):
        load_study(file)


def test_links_after_a_refusal_are_counted_as_not_reached_by_level(tmp_path: Path) -> None:
    file, db = study_file(tmp_path / "study"), tmp_path / "a.duckdb"
    with LocalServer(saying()) as server:
        for _ in range(2):  # the second has nothing left to ask
            report = collect(db, file, base_url=server.base_url, repetitions=2)
    assert (len(server.bodies), report.models[0]["asked"]) == (10, 0)
    query = """SELECT question, level, n, n_answered, n_not_reached FROM factorial_refusals
               WHERE attribute = 'job' ORDER BY ALL"""
    assert rows_in(db, query) == [
        ("hero", "nurse", 2, 2, 0), ("hero", "pilot", 2, 0, 0), ("story", "nurse", 2, 2, 0),
        ("story", "pilot", 2, 2, 0), ("why", "nurse", 2, 2, 0), ("why", "pilot", 2, 0, 2),
    ]  # fmt: skip
    query = "SELECT test, max(n_not_asked), min(n_missing) FROM run_progress GROUP BY ALL ORDER BY ALL"
    assert rows_in(db, query) == [("hero", 0, 0), ("story", 0, 0), ("why", 2, 0)]


@pytest.mark.slow
def test_a_chain_that_is_killed_in_each_link_asks_no_answered_link_again(
    tmp_path: Path, python: list[str], root: Path
) -> None:
    running: list[subprocess.Popen[bytes]] = []
    kills = {"Two sentences.": 1, "he or she?": 1, "Why?": 1}
    asked: Counter[str] = Counter()

    async def answers(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        prompt = body["messages"][-1]["content"]
        for link in kills:
            if link in prompt and kills[link]:
                kills[link] -= 1
                os.kill(running[-1].pid, signal.SIGKILL)
                return web.Response(status=500)
        asked[prompt] += 1
        return web.json_response(completion(said(prompt)))

    file, db = study_file(tmp_path / "study"), tmp_path / "a.duckdb"
    with LocalServer(answers) as server:
        words = [*python, "-m", "slant.collector", "--study", str(file), "--base-url", server.base_url, "--db", str(db)]
        codes = []
        while not codes or codes[-1]:
            running.append(subprocess.Popen([*words, "--concurrency", "1"], cwd=root, stdout=-3, stderr=-3))
            codes.append(running[-1].wait(120))
    assert codes == [-signal.SIGKILL] * 3 + [0]
    assert set(asked.values()) == {1}
    sql = "SELECT test, count(*), count(DISTINCT task) FROM factorial_trials GROUP BY ALL ORDER BY ALL"
    assert rows_in(db, sql) == [
        ("hero", 2, 2), ("story", 2, 2), ("why", 2, 2),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_chain_by_batch_goes_wave_by_wave(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, db = study_file(tmp_path / "study", models=MODEL.replace("local", "openai")), tmp_path / "a.duckdb"
    heard = Heard()
    with BatchServer() as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        server.answer = lambda body: (
            "I can't say." if "pilot he" in (text := body["messages"][-1]["content"]) else said(text)
        )
        waves = []
        for _ in range(5):
            report = collect(db, file, batch=True, yes=True, watcher=heard, settle_s=0.0)
            again = collect(db, file, batch=True, yes=True, watcher=heard, settle_s=0.0)
            assert again.made == ()  # what an open job asks is not submitted again, nor what follows from it
            waves.append(sum(job.n_requests for job in report.made))
            server.finish()
    assert (waves, report.is_complete) == ([2, 2, 1, 0, 0], True)
    assert f"{STORY} Why?" in server.asked()[-1]
    assert rows_in(db, "SELECT count(*) FROM trials") == [(5,)]


def test_a_simulated_chain_with_reasoning_is_priced_and_played(tmp_path: Path) -> None:
    text = CHAIN.replace("{answer.story} Why?", "{reasoning.story} Why?")
    text += 'measures.woman = { of = "hero", by = "option:she" }\nsimulation.refusal_rate = 0.5\n'
    text += 'measures.long = { of = "why", by = "length_words" }\n'
    file, db = study_file(tmp_path / "study", text), tmp_path / "a.duckdb"
    report = collect(db, file, simulated=True, repetitions=5)
    assert report.is_complete
    counted = rows_in(db, "SELECT question, n FROM question_outcomes WHERE question <> 'hero' ORDER BY ALL")
    assert counted == [("long", 10), ("story", 10), ("why", 10), ("woman", 10)]  # each once
    [(prompt,)] = rows_in(db, "SELECT request FROM attempts WHERE test = 'why' LIMIT 1")
    assert "I should look at what is said here" in json.loads(prompt)["messages"][-1]["content"]


def test_a_measure_that_is_added_later_measures_the_kept_answers_of_a_chain(tmp_path: Path) -> None:
    file, db = study_file(tmp_path / "study"), tmp_path / "a.duckdb"
    with LocalServer(saying()) as server:
        collect(db, file, base_url=server.base_url, repetitions=2)
    measures = 'measures.length = { of = "story", by = "length_words" }\n'
    measures += 'measures.woman = { of = "hero", by = "option:she" }\n'
    measures += 'measures.long = { of = "why", by = "length_words" }\n'
    report = read_by(db, load_study(study_file(tmp_path / "study", CHAIN + measures)))
    assert (report.read, report.changed, report.not_read) == (10, 10, 0)
    not_reached = "SELECT level FROM factorial_refusals WHERE question = 'long' AND n_not_reached = 2"
    assert rows_in(db, f"{not_reached} AND attribute = 'job'") == [("pilot",)]
    query = """SELECT question, level, n, n_answered, n_refused FROM factorial_refusals
               WHERE attribute = 'job' AND question IN ('length', 'woman') ORDER BY ALL"""
    assert rows_in(db, query) == [
        ("length", "nurse", 2, 2, 0), ("length", "pilot", 2, 2, 0), ("woman", "nurse", 2, 2, 0),
        ("woman", "pilot", 2, 0, 2),
    ]  # fmt: skip
    assert rows_in(db, "SELECT DISTINCT mean FROM factorial_marginal_means WHERE question = 'length'") == [(7.0,)]


def test_an_edit_reads_again_only_what_no_later_prompt_has_shown(tmp_path: Path) -> None:
    text = CHAIN + 'questions.hero.answer = "One word."\n'
    file, db = study_file(tmp_path / "study", text), tmp_path / "a.duckdb"
    with LocalServer(saying("Hers.")) as server:
        collect(db, file, base_url=server.base_url)
        study_file(tmp_path / "study", text.replace('["he", "she"]', '["he", "hers"]'))
        assert collect(db, file, base_url=server.base_url).models[0]["asked"] == 1
    assert "You said hers of the pilot" in server.bodies[-1]["messages"][0]["content"]
    query = "SELECT item, choice, outcome FROM trials WHERE test = 'hero' ORDER BY ALL"
    assert rows_in(db, query) == [("nurse", "she", "answered"), ("pilot", "hers", "answered")]
    assert read_again(db).changed == 0


def test_an_edit_of_how_a_later_question_is_to_be_answered_changes_its_prompt(tmp_path: Path) -> None:
    def contents(words: str, options: str = '["he", "she"]') -> list[str]:
        text = CHAIN.replace('["he", "she"]', options) + f'questions.hero.answer = "{words}"\n'
        study = load_study(study_file(tmp_path, text))
        return list(study.design.asks.contents(study))

    assert contents("One word.") != contents("Exactly one word.")
    assert contents("One word.") == contents("One word.", '["he", "hers"]')  # only how an answer is read


def test_questions_in_turns_that_show_no_answer_go_on_after_a_refusal(tmp_path: Path) -> None:
    text = CHAIN.replace("{answer.story}", "").replace("{answer.hero} of", "it of")
    study = load_study(study_file(tmp_path, text))
    trial = next(iter(plan(study, study.models[0]))).trials[0]
    assert study.design.reads.read(study, trial, Reply(answer="")) == Reading(
        "malformed", detail="empty", factors={"values": [""], "outcomes": ["malformed"]}
    )


def test_status_and_tables_count_questions_not_trials(tmp_path: Path) -> None:
    two = "".join(f'questions.{name} = {{ text = "{name}?", kind = "number" }}\n' for name in ("pay", "hours"))
    text = CHAIN.partition("questions")[0] + two + 'crossing.questions = "together"\nanswer.form = "list"\n'
    file, db = study_file(tmp_path / "study", text), tmp_path / "a.duckdb"
    with LocalServer(player(lambda body: "4, perhaps")) as server:
        collect(db, file, base_url=server.base_url)
    said = "small: 1 of 2 questions of each trial were not read."
    for command, words in ((collect_command, ["status"]), (analyze, ["tables", "question_outcomes"])):
        result = CliRunner().invoke(command, [*words, "--db", str(db)])
        assert said in result.output, words
    assert rows_in(db, "SELECT question, n, n_answered FROM question_outcomes ORDER BY ALL") == [
        ("hours", 2, 0), ("pay", 2, 2),
    ]  # fmt: skip


def test_answers_of_a_kept_study_are_levels_of_another(tmp_path: Path) -> None:
    first = CHAIN.partition("questions.hero")[0]
    second = """
    factors.story = { from = "chain" }
    factors.tone = ["short", "kind {tone}"]
    templates.plain = "{story}"
    questions.hero = { text = "He or she? Be {tone}.", kind = "choice", options = ["he", "she"] }
    """
    file = study_file(tmp_path, first)
    with LocalServer(saying()) as server:
        collect(tmp_path / "a.duckdb", file, base_url=server.base_url)
    (tmp_path / "judge.toml").write_text(HEAD.replace('"chain"', '"judge"') + second + MODEL, "utf-8")
    study = load_study(tmp_path / "judge.toml")
    run_collect("studies", "validate", study.path)
    known = dict(rows_in(tmp_path / "a.duckdb", "SELECT trial_id, item FROM trials"))
    trials = [conversation.trials[0] for conversation in plan(study, study.models[0])]
    assert {(t.factors["levels"][0], t.factors["levels"][2]) for t in trials} == set(known.items())
    assert all(study.design.asks.text(study, study.models[0], t).startswith(STORY) for t in trials)
    assert cluster_of(study.data) == "story"  # answers to one text depend on each other
    copied = tmp_path / "copy"
    copied.mkdir()
    for name, text in study.texts.items():  # as a database keeps them, where the other database is not
        (copied / name).write_text(text, "utf-8")
    assert load_study(copied / "judge.toml").version == study.version
    (tmp_path / "a.duckdb").rename(tmp_path / "copy" / "b.duckdb")
    with pytest.raises(SlantError, match="no database holds any"):
        load_study(tmp_path / "judge.toml")


def test_a_run_goes_on_after_an_unread_answer_that_ends_nothing(tmp_path: Path) -> None:
    failing = [True]

    def answer(body: dict[str, Any]) -> str | web.Response:
        if "hours?" in body["messages"][-1]["content"]:
            return web.Response(status=500) if failing[0] else "4"
        return "perhaps"

    two = "".join(f'questions.{name} = {{ text = "{name}?", kind = "number" }}\n' for name in ("pay", "hours"))
    file = study_file(tmp_path / "study", CHAIN.partition("questions")[0] + two + 'crossing.questions = "in_turns"\n')
    with LocalServer(player(answer)) as server:
        for failing[0] in (True, False):
            collect(tmp_path / "a.duckdb", file, base_url=server.base_url, max_retries=0)
    query = "SELECT question, n, n_answered FROM question_outcomes ORDER BY ALL"
    assert rows_in(tmp_path / "a.duckdb", query) == [("hours", 2, 2), ("pay", 2, 0)]


def test_prompts_list_each_later_turn_with_the_place_of_the_answer(tmp_path: Path) -> None:
    text = CHAIN.replace('questions.hero.ask = "fresh"', "") + 'personas.farmer = "You farm."\n'
    study = load_study(study_file(tmp_path, text))
    prompts = [one for one in planned_prompts(study, study.models) if one.item == "nurse"]
    assert [(one.test, one.turn, one.is_fresh) for one in prompts] == [
        ("story", 1, True), ("hero", 2, False), ("why", 3, True),
    ]  # fmt: skip
    hero = "Is the nurse he or she? {answer.story}\nAnswer with he or she."
    why = "You said {answer.hero} of the nurse: {answer.story} Why?"
    assert [one.text for one in prompts[1:]] == [hero, f"[system]\nYou farm.\n\n[user]\n{why}"]
    listed = run_collect("prompts", study.path, "--all")
    assert f"| turn 2\n{hero}\n" in listed.output
    assert "turn 3, afresh\n[system]" in listed.output


def test_the_viewer_names_the_links_that_were_not_reached(tmp_path: Path) -> None:
    file, db = study_file(tmp_path / "study"), tmp_path / "a.duckdb"
    with LocalServer(saying()) as server:
        collect(db, file, base_url=server.base_url)
    for (game,) in rows_in(db, "SELECT DISTINCT game FROM trials"):
        page = Pages(db, lambda *words, **query: "").game(game, {})
        links = re.findall(r"Turn \d: (\w+), (\w+)", re.sub(r"<[^>]+>", "", page))
        is_pilot = ("story", "pilot") in links
        assert [name for name, _ in links] == (["story", "hero"] if is_pilot else ["story", "hero", "why"])
        assert ("Not reached after this answer: why." in page) == is_pilot
