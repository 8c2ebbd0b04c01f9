"""Participants that are no models, against the indices that were computed for them elsewhere (the conventions)."""

from __future__ import annotations

import pytest

from slant.collector.designs.allocation.participants import PARTICIPANTS, Seen, chosen
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
