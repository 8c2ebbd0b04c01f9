"""`collect --study interference` and `hiring` from the shell, as a new user types them; simulated participants of the
forced choice: their parameters are known, and their answers look like real ones."""

from __future__ import annotations

import csv
import io
import math
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from click.testing import Result

from slant.collector import collect
from slant.collector.designs.forced_choice.design import DESIGN
from slant.collector.designs.forced_choice.simulated import INVALID, KEY, LIMITS, probabilities, written
from slant.collector.errors import StudyError
from slant.collector.plan.conversations import plan
from slant.collector.records import Reply, Trial
from slant.collector.studies.catalogue import Study, load_study
from slant.collector.system.shipped_files import studies_dir
from tests.support.commands import run_collect
from tests.support.tiny_choice import write_choice


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


def test_it_says_that_the_words_are_a_stand_in_and_that_every_valid_answer_is_coded(asked: tuple[Path, Result]) -> None:
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
    asked = run_collect(*arguments, code=0)
    assert asked.stdout.splitlines()[1].startswith("thompson,1200,0,1200,1200,")
    assert f"Next: analyze tables --study hiring --db {db}" in asked.stderr
    assert "Coverage" not in asked.stderr  # there are no two options of which one would be the consistent one


def test_rows_that_say_of_no_game_which_it_is_are_refused_and_the_sentence_says_what_lacks(tmp_path: Path) -> None:
    file = tmp_path / "rounds.csv"
    file.write_text("model,test,condition,item,group,wording,answer\ngpt-4o,rounds,a,b,c,1,d\n", "utf-8")
    db = tmp_path / "h.duckdb"
    refused = run_collect("import", "--study", "hiring", "--db", db, file, code=2)
    assert "it lacks the columns game, round" in refused.output
    assert not db.exists()


STUDY = load_study("interference")
GPT = STUDY.model("simulated/gpt-5")
TRIALS = [conversation.trials[0] for conversation in plan(STUDY, GPT)]


def cell_of(trial: Trial) -> dict[str, float]:
    return dict(STUDY.data.simulation[trial.model, trial.test, trial.condition])


def logit(p: float) -> float:
    return math.log(p / (1 - p))


def test_a_draw_depends_on_trial_and_seed_and_on_nothing_else() -> None:
    first = [DESIGN.simulates.simulate(STUDY, GPT, trial, 3) for trial in TRIALS]
    assert [DESIGN.simulates.simulate(STUDY, GPT, trial, 3) for trial in reversed(TRIALS)] == first[::-1]
    assert [DESIGN.simulates.simulate(STUDY, GPT, trial, 4) for trial in TRIALS] != first


def test_a_words_intercept_is_one_number_in_all_blocks_models_and_repetitions() -> None:
    by_word: dict[tuple[str, str], set[tuple[float, float]]] = {}
    for model in STUDY.models:
        for conversation in plan(STUDY, model, repetitions=2):
            trial = conversation.trials[0]
            cell = cell_of(trial)
            p = probabilities(cell, trial, 9)
            z = [
                (logit(p[0]) - cell["valid_logit"]) / cell["valid_item_sd"],
                (logit(p[1]) - cell["consistent_logit"]) / cell["consistent_item_sd"],
            ]
            by_word.setdefault((trial.test, trial.item), set()).add((round(z[0], 6), round(z[1], 6)))
    assert len(by_word) == 160
    assert {len(intercepts) for intercepts in by_word.values()} == {1}
    for number in (0, 1):  # standard normal: 160 draws
        drawn = [next(iter(intercepts))[number] for intercepts in by_word.values()]
        assert abs(sum(drawn) / 160) < 0.3
        assert 0.8 < sum(z * z for z in drawn) / 160 < 1.25


@pytest.mark.slow
def test_shares_of_valid_and_consistent_answers_are_those_of_the_parameters() -> None:
    hits, truth, n = Counter[str](), Counter[str](), 0
    for seed in range(40):
        for trial in TRIALS:
            reading = DESIGN.reads.read(STUDY, trial, through(DESIGN.simulates.simulate(STUDY, GPT, trial, seed)))
            valid, consistent = probabilities(cell_of(trial), trial, seed)
            n += 1
            truth["valid"] += valid
            truth["consistent"] += valid * consistent
            hits["valid"] += reading.outcome == "answered"
            hits["consistent"] += reading.choice == trial.expected
    for what in ("valid", "consistent"):
        p = truth[what] / n
        assert abs(hits[what] / n - p) < 4 * math.sqrt(p * (1 - p) / n)


def through(reply: Reply) -> Reply:
    """As the provider's dialect reads it: the finish reason says what came of it."""
    ended = {"length": "truncated", "content_filter": "filtered"}.get(reply.finish_reason or "")
    return replace(reply, outcome=reply.outcome or ended)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [*INVALID, "refused", "truncated", "filtered"])
def test_each_kind_of_invalid_answer_is_read_as_what_it_is(kind: str) -> None:
    for number in range(60):
        trial = TRIALS[number]
        answer = written(kind, "AB"[number % 2], trial, 1.0, number / 60)
        said = Reply(answer.text, outcome="refused" if answer.is_provider_refusal else None)
        reading = DESIGN.reads.read(STUDY, trial, through(replace(said, finish_reason=answer.finish_reason)))
        if kind in INVALID:
            assert (reading.outcome, reading.detail) == ("malformed", kind)
        else:
            assert reading.outcome == kind


def test_each_way_of_writing_a_clear_answer_is_read_as_that_letter() -> None:
    for number in range(200):
        trial, letter = TRIALS[number], "AB"[number % 2]
        answer = written(None, letter, trial, 0.0, number / 200)
        reading = DESIGN.reads.read(STUDY, trial, Reply(answer.text))
        assert reading.choice == (trial.option_a if letter == "A" else trial.option_b)
        assert reading.place == answer.letter_at


def test_log_probabilities_are_the_true_ones() -> None:
    for trial in TRIALS[:80]:
        reply = DESIGN.simulates.simulate(STUDY, GPT, trial, 1)
        letters = [dict(token.likeliest) for token in reply.logprobs if token.likeliest]
        if letters:
            p = math.exp(letters[0][str(trial.factors["consistent_letter"])])
            assert p == pytest.approx(probabilities(cell_of(trial), trial, 1)[1])


def test_a_liking_for_a_moves_both_sides_apart() -> None:
    cell = cell_of(TRIALS[0]) | {"a_logit": 0.7}
    both = [replace(TRIALS[0], factors={"consistent_letter": letter}) for letter in "AB"]
    as_a, as_b = (logit(probabilities(cell, trial, 1)[1]) for trial in both)
    assert as_a - as_b == pytest.approx(1.4)


def test_enforced_output_is_never_malformed_and_may_still_be_refused() -> None:
    enforced = replace(GPT, structured_output=True)
    kinds = Counter[str]()
    for seed in range(10):
        for trial in TRIALS:
            reply = through(DESIGN.simulates.simulate(STUDY, enforced, trial, seed))
            kinds[DESIGN.reads.read(STUDY, trial, reply).outcome] += 1
    assert kinds["malformed"] == 0
    assert kinds["refused"] > 10


def own_study(folder: Path, **changes: float) -> Study:
    """A copy of the study whose participants all have the same parameters."""
    shutil.copytree(studies_dir() / "interference", folder / "interference")
    shutil.copy(studies_dir() / "interference.toml", folder / "interference.toml")
    cell = dict.fromkeys(LIMITS, 0.0) | changes
    rows = [",".join((*KEY, *LIMITS))]
    rows += [",".join([*key, *(f"{value:g}" for value in cell.values())]) for key in STUDY.data.simulation]
    (folder / "interference" / "simulation.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return load_study(folder / "interference.toml")


@pytest.mark.slow
def test_parameters_of_ones_own_go_through_the_whole_path(tmp_path: Path) -> None:
    study = own_study(tmp_path, valid_logit=1.0, consistent_logit=-1.5, refused_share=1.0)
    assert study.version == STUDY.version
    collect(tmp_path / "t.duckdb", study, ["simulated/gpt-5"], repetitions=2, logprobs=True)
    query = (
        "SELECT avg(is_valid::INT), avg(is_consistent::INT), min(p_consistent), max(p_consistent), count(*), "
        "count(DISTINCT repetition) FROM forced_choice_trials"
    )
    with duckdb.connect(str(tmp_path / "t.duckdb"), read_only=True) as connection:
        [(valid, consistent, low, high, n, repetitions)] = connection.execute(query).fetchall()
    assert (n, repetitions) == (640, 2)
    assert valid == pytest.approx(0.731, abs=0.07)
    assert consistent == pytest.approx(0.182, abs=0.075)
    assert low == pytest.approx(high) == pytest.approx(1 / (1 + math.exp(1.5)))


@pytest.mark.parametrize(("change", "sentence"), [
    (("1", "many"), '"many" is no valid_logit to simulate'),
    (("1", "99"), r"It must be from -50 to 50"),
    (("0.9", "1.5"), '"1.5" is no refused_share .*'),
    (("0.9", "0.6"), "add up to more than 1"),
])  # fmt: skip
def test_a_wrong_parameter_is_one_clear_sentence(tmp_path: Path, change: tuple[str, str], sentence: str) -> None:
    row = dict(
        zip(LIMITS, ["1", "2", "0", "0", "0", "0.9", "0.5" if change[1] == "0.6" else "0", "0", "0", "0"], strict=True)
    )
    row = {column: change[1] if value == change[0] else value for column, value in row.items()}
    cells = ", ".join(f'{column} = "{value}"' for column, value in row.items())
    table = f'simulation = [{{ model = "small", test = "pets", condition = "congruent", {cells} }}]\n[prompt]\n[['
    with pytest.raises(StudyError) as caught:
        load_study(write_choice(tmp_path, study=("[prompt]\n[[", table)))
    assert re.search(sentence, str(caught.value))
