"""`collect view`: what a reader finds behind each address, who may ask, and what a condition can't do."""

from __future__ import annotations

import csv
import io
import re
import socket
import urllib.parse
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import polars as pl
import pytest

from slant.collector import collect
from slant.collector.errors import UsageError
from slant.collector.keep.database import writing
from slant.collector.keep.journal import FolderLock, Journal, journal_folder
from slant.collector.studies.new_study import write_new_study
from slant.collector.view.bundle import write_bundle
from slant.collector.view.trial_filter import TrialFilter, guarded
from tests.support.games_given import games, questions
from tests.support.given import database, insert
from tests.support.made import a_run, an_attempt
from tests.support.own_studies import SIMULATED
from tests.support.viewer import RUN, TOKEN, RunningViewer, a_pair, running_viewer

DIFFERENCES = (5, -40, 17, 0, 90, -3)


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [row for n, difference in enumerate(DIFFERENCES) for row in a_pair(n, difference)]
    failed = {**rows[0], "is_final": False, "outcome": "failed", "error": "HTTP 500", "tokens": None, "try_no": 0}
    return database(tmp_path_factory.mktemp("view") / "a.duckdb", [*rows, failed], [RUN])


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("notes") / "anna.csv"


@pytest.fixture(scope="module")
def viewer(db: Path, notes: Path) -> Iterator[RunningViewer]:
    with running_viewer(db, notes) as running:
        yield running


def trials_in(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"/trial/(trial-[^\"?]+)", text.rsplit("</dl>", 1)[-1])))


def words(text: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_every_page_answers_and_has_a_policy_against_scripts(viewer: RunningViewer) -> None:
    for place in ("trials", "trial/trial-0-0", "pairs", "pair", "games", "runs", "tables", "table/refusal_counts"):
        answer = viewer.get(place)
        assert (place, answer.status) == (place, 200)
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script" not in policy
        assert "<script" not in answer.text


FILTERS = (
    ({}, 12), ({"condition": "compatible"}, 6), ({"outcome": "refused"}, 1), ({"tokens_from": "101"}, 3),
    ({"tokens_to": "99"}, 2), ({"date_from": "2026-01-06"}, 2), ({"date_to": "2026-01-01"}, 2),
    ({"item": "word-2", "wording": "1"}, 2), ({"where": "tokens > 100 AND condition = 'incompatible'"}, 3),
    ({"model": "nobody"}, 0), ({"where": "tokens > (SELECT avg(tokens) FROM trials)"}, 2),
)  # fmt: skip


@pytest.mark.slow
def test_filters_and_conditions_leave_the_trials_they_name(db: Path) -> None:
    with guarded(db) as connection:
        counted = [TrialFilter.of(query).rows(connection).aggregate("count(*)").fetchall() for query, _ in FILTERS]
    assert [rows[0][0] for rows in counted] == [n for _, n in FILTERS]


def test_the_first_page_shows_three_of_each_outcome_and_no_empty_column(viewer: RunningViewer) -> None:
    page = viewer.get("trials").text
    listed = re.search(r"How each outcome looks(.*?)</dl>", page, re.DOTALL)
    assert listed is not None
    groups = listed[1].split("<dt>")[1:]
    assert [re.sub("<.*?>", "", group).split()[0] for group in groups][-1] == "answered"
    assert max(group.count("<div>") for group in groups) == 3
    assert '<th scope="col">reasoning</th>' not in viewer.get("trials", where="reasoning_text IS NULL").text


@pytest.mark.slow
def test_answers_that_are_in_the_journal_alone_are_shown(tmp_path: Path) -> None:
    db = database(tmp_path / "a.duckdb", a_pair(1, 1), [RUN])
    with Journal(db, a_run()) as journal, running_viewer(db) as viewer:
        journal.append_many([an_attempt(1), an_attempt(2)])
        assert "<h1>4 trials" in viewer.get().text
        assert "the whole request" not in viewer.get("trial/trial-2").text
        assert words(viewer.get("trial/trial-2").text).count("Read as Career") == 1
        assert "<h1>1 trial<" in viewer.get(item="John", where="sequence = 2").text


@pytest.mark.slow
@pytest.mark.parametrize(("text", "n"), [("WORD-4", 2), ('say "aster"\nor', 12), ("100%", 0)])
def test_a_search_finds_a_text_in_prompt_reasoning_and_answer(viewer: RunningViewer, text: str, n: int) -> None:
    assert f"<h1>{n} trials" in viewer.get(text=text).text


@pytest.mark.parametrize(
    "query",
    [
        {"where": "true); DROP VIEW trials; SELECT (true"}, {"where": "true) UNION ALL SELECT * FROM (SELECT true"},
        {"where": "tokens >"}, {"where": "no_such_column = 1"}, {"tokens_from": "many"}, {"date_to": "tomorrow"},
        {"sort": "request"}, {"after": "[[1]]"}, {"after": '["r1"]'}, {"where": "x" * 3000},
        {"where": "(SELECT count(*) FROM read_text('/etc/hostname')) > 0"},
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_a_sentence_and_no_traceback(viewer: RunningViewer, query: dict[str, str]) -> None:
    answer = viewer.get(**query)
    assert answer.status in (400, 404)
    assert 'role="alert"' in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (f"/{TOKEN}/trials", {"Host": "evil.example"}), (f"/{TOKEN}/trials", {"Host": "evil.example:80"}),
        ("/trials", {}), ("/guess/trials", {}), ("/", {}), (f"/{TOKEN}x/trials", {}),
    ],
)  # fmt: skip
def test_only_the_printed_address_of_this_machine_lets_in(
    viewer: RunningViewer, path: str, headers: dict[str, str]
) -> None:
    answer = viewer.ask(f"http://127.0.0.1:{viewer.port}{path}", **headers)
    assert answer.status == 403
    assert "word-" not in answer.text


@pytest.mark.slow
def test_pages_by_key_hold_each_trial_once_in_any_order(tmp_path: Path) -> None:
    rows = [row for n in range(70) for row in a_pair(n, n % 5)]
    rows = [{**row, "tokens": None if n % 11 == 0 else row["tokens"]} for n, row in enumerate(rows)]
    db = database(tmp_path / "a.duckdb", rows, [RUN])
    with running_viewer(db) as viewer:
        for sort in ("", "-tokens"):
            seen, place = [], viewer.get(sort=sort)
            while True:
                seen += trials_in(place.text)
                following = re.search(r'href="([^"]+after=[^"]+)" rel="next"', place.text)
                if following is None:
                    break
                place = viewer.ask(f"http://127.0.0.1:{viewer.port}{unescape(following[1])}")
            assert len(seen) == len(set(seen)) == 140
            back = re.search(r'href="([^"]+before=[^"]+)" rel="prev"', place.text)
            assert back is not None
            assert trials_in(viewer.ask(f"http://127.0.0.1:{viewer.port}{unescape(back[1])}").text) == seen[50:100]


def test_a_trial_shows_prompt_reading_counts_and_all_its_attempts(viewer: RunningViewer) -> None:
    text = words(viewer.get("trial/trial-0-0").text)
    for part in (
        'Say "aster" or not.', "Read as Pleasant. The condition expects Pleasant.", "tokens (analysed) 100",
        "their source usage", "I think of word-0.", "HTTP 500", '{"effort": "low"}', "run r1",
    ):  # fmt: skip
        assert part in text


def test_next_and_previous_stay_within_the_filter(viewer: RunningViewer) -> None:
    text = viewer.get("trial/trial-2-0", condition="compatible", sort="-tokens").text
    assert re.search(r'trial/(trial-\d-\d)\?[^"]+" rel="prev"', text)[1] == "trial-1-0"  # type: ignore[index]
    assert re.search(r'trial/(trial-\d-\d)\?[^"]+" rel="next"', text)[1] == "trial-3-0"  # type: ignore[index]
    assert viewer.get("trial/nobody").status == 404


@pytest.mark.slow
def test_pairs_come_with_the_largest_difference_first_and_step_through_all(viewer: RunningViewer) -> None:
    listed = re.findall(r"pair\?[^\"]+\">(-?\d+)</a>", viewer.get("pairs").text)
    assert list(map(int, listed)) == sorted(DIFFERENCES, key=abs, reverse=True)
    page, seen = viewer.get("pair"), []
    while True:
        seen.append(re.search(r"([+-]\d+) tokens in incompatible", words(page.text))[1])  # type: ignore[index]
        following = re.search(r'href="([^"]+)" rel="next"', page.text)
        if following is None:
            break
        page = viewer.ask(f"http://127.0.0.1:{viewer.port}{unescape(following[1])}")
    assert list(map(int, seen)) == sorted(DIFFERENCES, key=abs, reverse=True)
    fewer = re.findall(r"pair\?[^\"]+\">(-?\d+)</a>", viewer.get("pairs", sort="fewer").text)
    assert list(map(int, fewer)) == sorted(DIFFERENCES)


@pytest.mark.slow
def test_what_was_found_downloads_as_csv_and_parquet(viewer: RunningViewer) -> None:
    rows = list(csv.DictReader(io.StringIO(viewer.get("download/trials.csv", outcome="refused").text)))
    assert [row["trial_id"] for row in rows] == ["trial-3-1"]
    frame = pl.read_parquet(io.BytesIO(viewer.get("download/trials.parquet", sort="-tokens", text="word-4").body))
    assert frame["tokens"].to_list() == [190, 100]
    assert "n_refusals" in viewer.get("download/refusal_counts.csv").text.splitlines()[0]
    assert viewer.get("download/pg_tables.csv").status == 404


def test_the_page_of_runs_looks_for_problems_when_it_is_asked(viewer: RunningViewer) -> None:
    assert "models answered that were asked" not in viewer.get("runs").text
    assert "models answered that were asked" in viewer.get("runs", problems="all").text


def test_the_page_of_runs_comes_again_by_itself_while_somebody_collects(db: Path, viewer: RunningViewer) -> None:
    assert 'http-equiv="refresh"' not in viewer.get("runs").text
    lock = FolderLock(journal_folder(db))
    try:
        assert 'http-equiv="refresh"' in viewer.get("runs").text
        assert "<h1>12 trials" in viewer.get().text
    finally:
        lock.release()


def test_a_view_shows_its_head_and_sorts(viewer: RunningViewer) -> None:
    answer = viewer.get("table/association_trials", sort="-tokens")
    assert "One answer of an association study a row" in answer.text
    assert 'aria-sort="descending"' in answer.text
    tokens = re.search(r"<tbody>\s*<tr>.*?</tr>", answer.text, re.S)
    assert tokens is not None
    assert ">190<" in tokens[0]
    assert viewer.get("table/association_trials", sort="nothing").status == 404


@pytest.mark.slow
def test_a_note_is_kept_in_the_file_and_filters(viewer: RunningViewer, notes: Path) -> None:
    notes.write_text('trial_id,label,note,page\nelsewhere,odd,"mine, kept",7\n', encoding="utf-8")
    place = f"{viewer.root}note/trial-4-1?sort=-tokens"
    answer = viewer.ask(place, {"label": "slow", "note": "=1+1\nsecond line"})
    assert (answer.status, answer.headers["Location"]) == (303, f"/{TOKEN}/trial/trial-4-1?sort=-tokens#note")
    with notes.open(encoding="utf-8", newline="") as file:
        rows = {row["trial_id"]: row for row in csv.DictReader(file)}
    assert rows["elsewhere"]["page"] == "7"
    assert (rows["trial-4-1"]["label"], rows["trial-4-1"]["note"]) == ("slow", "=1+1\nsecond line")
    assert trials_in(viewer.get(label="slow").text) == ["trial-4-1"]
    viewer.ask(place, {"label": "", "note": ""})
    assert "trial-4-1" not in notes.read_text("utf-8")


def test_a_note_is_taken_from_our_own_pages_only_and_on_trials_only(viewer: RunningViewer, notes: Path) -> None:
    before = notes.read_bytes() if notes.exists() else b""
    place = f"{viewer.root}note/trial-4-1"
    assert viewer.ask(place, {"label": "x"}, Origin="https://evil.example").status == 403
    assert viewer.ask(f"{viewer.root}note/nobody", {"label": "x"}).status == 404
    assert viewer.get("note/trial-4-1", label="x").status == 405
    assert (notes.read_bytes() if notes.exists() else b"") == before


@pytest.mark.slow
def test_answers_of_several_sources_are_counted_and_drawn_apart(tmp_path: Path) -> None:
    simulated = [{**row, "source": "simulated", "run_id": "r2"} for row in a_pair(1, 3)]
    both = database(tmp_path / "a.duckdb", [*a_pair(0, 5), *simulated], [RUN])
    with running_viewer(both) as viewer:
        told, alone = words(viewer.get().text), words(viewer.get(source="simulated").text)
    assert "collected rmiat compatible 1 1" in told
    assert "simulated rmiat compatible 1 1" in told
    assert ("compatible, simulated: 1 counts" in told, "no model was asked" in told) == (True, False)
    assert "simulated answers: no model was asked." in alone


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "query", "status", "says"),
    [
        ("trials", {"date_to": "9999-12-31"}, 200, "12 trials"),
        ("trials", {"date_from": "0001-01-01"}, 200, "12 trials"),
        ("trials", {"tokens_from": "1e300"}, 400, "must be a whole number"),
        ("trials", {"after": "[" * 2000}, 400, "names a place in the list that can't be read"),
        ("trials", {"sort": "evil"}, 404, "Known: -cost_usd"),
        ("trial/<script>", {}, 404, 'There is no trial "<script>" in this database.'),
        ("game/none", {}, 404, 'There is no game "none" in this database.'),
    ],
)
def test_an_address_of_anything_is_a_page_or_a_sentence(
    place: str, query: dict[str, str], status: int, says: str, viewer: RunningViewer
) -> None:
    answer = viewer.get(urllib.parse.quote(place), **query)
    assert (answer.status, says in words(answer.text)) == (status, True), words(answer.text)


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded; charset=utf-99", "multipart/form-data"])
def test_a_form_that_is_none_is_refused_in_a_sentence(kind: str, viewer: RunningViewer) -> None:
    answer = viewer.ask(f"{viewer.root}note/trial-4-1", {"label": "x"}, Content_Type=kind)
    assert (answer.status, "can't be read as a form" in words(answer.text)) == (400, True)


def test_a_defect_of_a_page_is_a_page_and_no_traceback(
    viewer: RunningViewer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("slant.collector.view.trial_filter.TrialFilter.of", lambda query: 1 / 0)
    answer = viewer.get("trials")
    assert (answer.status, "a defect of slant's: ZeroDivisionError" in words(answer.text)) == (500, True)
    with socket.create_connection(("127.0.0.1", viewer.port), timeout=10) as client:
        client.sendall(b"\x16\x03\x01 no HTTP\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.0 400")
    assert capfd.readouterr().err == ""


def test_a_game_is_read_round_by_round_with_its_table_as_it_grows(tmp_path: Path) -> None:
    rows = [*games("m", "main", [[[1, 2], [0, 0], [1, 0], [0, 0]]]), *questions("m", "main", [[1, 2]])]
    with running_viewer(database(tmp_path / "a.duckdb", rows)) as viewer:
        [game] = dict.fromkeys(re.findall(r"/game/([^\"?]+)", viewer.get("games").text))
        text = viewer.get(f"game/{game}").text
        trial = re.findall(r"/trial/([^\"?]+)", text)[0]
        assert "the whole game" in words(viewer.get(f"trial/{trial}").text)
    assert "condition Tufa Aima Reku Weki class_0 1 0 1 0 class_1 2 0 0 0" in words(text)
    cells = [re.findall(r"<td class=\"number\">(.*?)</td>", row)[:4] for row in re.findall(r"#round-.*", text)]
    assert cells[:3] == [[f"<strong>{n}</strong>", "0", "0", "0"] for n in (1, 1, 2)]
    assert words(text).count("answered : Tufa, success") == 3


@pytest.mark.slow
def test_games_are_filtered_and_stepped_through_within_the_filter(tmp_path: Path) -> None:
    rows = [row for model in ("a", "b") for row in games(model, "main", [[[1, 2]], [[2, 1]]])]
    with running_viewer(database(tmp_path / "a.duckdb", rows)) as viewer:
        every = re.findall(r"/game/([^\"?]+)", viewer.get("games").text)
        listed = re.findall(r"/game/([^\"?]+)", viewer.get("games", model="b").text)
        first, second = (viewer.get(f"game/{game}", model="b").text for game in listed)
    assert (len(every), every[2:]) == (4, listed)
    assert f"/game/{listed[1]}?model=b" in first
    assert ('rel="prev"' in first, 'rel="next"' in second) == (False, False)


@pytest.mark.slow
def test_a_conversation_that_is_no_game_is_read_turn_by_turn_under_its_own_name(tmp_path: Path) -> None:
    study = str(write_new_study("mine", "decision", tmp_path / "mine")[0])
    collect(tmp_path / "a.duckdb", study, [SIMULATED])
    with running_viewer(tmp_path / "a.duckdb") as viewer:
        listed = viewer.get("games").text
        [first, *_] = re.findall(r"/game/(\w+)", listed)
        text = viewer.get(f"game/{first}").text
        walked = [first]
        for _ in range(5):
            walked += re.findall(r'/game/(\w+)" rel="next"', viewer.get(f"game/{walked[-1]}").text)
    assert "<h1>Conversations</h1>" in listed
    assert walked == list(dict.fromkeys(re.findall(r"/game/(\w+)", listed)))[:6]
    assert "Turn by turn" in words(text)
    assert re.search(r"(\w+) answered \w+ for \w+, \w+ for \1 ", words(text))  # the choice is who got the second word
    answers = re.findall(r"<pre[^>]*>(.*?)</pre>", text, re.DOTALL)
    assert len(answers) == len(set(answers))  # the answer that goes along with the next question is shown once
    assert [word for word in ("Game", "game", "Round", "Choices") if word in words(text).split()] == []


@pytest.mark.slow
def test_what_came_meanwhile_is_there_at_the_next_look(tmp_path: Path) -> None:
    db = database(tmp_path / "a.duckdb", a_pair(1, 1), [RUN])
    with running_viewer(db) as viewer:
        assert "<h1>2 trials" in viewer.get().text
        before = viewer.get("runs").text
        assert viewer.get("runs").text == before
        with writing(db) as connection:
            insert(
                connection,
                [{**row, "trial_id": f"new-{n}", "attempt_id": f"new-{n}"} for n, row in enumerate(a_pair(2, 1))],
            )
        assert "<h1>4 trials" in viewer.get().text
        assert "<h1>2 trials" in viewer.get(text="word-2").text
        assert viewer.get("runs").text != before


@pytest.mark.slow
def test_a_bundle_holds_the_chosen_trials_and_leads_to_them_alone(db: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    n = write_bundle(db, folder, "item IN ('word-1', 'word-4')")
    texts = {path.name: path.read_text("utf-8") for path in folder.glob("*.html")}
    assert n == 4
    assert not any("word-2" in text for text in texts.values())
    assert not any(TOKEN in text or "<form" in text or "http://" in text for text in texts.values())
    links = {link for text in texts.values() for link in re.findall(r'href="([^"#]+)', text)}
    assert links <= {path.name for path in folder.iterdir()}
    assert sum(name.startswith("pair-") for name in texts) == 2
    assert pl.read_parquet(folder / "trials.parquet").height == 4
    with pytest.raises(UsageError, match="not empty"):
        write_bundle(db, folder, "true")
    with pytest.raises(UsageError, match="leaves 0"):
        write_bundle(db, tmp_path / "none", "false")


@pytest.mark.slow
def test_a_bundle_has_a_page_of_a_whole_text_only_where_the_trial_shows_less(tmp_path: Path) -> None:
    rows = [{"trial_id": f"t{n}", "reasoning_text": text} for n, text in enumerate(("So.", "So. " * 9_000))]
    write_bundle(database(tmp_path / "a.duckdb", rows), tmp_path / "bundle", "true")
    pages = [page.read_text("utf-8") for page in (tmp_path / "bundle").glob("trial-*.html")]
    assert sorted(page.count("So.") for page in pages) == [1, 5_000, 9_000]


@pytest.mark.slow
def test_a_bundle_leads_to_no_kind_of_page_that_only_other_runs_have(tmp_path: Path) -> None:
    rows = [{**row, "run_id": "r2"} for row in games("m", "main", [[[1, 2]]])]
    runs = [{**RUN, "design": "association"}, {**RUN, "run_id": "r2", "study": "hiring", "design": "allocation"}]
    db = database(tmp_path / "a.duckdb", [*a_pair(1, 5), *rows], runs)
    for study, kinds in (("rmiat", {"Trials", "Pairs"}), ("hiring", {"Trials", "Games"})):
        write_bundle(db, tmp_path / study, f"study = '{study}'")
        page = (tmp_path / study / "index.html").read_text("utf-8")
        assert {kind for kind in ("Trials", "Pairs", "Games") if f">{kind}</a></li>" in page} == kinds


@pytest.mark.slow
def test_a_trial_that_was_asked_again_has_its_later_answers_beside_the_first(tmp_path: Path) -> None:
    first, other = a_pair(1, 30)
    again = {**first, "trial_id": "later", "occasion": 2, "first_trial_id": first["trial_id"], "tokens": 777}
    db = database(tmp_path / "a.duckdb", [first, other, again], [RUN])
    with running_viewer(db) as viewer:
        page, later, alone = (
            viewer.get(f"trial/{name}").text for name in (first["trial_id"], "later", other["trial_id"])
        )
        assert "/trial/later" not in viewer.get().text
    assert "777" in words(page)
    assert "/trial/later" in page
    assert f"/trial/{first['trial_id']}" in later
    assert "On other days" not in alone
