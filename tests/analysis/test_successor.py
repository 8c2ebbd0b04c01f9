"""Does it carry over, and has it moved? Two models' answers to the same prompts, and one's over many occasions."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest

from slant import analysis
from slant.analysis.questions.occasions import _gaps
from slant.analysis.questions.successor import successors_in, summary_sentence
from slant.collector.commands.same_again import _has_answers
from slant.collector.cost.estimate import bounds_of, deciding_trials
from slant.collector.errors import DatabaseError, StudyError, UnknownNameError, UsageError
from slant.collector.studies.catalogue import load_study
from slant.collector.study.tables import read_smallest_effect
from slant.collector.study.toml_table import Table
from tests.support.commands import run_analyze, run_collect
from tests.support.fitted import RUN, trials
from tests.support.given import Row, database

AGAIN = 30


def both_models() -> Iterator[Row]:
    """Two models with the prompts of one plan; deepseek-r1 takes 100 tokens more, and has one prompt of its own."""
    for number, row in enumerate(trials()):
        same = number % 80
        more = 100 if row["model"] == "deepseek-r1" else 0
        own = {"item": "rose"} if more and same == 7 else {}
        yield {**row, **own, "trial_id": f"f{number}", "prompt_hash": f"h{same}{own}", "tokens": row["tokens"] + more}


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return database(tmp_path_factory.mktemp("successor") / "a.duckdb", both_models(), [RUN])


def test_each_mean_and_effect_of_two_models_has_a_verdict_and_prompts_of_one_are_named(db: Path) -> None:
    found = analysis.successor("o3-mini", "deepseek-r1", db, bound=["tokens=60", "rate=0.2"])
    rows = {(row["measure"], row["term"]): row for row in found.table.to_dicts()}
    assert set(rows) == {("tokens", "mean"), ("tokens", "condition: incompatible"), ("refused", "mean")}
    shifted, effect = rows["tokens", "mean"], rows["tokens", "condition: incompatible"]
    assert shifted["verdict_holm"] == "differs by more than the bound"
    assert shifted["difference"] == pytest.approx(100, abs=20)
    assert effect["verdict"] == "equivalent within the bound"
    assert effect["new"] - effect["old"] == pytest.approx(effect["difference"])
    assert found.unpaired.select("side", "item").rows() == [("old", "ant"), ("new", "rose")]
    assert found.n_prompts == 79
    assert "1 different" in found.summary
    assert "Linking effects to the old unit is defensible for 0 of 1 measure" in found.paragraph
    assert found.paragraph.startswith("We compared deepseek-r1 as successor of o3-mini on 79 prompts")
    untested = summary_sentence(found.table.with_columns(conf_low=None, verdict_holm=pl.lit("not decided")))
    assert untested.endswith("3 not decided; 3 could not be tested (standard errors are 0 or unknown).")


def test_the_shell_takes_files_and_their_models_and_draws_old_against_new(db: Path, tmp_path: Path) -> None:
    figure = tmp_path / "s.svg"
    words = ["successor", f"{db}:o3-mini", f"{db}:deepseek-r1", "--format", "json", "--figure", str(figure)]
    result = run_analyze(*words)
    assert result.exit_code == 0, result.stderr
    assert [row["verdict"] for row in json.loads(result.stdout)] == [None] * 3
    assert "No verdict, because the study names no smallest effect" in result.stderr
    assert "Old against new, of 3 means and effects" in figure.read_text("utf-8")


def test_what_can_t_be_compared_ends_in_a_sentence(db: Path, tmp_path: Path) -> None:
    others = ({**row, "prompt_hash": f"other{number}"} for number, row in enumerate(trials()))
    other = database(tmp_path / "b.duckdb", others, [RUN])
    for old, new, more, error, said in (
        ("o3-mini", "gpt-9", {}, UnknownNameError, "gpt-9"),
        ("o3-mini", "none.duckdb", {}, DatabaseError, "There is no file"),
        (str(db), str(db), {}, UsageError, "which model follows which"),
        (f"{db}:o3-mini", f"{other}:o3-mini", {}, DatabaseError, "No prompt"),
        ("o3-mini", "deepseek-r1", {"bound": ["rate=much"]}, UsageError, "no bound"),
        ("o3-mini", "deepseek-r1", {"study": "hiring"}, UsageError, "can't be paired by prompt"),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            analysis.successor(old, new, db, **more)  # type: ignore[arg-type]


def test_bounds_are_typed_or_half_the_smallest_effect_that_the_study_names() -> None:
    assert read_smallest_effect(Table({"smallest_effect": 0.4}, "a.toml")) == {"": 0.4}
    for wrong in ({"rating": 0}, {"rating": "much"}, {"rating": True}, -1):
        with pytest.raises(StudyError, match="smallest_effect"):
            read_smallest_effect(Table({"smallest_effect": wrong}, "a.toml"))
    study = load_study("rmiat")
    assert bounds_of(study) == {}
    assert bounds_of(study, ["20", "rate=0.1"]) == {"": 20.0, "rate": 0.1}


def test_the_prompts_that_decide_follow_from_the_variance_of_the_old_answers(db: Path) -> None:
    study = load_study("rmiat")
    few, many = (deciding_trials(db, study, "o3-mini", {"tokens": bound}) for bound in (80, 40))
    assert many == pytest.approx(4 * few, abs=4)
    with pytest.raises(UsageError, match="no answers of gpt-9"):
        deciding_trials(db, study, "gpt-9", {"": 1.0})
    with pytest.raises(UsageError, match="names no smallest effect"):
        deciding_trials(db, study, "o3-mini", {})


def watched(last_shift: float) -> Iterator[Row]:
    """Sixty prompts on six occasions; on the last two their answers are longer by `last_shift`."""
    draw = random.Random(3)
    firsts = [{**row, "trial_id": f"f{number}"} for number, row in enumerate(trials()) if row["model"] == "o3-mini"]
    for occasion in range(1, 7):
        for number, row in enumerate(firsts[:60]):
            tokens = 200 + draw.gauss(0, AGAIN) + (last_shift if occasion > 4 else 0)
            again = {"occasion": occasion, "first_trial_id": row["trial_id"]} if occasion > 1 else {}
            own = {"trial_id": f"o{occasion}-{number}"} if occasion > 1 else {}
            said = {"answer": "Pleasant", "tokens": round(tokens), "done_at": f"2026-0{occasion}-01"}
            yield {**row, **said, **again, **own}


def test_a_shift_ends_with_exit_code_4_a_page_and_the_command_of_the_user(tmp_path: Path) -> None:
    calm = database(tmp_path / "a.duckdb", watched(0), [RUN])
    result = run_analyze("watch", "--db", calm, "--study", "rmiat")
    said = "No alarm in 2 series up to occasion 6. Shifts of means are not excluded up to: tokens 2"
    assert (result.exit_code, said in result.stderr) == (0, True), result.output
    db, page, got = database(tmp_path / "b.duckdb", watched(2 * AGAIN), [RUN]), tmp_path / "w.html", tmp_path / "got"
    words = ["watch", "--db", str(db), "--study", "rmiat", "--format", "json", "--page", str(page)]
    result = run_analyze(*words, "--on-alarm", f"tee {got}")
    assert result.exit_code == 4, result.stderr
    moved = json.loads(got.read_text("utf-8"))
    assert {(row["measure"], row["since"]) for row in moved} == {("tokens", 5)}
    lost = run_analyze(*words, "--on-alarm", "no-such-command")
    assert (lost.exit_code, "Can't run the command of --on-alarm" in lost.stderr) == (4, True)
    assert "Alarm: o3-mini" in page.read_text("utf-8")


@pytest.mark.slow
def test_the_report_shows_what_moved_and_models_of_one_name(tmp_path: Path) -> None:
    names = {"o3-mini": "gpt-4o-2024-05-13", "deepseek-r1": "gpt-4o-2024-08-06"}
    of_two = [{**row, "provider": "openai", "requested_model": names[row["model"]]} for row in both_models()]
    page = analysis.report(database(tmp_path / "b.duckdb", of_two, [RUN]), "rmiat", tmp_path / "b.html")
    assert "deepseek-r1 as successor of o3-mini: 3 means and effects compared" in page.read_text("utf-8")
    moved = database(tmp_path / "a.duckdb", watched(2 * AGAIN), [RUN])
    text = analysis.report(moved, "rmiat", tmp_path / "a.html").read_text("utf-8")
    assert "Alarm: o3-mini" in text
    assert "Shifts over 5 later occasions" in text
    assert "as successor of" not in text


def test_successors_are_later_snapshots_and_those_that_providers_name() -> None:
    served = pl.DataFrame({
        "source": "collected", "model": ["new", "old", "haiku", "opus"], "first_done_at": [1, 2, 3, 4],
        "provider": ["openai", "openai", "anthropic", "anthropic"],
        "requested_model": ["gpt-4o-2024-08-06", "gpt-4o-2024-05-13", "claude-opus-4-8", "claude-opus-4-20250514"],
    })  # fmt: skip
    assert successors_in(served) == [("collected", "old", "new"), ("collected", "opus", "haiku")]


def test_missing_months_and_another_model_are_named() -> None:
    days = ["2026-01-01", "2026-02-01", "2026-03-01", "2026-06-01"]
    dates = pl.Series(days).str.to_datetime()
    occasions = pl.DataFrame({
        "model": "m", "study_version": "v1", "occasion": [2, 3, 4], "first_asked_from": [dates[0]] * 3,
        "asked_from": dates[1:], "first_served_models": "m-1", "served_models": ["m-1", "m-1", "m-2"],
    })  # fmt: skip
    asked = [*dates[:2], dates[3] + timedelta(days=60)]  # another model was asked on
    trials = pl.DataFrame({"model": "m", "occasion": [1, 2, 3], "requested_model": ["a", "a", "b"], "done_at": asked})
    assert list(_gaps(occasions, trials)) == [
        "m: from occasion 3 on it was asked for as b, before it as a.",
        "m: nothing was asked for 92 days from 01 March 2026 (2 missing, one in 31 days).",
        "m: nothing was asked for 60 days from 01 June 2026 (1 missing, one in 31 days).",
        "m: from occasion 4 on m-2 answered, before it m-1.",
    ]


def test_a_watch_prints_what_asks_and_asks_nothing_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run_collect("watch", "rmiat", "--every", "month", "--model", "openai/gpt-4o")
    cron, systemd = result.stdout.splitlines()
    assert cron.startswith(f"0 9 1 * * cd {tmp_path} && ")
    assert "watch rmiat --trials 200 --db slant.duckdb --model openai/gpt-4o --yes && " in cron
    assert "--on-calendar=*-*-01 09:00" in systemd
    assert list(tmp_path.iterdir()) == []
    assert run_collect("watch", "hiring").exit_code == 2


def test_a_changed_study_and_a_new_model_get_a_reference_of_their_own(db: Path) -> None:
    study = load_study("rmiat")
    for changed, more, is_known in (
        (replace(study, version="v1"), (), True),
        (replace(study, version="v1"), ("--model", "o3-mini", "--yes"), True),
        (replace(study, version="v1"), ("--model=openai/gpt-9",), False),
        (replace(study, version="v2"), (), False),
    ):
        assert _has_answers(db, changed, more) == is_known


@pytest.mark.slow
def test_a_watch_asks_a_reference_then_the_same_prompts_and_a_successor_no_more_than_it_says(tmp_path: Path) -> None:
    db = str(tmp_path / "a.duckdb")
    more = ["--db", db, "--trials", "40", "--simulated"]
    for words in (["watch", "callbacks", "--model", "gpt-6-luna"],) * 2 + (
        ["successor", "callbacks", "--from", "gpt-6-luna", "--to", "claude-sonnet-5-5"],
    ):
        result = run_collect(*words, *more)
        assert result.exit_code == 0, result.output
    frame = analysis.open_trials(db, "callbacks", "all_trials")
    counts = frame.group_by("model", "occasion").len().sort("model", "occasion").rows()
    assert [count[:2] for count in counts] == [("claude-sonnet-5-5", 1), ("gpt-6-luna", 1), ("gpt-6-luna", 2)]
    assert len({count[2] for count in counts}) == 1
    assert counts[0][2] <= 40


@pytest.mark.slow
def test_choices_among_profiles_are_compared_and_watched_by_level(tmp_path: Path) -> None:
    db, folder = str(tmp_path / "a.duckdb"), str(tmp_path / "flats")
    new = ["studies", "new", "flats", "--design", "factorial", "--start", "conjoint", "--folder", folder]
    asks = ["--study", f"{folder}/study.toml", "--db", db, "--simulated", "--yes"]
    for words in (new, asks, [*asks, "--again", "40"]):
        result = run_collect(*words)
        assert result.exit_code == 0, result.output
    levels = 8
    series = analysis.watch(db).table.filter(measure="chosen", model="gpt-6-luna")
    assert series.height == series.filter(pl.col("term") != "mean").height == levels
    found = analysis.successor("gpt-6-luna", "claude-sonnet-5-5", db).table.filter(measure="chosen")
    assert set(found["term"]) == set(series["term"])
    first = analysis.open_trials(db, "flats", "factorial_profiles")
    assert first["trial_id"].n_unique() == 200  # a table shows no later occasion unless it is told to
