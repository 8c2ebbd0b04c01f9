"""The table of checks: who has which, in whose words, and what is said by a rule."""

from __future__ import annotations

import polars as pl
import pytest

from slant.analysis.questions.checks.check_calls import calls_of_trials
from slant.analysis.questions.checks.check_findings import FINDINGS, could_be_found, ruled_finding
from slant.analysis.questions.checks.check_table import Rule, _read, checks_of, mixed_model_checks, question_of
from slant.analysis.questions.checks.sentences import Context
from slant.collector.designs import design_named, design_names
from slant.collector.errors import DesignError
from slant.collector.study.records import Fit

CONTEXT = Context({"m": "Model"}, {"t": "Test"}, {"low": "Low", "high": "High"}, 0.05, 0.1, has_balanced=False)
ROWS = pl.DataFrame({"model": ["m", "m"], "test": ["t", "t"], "condition": ["low", "high"], "d": [0.25, -1.5]})


def test_each_question_has_a_rule_or_a_function_that_answers_it() -> None:
    known = {check.key: check for name in design_names() for check in checks_of(design_named(name))}
    asking = {check.check for check in (*known.values(), *mixed_model_checks()) if check.question and not check.rule}
    assert asking == set(FINDINGS)


@pytest.mark.parametrize(
    ("design", "asked"),
    [
        ("allocation", "Are rounds missing in one class of jobs more than in another?"),
        ("pairing", "Are answers missing in one wording more than in another?"),
    ],
)
def test_a_question_is_asked_in_the_words_of_the_design(design: str, asked: str) -> None:
    assert asked in [question_of(check, design_named(design)) for check in checks_of(design_named(design))]


def test_a_design_that_names_a_check_that_is_none_is_refused() -> None:
    rogue = type(design_named("pairing"))()
    rogue.analyses = type(rogue.analyses)()
    rogue.analyses.checks = {"luck": {}}
    with pytest.raises(DesignError, match='names a check "luck", and there is none'):
        checks_of(rogue)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"of_each": "prompt"}, 'of_each = "prompt"'),
        ({"of": ["answers"], "reads": "effects"}, 'reads = "effects"'),
        ({"of": ["mixed_model"], "reads": "profiles"}, 'reads = "profiles"'),
        ({"takes": ["by", "luck"]}, 'takes = "luck"'),
        ({"sentense": "In all."}, 'key = "sentense"'),
    ],
)
def test_a_row_of_the_table_that_nothing_makes_is_refused_by_name(row: dict[str, object], said: str) -> None:
    with pytest.raises(DesignError, match=f'The check "mine" has {said}, and nothing makes that'):
        _read("mine", {"holds_for": "all", **row})


def test_a_check_of_each_model_s_trials_is_made_once_a_model() -> None:
    check = _read("mine", {"of": ["mixed_model"], "holds_for": "all", "of_each": "model", "takes": ["by"]})
    grain = pl.DataFrame({"source": ["collected"], "study_version": ["1"], "variant": ["main"]})
    fit = Fit("a", "lme4", "v", "d ~ condition", None, None, (), {"condition": ("low", "high")}, (), ())
    (made,) = calls_of_trials(ROWS.join(grain, how="cross"), fit, 0.05, [check])
    assert made[1].arguments["by"] == ["source", "study_version", "variant", "model"]


def test_a_rule_says_how_many_cells_it_holds_for_and_which() -> None:
    sentences = ("{caution:cell} are large.", (), ("d: {d:spread}.",), "{in_condition}: {d:number 1}.", "Look.")
    rule = Rule("abs(d) > 1", *sentences)
    found = ruled_finding(rule, ROWS, CONTEXT)
    assert (found.standing, found.sentence) == ("caution", "1 of 2 cells are large.")
    assert found.details == ("d: −0.62 in the middle, from −1.50 to 0.25.", "Model, Test, High: −1.5.", "Look.")


def test_a_rule_that_no_row_meets_holds_and_gives_no_advice() -> None:
    found = ruled_finding(Rule("d > 9", "{caution:model} is above {bound}.", ("model",), advice="Look."), ROWS, CONTEXT)
    assert (found.standing, found.sentence, found.details) == ("not found", "none of 1 model is above 0.1.", ())


SAY_THEMSELVES = {
    "residuals", "influence", "variance_shares", "words", "same_words", "meta", "nothing", "counts", "corrections",
    "equivalence", "repetitions", "option_order", "missing_bounds", "left_out", "game_influence", "calibration",
}  # fmt: skip
"""Checks whose own sentences name the largest of what was looked at, or what is undecided, or that test nothing."""


def test_each_check_that_finds_nothing_says_what_it_could_have_found() -> None:
    known = {check.key: check for name in design_names() for check in checks_of(design_named(name))}
    known |= {check.key: check for check in mixed_model_checks()}
    silent = {key for key, one in known.items() if one.question and not (one.found_nothing or one.none_of)}
    assert {known[key].check for key in silent} == SAY_THEMSELVES
    with pytest.raises(DesignError, match='"mine" must say what it could have found'):
        _read("mine", {"holds_for": "all", "caution": "d > 1", "sentence": "Large."})


def test_of_counts_in_which_nothing_was_a_check_says_the_upper_limit() -> None:
    check = _read("mine", {"holds_for": "all", "none_of": "CASE WHEN hits = 0 THEN n END"})
    rows = pl.DataFrame({"model": ["m", "n"], "hits": [0, 0], "n": [40, 60]})
    (said,) = could_be_found(check, rows, CONTEXT)
    assert said.startswith("None of 100: if independent, a proportion of 3.0 % would have shown one")  # 1 - .05^(1/100)
    assert not list(could_be_found(check, rows.with_columns(hits=pl.Series([0, 1])), CONTEXT))


def test_each_check_says_of_which_sources_it_is_and_that_of_tokens_is_of_no_people() -> None:
    known = {check.key: check for name in design_names() for check in checks_of(design_named(name))}
    known |= {check.key: check for check in mixed_model_checks()}
    of_people = {key for key, check in known.items() if check.is_about("human")}
    assert {"missing_answers", "scale_use", "games_ended", "calibration"} <= of_people
    assert of_people.isdisjoint({"token_limits", "answer_lengths", "repetitions", "refusals", "residuals", "counts"})
    assert all(check.is_about(source) for check in known.values() for source in ("collected", "imported", "simulated"))
