"""A game file with anything wrong in it: it is played, or refused in a sentence, and never ends in a traceback."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from slant.collector.errors import UsageError
from slant.collector.plan.conversations import plan, planned_count
from slant.collector.studies.catalogue import Study, load_variants
from tests.support.hiring_games import rounds_of
from tests.support.tiny_game import GAME

MORE = """
[[ratings]]
rating = "competence"
question = "How competent is {group}, from {low} to {high}?"

[[features]]
feature = "age"
values = ["young", "old"]

[simulation.greedy]
policy = "epsilon_greedy"
epsilon = 0.2

[variants.square]
about = "one is better"
success = { latin_square = [0.9, 0.1] }
worth = { Ato = 3, Beno = 5.5 }
loss = 2

[variants.groupwise]
like = "square"
left_out = { small = "too small" }
temperature = 1.0
diversity_bonus = true
success.by_class.high = { Ato = 0.5, Beno = 0.25 }
success.by_class.low = { Ato = 0.5, Beno = 0.75 }
"""
FULL = GAME + MORE
PLAYED = "played"
VALUES = [match.span(1) for match in re.finditer(r"= *(.+)$", FULL, re.MULTILINE)]
KEYS = [match.span(1) for match in re.finditer(r"^(?:\[+)?([\w.]+)", FULL, re.MULTILINE)]
OTHER_KEYS = st.sampled_from(["groops", "success", "games", "prompt", "a.b", '""', "0"])
JUNK = st.sampled_from(
    r"""-1 | 0 | 1e308 | nan | inf | 99999999999999999999 | true | "" | "x" | "{job}{0}" | "{job.a}" | [] | [1] | ["a"]
| ["Ato", "Beno", "Ato"] | [[]] | [{}] | {} | { a = 1 } | { Ato = 1 } | 1979-05-27 | "\u0000" | { hidden_mapping = {} }
| { by_job = 3 } | { by_class = {} } | { latin_square = 1 } | { elicited_in = "square" }""".replace("\n", " ").split(
        " | "
    )
)


def played(text: str, folder: Path) -> str:
    """Reads the file, and plays the first game of each of its variants where it is one; else what is said instead."""
    file = folder / "game.toml"
    file.write_bytes(text.encode("utf-8", "replace"))
    try:
        for study in load_variants(file).values():
            _check_plan(study)
    except UsageError as refused:
        return str(refused)
    return PLAYED


def is_in_words(said: str) -> bool:
    """It was played, or a sentence tells what is wrong, and not the bare name of a key that Python looked for."""
    return said == PLAYED or bool(re.match(r"""(["'A-Z]|(\w+ in )?game\.toml).* .*[.)"]""", said, re.DOTALL))


def _check_plan(study: Study) -> None:
    if planned_count(study) > 5_000 or study.data.success.kind == "elicited":
        return  # other numbers of rounds are nothing new; rates are read from a database
    games = list(plan(study, study.model("simulated/random"), 1))
    assert sum(len(game.trials) for game in games) == planned_count(study)
    for game in rounds_of(study, "random", games=1):
        assert len(game) == len(games[0].trials)


def test_the_whole_file_is_a_game(tmp_path: Path) -> None:
    assert played(FULL, tmp_path) == PLAYED
    assert list(load_variants(tmp_path / "game.toml")) == ["base", "square", "groupwise"]


@settings(max_examples=210, deadline=None)
@given(changed=st.tuples(st.sampled_from(VALUES), JUNK) | st.tuples(st.sampled_from(KEYS), OTHER_KEYS))
def test_a_value_of_another_kind_or_a_key_of_another_name_is_refused_in_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, changed: tuple[tuple[int, int], str]
) -> None:
    (start, end), new = changed
    assert is_in_words(played(FULL[:start] + new + FULL[end:], tmp_path_factory.mktemp("game")))


@settings(max_examples=100, deadline=None)
@given(start=st.integers(0, len(FULL)), length=st.integers(0, 60), new=st.text(max_size=4))
@example(start=0, length=len(FULL), new="")
def test_a_file_with_any_damage_is_played_or_refused_in_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, start: int, length: int, new: str
) -> None:
    assert is_in_words(played(FULL[:start] + new + FULL[start + length :], tmp_path_factory.mktemp("game")))
