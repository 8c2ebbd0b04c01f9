"""`collect --study interference` and `hiring` from the shell, as a new user types them."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import duckdb
import pytest
from click.testing import Result

from tests.support.commands import run_collect


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    db = tmp_path_factory.mktemp("asked") / "t.duckdb"
    return db, run_collect("--study", "interference", "--simulated", "--db", str(db), "--format", "csv")


@pytest.mark.slow
def test_all_three_models_are_asked_all_960_trials(asked: tuple[Path, Result]) -> None:
    db, result = asked
    rows = [line.split(",")[:4] for line in result.stdout.splitlines()]
    names = ["claude-sonnet-4", "gemini-2.5-pro", "gpt-5"]
    assert rows == [["model", "planned", "already_done", "asked"], *([name, "320", "0", "320"] for name in names)]
    with duckdb.connect(str(db), read_only=True) as connection:
        counts = (
            "SELECT count(*), count(DISTINCT trial_id), count(DISTINCT item), count(tokens) FROM forced_choice_trials"
        )
        assert connection.execute(counts).fetchall() == [(960, 960, 160, 960)]


def test_it_says_that_the_words_are_a_stand_in_and_that_every_valid_answer_is_coded(
    asked: tuple[Path, Result],
) -> None:
    assert "The words and the prompt of the paper are unpublished." in asked[1].stderr
    with duckdb.connect(str(asked[0]), read_only=True) as connection:
        [(valid,)] = connection.execute("SELECT count(*) FROM trials WHERE outcome = 'answered'").fetchall()
    said = f"Coverage: {valid} of {valid} valid answers can be coded as consistent or not (100 %)."
    assert said in asked[1].stderr
    assert "Next: analyze --fit brms" in asked[1].stderr


@pytest.mark.slow
def test_the_same_command_asks_nothing_and_enforced_output_asks_all_anew(asked: tuple[Path, Result]) -> None:
    db = str(asked[0])
    again = run_collect("--study", "interference", "--simulated", "--db", db)
    assert "Nothing to ask: all 960 trials have their answers" in again.stderr
    other = run_collect(
        "--study", "interference", "--simulated", "--db", db, "--structured-output", "--dry-run", "--format", "csv"
    )
    assert [line.split(",")[3:6] for line in other.stdout.splitlines()[1:]] == 3 * [["320", "0", "320"]]
    assert "malformed ones can't come" in other.stderr


@pytest.mark.slow
def test_a_pilot_has_both_blocks_of_both_domains(tmp_path: Path) -> None:
    db = tmp_path / "pilot.duckdb"
    result = run_collect("--study", "interference", "--model", "simulated/gpt-5", "--pilot", "40", "--db", str(db))
    assert "To collect the rest: the same command with --yes." in result.stderr
    with duckdb.connect(str(db), read_only=True) as connection:
        cells = "SELECT test, condition, count(*) FROM forced_choice_trials GROUP BY ALL"
        assert {count for _, _, count in connection.execute(cells).fetchall()} == {10}


def test_the_dry_run_shows_the_prompt_and_what_it_would_cost(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 12)
    words = ["--study", "interference", "--model", "claude-sonnet-4", "--repetitions", "5", "--dry-run"]
    result = run_collect(*words, "--db", str(tmp_path / "none.duckdb"), "--format", "csv")
    assert [row["planned"] for row in csv.DictReader(io.StringIO(result.stdout))] == ["1600"]
    assert 'Answer with JSON only, {"answer": "A"} or {"answer": "B"}.' in result.stderr
    assert "tokens: the study's own table for simulations" in result.stderr


def test_the_study_is_shown_with_the_provenance_of_its_words() -> None:
    words = run_collect("studies", "interference", "--show", "words", "--format", "csv").stdout.splitlines()
    assert words[0] == "test,group,words,published_same_iat,published_other_iat,our_extension"
    assert words[1] == "gender_career,Male,20,10,10,0"
    assert len(words) == 9
    stimuli = run_collect("studies", "interference", "--show", "stimuli", "--format", "csv").stdout.splitlines()
    assert len(stimuli) == 161
    assert stimuli[1].startswith("gender_career,Male,John,GC_M01,target,true,published_same_iat,")
    assert "The prompt is ours." in run_collect("studies", "interference").stderr


def test_the_words_of_a_study_without_provenance_are_counted_all_the_same() -> None:
    words = run_collect("studies", "rmiat", "--show", "words", "--format", "csv").stdout.splitlines()
    assert words[:2] == ["test,group,words", "flowers_insects,Flowers,25"]


@pytest.mark.slow
def test_thirty_games_of_a_participant_end_with_what_to_type_next(tmp_path: Path) -> None:
    db = str(tmp_path / "h.duckdb")
    arguments = ["--study", "hiring", "--model", "simulated/thompson", "--db", db, "--format", "csv"]
    asked = run_collect(*arguments)
    assert asked.exit_code == 0, asked.output
    assert asked.stdout.splitlines()[1].startswith("thompson,1200,0,1200,1200,")
    assert f"Next: analyze tables --study hiring --db {db}" in asked.stderr
    assert "Coverage" not in asked.stderr  # there are no two options of which one would be the consistent one


def test_rows_that_say_of_no_game_which_it_is_are_refused_and_the_sentence_says_what_lacks(tmp_path: Path) -> None:
    file = tmp_path / "rounds.csv"
    file.write_text("model,test,condition,item,group,wording,answer\ngpt-4o,rounds,a,b,c,1,d\n", "utf-8")
    db = tmp_path / "h.duckdb"
    refused = run_collect("import", "--study", "hiring", "--db", db, file)
    assert refused.exit_code == 2, refused.output
    assert "it lacks the columns game, round" in refused.output
    assert not db.exists()
