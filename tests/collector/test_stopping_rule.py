"""The rule by which a run ends on precision: where it looks, what it refuses, what a registration says of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from slant.collector import load_study, preregister
from slant.collector.errors import UsageError
from slant.collector.registration.canonical import document_of, parsed_registration, registered_rule, registration_of
from slant.collector.registration.document import departures
from slant.collector.stopping.looks import GOES_ON, MOST, NARROW, Look, look_sentence, looks_of_rows
from slant.collector.stopping.rule import CellWidth, StoppingRule
from tests.support.commands import run_collect
from tests.support.planned import planned
from tests.support.worded_study import TRIALS, write_worded

RULE = StoppingRule(10, 3, 8)


def look(*half_widths: float | None, repetitions: int = 3, least: float = 5) -> Look:
    cells = (CellWidth(f"test_{no}", width, width and least, "ok", 60) for no, width in enumerate(half_widths, 1))
    whom = ("drinks", "v1", "base", "collected", "small", 1)
    return Look("p", *whom, 10, 3, 8, 1, repetitions, "crossed", "tokens", tuple(cells))


def test_looks_are_spread_over_the_repetitions_and_the_last_is_after_all_of_them() -> None:
    assert RULE.looks_at == (3, 6, 8)
    assert StoppingRule(10, 5, 5).looks_at == (1, 2, 3, 4, 5)
    assert StoppingRule(10, 9, 4).looks_at == (1, 2, 3, 4)
    assert StoppingRule(10, 1, 4).looks_at == (4,)
    assert StoppingRule.of(10, None, 3) == StoppingRule(10, 3, 3)
    assert StoppingRule.of(10, None, 30) == StoppingRule(10, 5, 30)


def test_a_model_ends_when_its_widest_test_is_narrow_enough_and_never_where_one_is_unknown() -> None:
    assert look(10, 9).decision(RULE) == NARROW
    assert look(10.01, 9).decision(RULE) == GOES_ON
    assert look(1, None).decision(RULE) == GOES_ON
    assert look(1, None, repetitions=8).decision(RULE) == MOST
    assert look(12, 9, repetitions=8).decision(RULE) == MOST


def test_a_look_says_what_it_found_why_it_ended_and_what_repetitions_cannot_do() -> None:
    assert look_sentence(look(9, 8), RULE).endswith(
        "(the widest of 2 tests: test_1); 10 or less, so it is asked no more."
    )
    assert "no interval in 1 of 2 tests, for the fit failed; not yet 10, so it is asked on" in look_sentence(
        look(9, None), RULE
    )
    assert "it ends without that width" in look_sentence(look(12, repetitions=8), RULE)
    assert "Repetitions alone would end at about ±11:" in look_sentence(look(12, least=11), RULE)


def test_what_a_stranger_wrote_as_a_rule_or_a_look_is_left_out() -> None:
    sound = {"until_width": 10, "looks": 3, "most_repetitions": 8}
    assert StoppingRule.in_settings(sound) == RULE
    for wrong in ({"until_width": None}, {"until_width": "wide"}, {"looks": -1}, {"most_repetitions": 1}):
        assert StoppingRule.in_settings(sound | wrong) is None
    row = {**sound, **dict.fromkeys(("repetitions", "look_no", "looked_at", "model", "variant", "plan"))}
    assert list(looks_of_rows([row])) == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("--until-width 10", "--until-width needs --repetitions 2 or more"),
        ("--looks 3 --repetitions 4", "--looks is about --until-width"),
        ("--until-width 10 --repetitions 4 --batch", "--until-width and --batch can't be used together"),
        ("--until-width 10 --repetitions 4 --pilot 50", "--until-width and --pilot can't be used together"),
        ("--until-width 10 --repetitions 4 --shard 1/2", "--until-width and --shard can't be used together"),
        ("--until-width 10 --repetitions 4 --again 50", "--until-width and --again can't be used together"),
        ("--until-width 10 --repetitions 4 --looks 2000", "--looks must be from 1 to 1,000"),
    ],
)
def test_what_can_not_be_waited_for_is_refused_in_a_sentence(words: str, reason: str, tmp_path: Path) -> None:
    db = tmp_path / "a.duckdb"
    result = run_collect("--study", "rmiat", "--simulated", "--db", db, *words.split())
    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert reason in result.stderr


@pytest.mark.parametrize("study", ["hiring", "interference", "word_association"])
def test_a_study_without_an_effect_over_words_and_wordings_is_refused(study: str, tmp_path: Path) -> None:
    words = [
        "--study",
        study,
        "--simulated",
        "--repetitions",
        "4",
        "--until-width",
        "10",
        "--db",
        str(tmp_path / "a.duckdb"),
    ]
    result = run_collect(*words)
    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert f'--until-width can\'t be used with "{study}": it has no fit "crossed".' in result.stderr


@pytest.mark.slow
def test_without_r_it_ends_before_anybody_is_asked(python: list[str], root: Path, tmp_path: Path) -> None:
    words = [
        "--study",
        str(write_worded(tmp_path / "study")),
        "--simulated",
        "--repetitions",
        "4",
        "--until-width",
        "10",
    ]
    done = subprocess.run(
        [*python, "-m", "slant.collector", *words, "--db", str(tmp_path / "a.duckdb")],
        cwd=root,
        env={**os.environ, "PATH": "", "R_HOME": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, [path.name for path in tmp_path.iterdir()]) == (2, ["study"])
    assert "--until-width needs R, which fits the model. R is not on this machine" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_registration_has_the_rule_its_looks_and_its_words(tmp_path: Path) -> None:
    path = write_worded(tmp_path / "study")
    registration = preregister(path, ["simulated/small"], repetitions=8, until_width=10, looks=3)
    document = document_of(registration)
    assert document["looks"] == {"planned": 3, "at": [3 * TRIALS, 6 * TRIALS, 8 * TRIALS]}
    assert document["stopping_rule"] == RULE.sentences("tokens")
    assert registered_rule(document) == RULE
    assert "precision" not in document_of(preregister(path, ["simulated/small"]))
    with pytest.raises(UsageError, match="stopping rule with its own looks"):
        preregister(path, until_width=10, repetitions=8, looks_at=[5])


def test_a_registered_rule_that_cannot_hold_makes_a_file_no_registration(tmp_path: Path) -> None:
    path = write_worded(tmp_path / "study")
    document = document_of(preregister(path, ["simulated/small"], repetitions=8, until_width=10))
    for wrong in ({"until_width": -1, "looks": 3, "most_repetitions": 8}, {"until_width": 10}, []):
        data = registration_of({**document, "precision": wrong}).text.encode()
        with pytest.raises(UsageError, match="its rule of precision"):
            parsed_registration(data, "a.json")


def test_a_run_by_another_rule_is_not_as_registered(tmp_path: Path) -> None:
    study = load_study(str(write_worded(tmp_path / "study")))
    registration = preregister(study, ["simulated/small"], repetitions=8, until_width=10, looks=3)
    for rule, expected in (
        (RULE, []),
        (StoppingRule(9, 3, 8), ["is ±9, 3 looks"]),
        (None, ["is none, registered is ±10"]),
    ):
        how = {} if rule is None else {"until_width": rule.until_width, "looks": rule.looks}
        run_plan = planned(study, ["simulated/small"], tmp_path / "a.duckdb", repetitions=8, **how)
        sentences = departures(run_plan, registration)
        assert len(sentences) == len(expected)
        assert all(part in sentence for part, sentence in zip(expected, sentences, strict=True))
