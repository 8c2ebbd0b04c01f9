"""`analyze check` of forced choices and games: a bias that is put in is seen, one that is not is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from slant.analysis.pages.check_page import as_json, write_page
from slant.analysis.questions.checks.check_findings import Checks, findings
from slant.analysis.questions.checks.check_table import checks_of
from slant.analysis.questions.checks.sentences import Finding
from slant.analysis.questions.checks.study_checks import check
from slant.collector import collect
from tests.support.local_server import LocalServer
from tests.support.tiny_choice import write_choice
from tests.support.tiny_game import is_question, play, player, write_game

pytestmark = pytest.mark.slow

CELL = {
    "valid_logit": 12, "consistent_logit": 2.2, "a_logit": 0, "valid_item_sd": 0, "consistent_item_sd": 0,
    "refused_share": 1, "filtered_share": 0, "truncated_share": 0, "wrapped_share": 0, "mean_reasoning_tokens": 0,
}  # fmt: skip


def choices(folder: Path, congruent: dict[str, float], incongruent: dict[str, float], **more: Any) -> Checks:
    """The checks of 30 repetitions of a small forced choice whose parameters are these."""
    blocks = {"congruent": congruent, "incongruent": incongruent}
    rows = [{"model": "small", "test": "pets", "condition": block, **CELL, **its} for block, its in blocks.items()]
    folder.mkdir(exist_ok=True)
    pl.DataFrame(rows, infer_schema_length=None, strict=False).write_csv(folder / "simulation.csv")
    path = write_choice(folder, study=('pairs = "pairs.csv"', 'pairs = "pairs.csv"\nsimulation = "simulation.csv"'))
    collect(folder / "a.duckdb", str(path), ["simulated/small"], repetitions=30)
    return check(folder / "a.duckdb", **more)


def page(checks: Checks) -> dict[str, Finding]:
    ((_, found),) = findings(checks)
    return {one.check: one for one in found}


def made_by_check(checks: Checks) -> list[str]:
    return [known.check for known in checks_of(checks.study.design) if not known.kept_by]


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Checks:
    return choices(tmp_path_factory.mktemp("clean"), {"consistent_logit": 2.6}, {"consistent_logit": 1.4})


def test_a_forced_choice_without_bias_holds_in_every_check(clean: Checks) -> None:
    assert list(page(clean)) == made_by_check(clean) == list(clean.rows)
    assert {name: one.standing for name, one in page(clean).items()} == dict.fromkeys(page(clean), "not found")
    assert [said for said in clean.warnings if "Caution" in said] == []


def test_a_liking_for_the_first_option_is_seen(tmp_path: Path) -> None:
    found = page(choices(tmp_path, {"a_logit": 1.5}, {"a_logit": 1.5, "consistent_logit": 1.4}))
    assert found["first_option"].standing == "caution"
    assert "affects the choice in all 2 cells" in found["first_option"].verdict
    assert found["order_effect"].standing == "not found"


def test_an_effect_of_one_order_only_is_seen(tmp_path: Path) -> None:
    found = page(choices(tmp_path, {"a_logit": 0}, {"a_logit": 3}))
    assert found["order_effect"].standing == "caution"
    assert "The effect differs with the order of options" in " ".join(found["order_effect"].details)


def test_refusals_of_one_block_are_seen_and_bound_the_effect(tmp_path: Path) -> None:
    checks = choices(tmp_path, {"consistent_logit": 2.6}, {"consistent_logit": 1.4, "valid_logit": 0})
    found = page(checks)
    assert found["missing_answers"].standing == "caution"
    assert "Incongruent" in (said := " ".join(found["missing_answers"].details)) or "incongruent" in said
    assert found["missing_bounds"].standing == "caution"
    row = checks.rows["missing_bounds"].to_dicts()[0]
    assert row["delta_p_lowest"] < 0 < row["delta_p"] < row["delta_p_highest"]


def test_a_check_that_has_no_answer_to_read_names_itself_and_blames_no_warning(tmp_path: Path) -> None:
    nothing_valid = {"valid_logit": -40}
    checks = choices(tmp_path, nothing_valid, nothing_valid)
    said = page(checks)["separation"].verdict
    assert said == "This could not be checked (separation): no answer here can be used for it."
    assert checks.warnings == []


def test_cells_in_which_all_answers_are_alike_are_seen(tmp_path: Path) -> None:
    found = page(choices(tmp_path, {"consistent_logit": 12}, {"consistent_logit": 1.4}))
    assert found["separation"].standing == "caution"
    assert "alike in 1 of 2 cells" in found["separation"].verdict


def test_what_the_variant_null_finds_is_said_beside_the_study_as_it_stands(tmp_path: Path) -> None:
    path = write_choice(tmp_path)
    for variant in ("base", "null"):
        collect(tmp_path / "a.duckdb", str(path), ["simulated/small"], variant=variant, repetitions=6)
    checks = check(tmp_path / "a.duckdb")
    by_variant = {grain["variant"]: {one.check: one for one in found} for grain, found in findings(checks)}
    assert [variant for variant, found in by_variant.items() if "nothing" in found] == ["base"]
    null = {name: checks.rows[name].filter(variant="null") for name in ("order_effect", "missing_bounds")}
    row = checks.rows["nothing"].row(0, named=True)
    assert (row["p_engine"], row["observed"]) == (
        null["order_effect"]["p_value"].item(), null["missing_bounds"]["delta_p"].item()
    )  # fmt: skip
    said = by_variant["base"]["nothing"]
    assert f"is below 0.05 in {'1' if row['p_engine'] < 0.05 else 'none'} of 1 cell; 5 % at most" in said.verdict
    assert "of the words as they are" in said.details[0]


def test_the_page_and_the_machine_have_every_finding_and_one_figure(clean: Checks, tmp_path: Path) -> None:
    text = write_page(clean, tmp_path / "c.html").read_text("utf-8")
    assert text.count("<article") == len(page(clean))
    assert text.count('<img src="data:image/png;base64,') == 1
    assert "Choices by place" in text
    assert set(json.loads(as_json(clean))["rows"]) == set(made_by_check(clean))


def first_shown(body: dict[str, Any]) -> str:
    """The group that the last question names first."""
    text = body["messages"][-1]["content"].rpartition("Post: ")[2]
    return "Answer: " + min(("Ato", "Beno"), key=lambda name: text.find(name) % 10**6)


def games(folder: Path, answer: Any, n_games: int = 12) -> Checks:
    order = 'rounds = 6\ngroup_order = "shuffled"'
    path = write_game(folder, ("games = 3", f"games = {n_games}"), ("rounds = 6", order))
    with LocalServer(player(answer)) as server:
        play(path, server, folder / "a.duckdb")
    return check(folder / "a.duckdb")


def test_games_in_which_the_first_group_is_always_chosen_are_seen(tmp_path: Path) -> None:
    checks = games(tmp_path, first_shown)
    assert page(checks)["first_option"].standing == "caution"
    assert checks.rows["first_option"]["rate_first"].to_list() == [1.0, 1.0]
    assert list(page(checks)) == made_by_check(checks)


def test_a_model_that_always_names_one_group_has_no_liking_for_a_place(tmp_path: Path) -> None:
    found = page(games(tmp_path, lambda body: "Answer: Ato"))
    assert found["first_option"].standing == "not found"
    assert found["games_ended"].verdict == "No game of 12 was cut short."
    assert found["missing_answers"].standing == "not found"


def test_groups_that_are_always_shown_in_one_order_are_a_caution(tmp_path: Path) -> None:
    path = write_game(tmp_path)
    collect(tmp_path / "a.duckdb", str(path), ["simulated/greedy"])
    found = page(check(tmp_path / "a.duckdb"))["first_option"]
    assert (found.standing, found.verdict[:43]) == ("caution", "In each cell the options have only one orde")
    assert 'group_order = "shuffled"' in " ".join(found.details)


def test_games_that_were_cut_short_are_counted_with_their_indices(tmp_path: Path) -> None:
    def refuses_pilots(body: dict[str, Any]) -> str:
        asked = body["messages"][-1]["content"]
        return (
            "I won't." if not is_question(body) and ("Post: Pilot" in asked or "Name one" in asked) else "Answer: Ato"
        )

    checks = games(tmp_path, refuses_pilots)
    found = page(checks)
    assert found["games_ended"].standing == "caution"
    assert "ended early and are excluded from all indices" in found["games_ended"].verdict
    row = checks.rows["games_ended"].to_dicts()[0]
    assert row["n_complete"] < row["n_games"] == 12
    assert int(checks.rows["missing_answers"]["n_missing"].sum()) == row["n_games"] - row["n_complete"]


def test_answers_that_grow_along_a_game_are_seen(tmp_path: Path) -> None:
    path = write_game(tmp_path)

    def longer(body: dict[str, Any]) -> str:
        return "So it is. " * 5 * len(body["messages"]) + "Answer: Ato"

    with LocalServer(player(longer)) as server:
        play(path, server, tmp_path / "a.duckdb")
    rows = check(tmp_path / "a.duckdb").rows["answer_lengths"]
    assert rows.columns[5:] == [
        *("condition", "n", "median_length", "mean_length", "largest"),
        *("first_quarter", "last_quarter", "trend", "status", "messages"),
    ]
