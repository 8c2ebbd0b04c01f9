"""Games in which choices differ in what they bring, and the ultimatum game that ships as an example of one.
Participants that are no models, against the indices that were computed for them elsewhere (the conventions)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slant.collector import collect
from slant.collector.designs.allocation.participants import _POLICIES, PARTICIPANTS, Seen, chosen
from slant.collector.designs.allocation.parts import gains
from slant.collector.errors import SlantError, UsageError
from slant.collector.reading.labels import mentioned_labels
from slant.collector.studies.catalogue import Study, load_study, load_variants
from tests.support.hiring_games import (
    assignment_stochasticity,
    between_groups,
    load,
    matrix_of,
    mean,
    quick_matrices,
    rounds_of,
    stratification,
)
from tests.support.tiny_game import write_game

OFFERS = ("10", "20", "30", "40", "50")
EVEN = 'groups = ["Ato", "Beno"]'


def best_by_town(study: Study) -> dict[str, str | None]:
    (game,) = rounds_of(study, "random", games=1)
    return {trial.condition: trial.expected for trial, _ in game}


def test_the_example_is_a_file_that_says_what_each_offer_brings() -> None:
    variants = load_variants("ultimatum")
    assert list(variants) == ["main", "proud_south", "costly_refusal"]
    assert {study.data.groups for study in variants.values()} == {OFFERS}
    assert best_by_town(variants["main"]) == {"north": "40", "south": "40"}
    assert best_by_town(variants["proud_south"]) == {"north": "40", "south": "50"}
    assert best_by_town(variants["costly_refusal"]) == {"north": "50", "south": "50"}


@pytest.mark.parametrize("variant", ["main", "costly_refusal"])
def test_points_are_what_an_accepted_offer_leaves_and_what_a_refusal_costs(variant: str) -> None:
    study = load_study("ultimatum", variant)
    for game in rounds_of(study, "random", games=3):
        total = 0.0
        for trial, turn in game:
            assert trial.factors["points_before"] == total
            kept = 100 - int(turn.reading.choice or 0)
            gain = turn.reading.factors
            assert gain["points"] == (kept if gain["is_success"] else -study.data.loss[0])
            total += gain["points"]


def test_the_next_round_is_told_the_points_of_the_last_one_and_all_so_far() -> None:
    (game,) = rounds_of(load_study("ultimatum", "costly_refusal"), "random", games=1)
    for (_, turn), (trial, later) in pairwise(game):
        told = later.prompt.messages[-1]["content"]
        assert f"have {trial.factors['points_before']:g} so far" in told
        assert ("accepted your offer" if turn.reading.factors["is_success"] else "You lose 40 coins") in told


def test_questions_after_a_game_rank_offers_by_what_they_bring() -> None:
    (game,) = rounds_of(load_study("ultimatum", "proud_south"), "random", games=1)
    ranks = {trial.condition: trial.factors["ranks"] for trial, _ in game if trial.test == "questions"}
    assert ranks == {"north": ["40", "50", "30", "20", "10"], "south": ["50", "40", "30", "20", "10"]}


def test_participants_go_by_what_a_group_brings_and_not_by_success_alone() -> None:
    seen = Seen([10, 10], [5, 8], 0, True, 0, {}, worth=(90.0, 50.0), loss=(0.0, 0.0))
    assert {chosen("greedy", seen, n) for n in range(20)} == {0}
    assert {chosen("greedy", replace(seen, worth=(1.0, 1.0)), n) for n in range(20)} == {1}
    assert {chosen("greedy", replace(seen, loss=(90.0, 0.0)), n) for n in range(20)} == {1}
    fresh = replace(seen, tries=[10, 0], successes=[9, 0], worth=(90.0, 0.0))
    assert {chosen("ucb", fresh, n) for n in range(20)} == {1}, "what was never tried comes first"


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=6),
    st.sampled_from(sorted(PARTICIPANTS)),
)
def test_a_worth_of_one_for_everybody_changes_no_choice(seen: list[tuple[int, int]], policy: str) -> None:
    tries, successes = [max(pair) for pair in seen], [min(pair) for pair in seen]
    plain = Seen(tries, successes, None, False, 0, {})
    same = replace(plain, worth=(1.0,) * len(seen), loss=(0.0,) * len(seen))
    assert chosen(policy, plain, "a") == chosen(policy, same, "a")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_what_a_group_brings_is_its_chance_where_a_success_is_worth_one(chances: list[float]) -> None:
    assert gains(chances, [1.0] * len(chances), [0.0] * len(chances)) == chances


def test_a_variant_changes_the_table_of_success_as_a_whole(tmp_path: Path) -> None:
    table = "success = { by_group = { Ato = 0.2, Beno = 0.3 } }"
    other = "[variants.a]\nsuccess = { hidden_mapping = { match = 0.9, other = 0.1 } }\n\n[prompt]"
    file = write_game(tmp_path, ("success = 0.5", table), ("[prompt]", other))
    kinds: list[Any] = [load_study(file, name).data.success.kind for name in ("base", "a")]
    assert kinds == ["by_group", "hidden_mapping"]


@pytest.mark.slow
def test_a_participant_plays_any_game_whether_its_file_names_it_or_not(tmp_path: Path) -> None:
    file = write_game(tmp_path)
    assert "thompson" not in file.read_text("utf-8")
    report = collect(tmp_path / "a.duckdb", file, ["simulated/thompson"])
    assert report.models[0]["answered"] == report.models[0]["planned"]
    assert load_study(file).model("simulated/thompson").label == "Thompson sampling"
    assert set(PARTICIPANTS) == set(_POLICIES)
    with pytest.raises(UsageError, match='Did you mean "thompson"'):
        load_study(file).model("simulated/tompson")


def test_what_to_type_names_a_study_of_ones_own_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    file = write_game(tmp_path, ('[[models]]\nmodel = "greedy"\nprovider = "simulated"\n', ""))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SlantError, match=rf"collect --study ./{file.name} --simulated"):
        collect(tmp_path / "a.duckdb", file, ["openai/gpt-4o"])
    alone = tmp_path / "alone.toml"
    alone.write_text(file.read_text("utf-8").partition("[[models]]")[0], "utf-8")
    with pytest.raises(SlantError, match=r"collect --study ./alone.toml --model simulated/random"):
        collect(tmp_path / "a.duckdb", alone, None)
    with pytest.raises(UsageError, match="is given with its provider: simulated/thompson"):
        load_study(alone).model("thompson")
    assert load_study("ultimatum").trial_command == "collect --study ultimatum --simulated"


@pytest.mark.parametrize("group", ["Müller, jun.", "Łódź (new)", "O’Neil & Co", "O'Neil's", "東京", "10", "A-B"])
def test_a_group_of_any_name_can_be_chosen_in_any_spelling(tmp_path: Path, group: str) -> None:
    file = write_game(tmp_path, (EVEN, f'groups = ["{group}", "Beno"]'))
    study = load_study(file)
    assert {
        mentioned_labels(f"**{said}**.", study.data.groups) for said in (group, group.upper(), group.replace("’", "'"))
    } == {(group,)}
    for game in rounds_of(study, "random", games=3):
        assert all(turn.reading.outcome == "answered" for _, turn in game)


GAMES = 200
KNOWN = {  # SI, BGD, GASI of 40 rounds, 4 groups and 4 classes of 5 jobs, success .9
    "random": (0.275, 0.296, 0.294),
    "greedy": (1.49, 0.78, 0.62),
    "win_stay_lose_shift": (1.27, 0.67, 0.59),
    "thompson": (0.57, 0.45, 0.42),
    "epsilon_greedy": (1.36, 0.69, 0.60),
    "human_like": (0.84, 0.56, 0.47),
}
NEAR = 0.045  # three standard errors of SI over 200 games (its sd is .2 at most)


@pytest.mark.slow
@pytest.mark.parametrize("policy", KNOWN)
def test_a_participant_has_the_indices_that_are_known_of_it(policy: str) -> None:
    parameters = load().data.simulation.get(policy, {})
    games = list(quick_matrices(policy, 0.9, GAMES, 1, **parameters))
    si, bgd, gasi = KNOWN[policy]
    assert mean(map(stratification, games)) == pytest.approx(si, abs=NEAR)
    assert mean(map(between_groups, games)) == pytest.approx(bgd, abs=NEAR)
    assert assignment_stochasticity(games[:60]) == pytest.approx(gasi, abs=NEAR)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["greedy", "epsilon_greedy", "win_stay_lose_shift", "thompson", "ucb"])
def test_whoever_learns_stratifies_less_than_chance_where_hardly_anybody_succeeds(policy: str) -> None:
    games = list(quick_matrices(policy, 0.1, GAMES, 1))
    assert mean(map(stratification, games)) < 0.25


def test_games_with_texts_and_a_server_s_answers_come_to_the_same() -> None:
    study = load()
    games = [matrix_of(study, rounds) for rounds in rounds_of(study, "greedy", games=30)]
    assert all(sum(map(sum, game)) == 40 for game in games)
    assert mean(map(stratification, games)) == pytest.approx(1.49, abs=0.15)


@pytest.mark.parametrize("policy", PARTICIPANTS)
def test_a_choice_depends_on_what_was_seen_and_on_its_name_only(policy: str) -> None:
    seen = Seen([3, 0, 1, 2], [2, 0, 1, 0], 1, has_succeeded=False, class_no=2, parameters={})
    choices = [chosen(policy, seen, "trial", number) for number in range(50)]
    assert choices == [chosen(policy, seen, "trial", number) for number in range(50)]
    assert set(choices) <= {0, 1, 2, 3}


def test_each_strategy_does_what_its_name_says() -> None:
    won = Seen([2, 0, 0, 0], [2, 0, 0, 0], 0, has_succeeded=True, class_no=0, parameters={})
    lost = Seen([2, 0, 0, 0], [1, 0, 0, 0], 0, has_succeeded=False, class_no=0, parameters={})
    names = range(40)
    assert {chosen("win_stay_lose_shift", won, name) for name in names} == {0}
    assert {chosen("win_stay_lose_shift", lost, name) for name in names} == {1, 2, 3}
    assert {chosen("greedy", won, name) for name in names} == {0}
    assert {chosen("ucb", won, name) for name in names} == {1, 2, 3}
    assert {chosen("epsilon_greedy", won, name) for name in names} > {0}
