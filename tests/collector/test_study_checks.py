"""`collect studies validate`: what of a study's fits can't be, and what may not be meant. [sensitivity.*] of a study
file: read strictly, and no part of what is asked."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from slant.collector.designs import design_named
from slant.collector.errors import StudyError, UnknownNameError
from slant.collector.plan.conversations import plan
from slant.collector.studies.catalogue import list_studies, load_study
from slant.collector.studies.fit_checks import _FUNCTIONS, PRIORS, _in_formula, _wrong_prior, formula_mistake
from slant.collector.studies.new_study import write_new_study
from slant.collector.system.shipped_files import studies_dir
from tests.support.commands import run_collect
from tests.support.each_row import each_row
from tests.support.tiny_study import write_tiny

FIT = 'view = "association_trials"\nformula = "tokens ~ (1 | wording)"'
BAYES = f'{FIT}\nengine = "brms"'


def checked(file: Path) -> tuple[int, str]:
    done = run_collect("studies", "validate", file)
    return done.exit_code, done.output


@each_row("name", list_studies())
def test_the_studies_that_ship_pass(name: str) -> None:
    code, said = checked(load_study(name).path)
    assert (code, said.partition(":")[0]) == (0, "ok")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fit", "said"),
    [
        (
            'view = "asociation_trials"\nformula = "tokens ~ 1"',
            'no view "asociation_trials" of this design. Did you mean',
        ),
        ('view = "forced_choice_trials"\nformula = "tokens ~ 1"', 'no view "forced_choice_trials" of this design'),
        ('view = "association_trials"\nformula = "token ~ condition"', 'no column "token". Did you mean "tokens"?'),
        ('view = "association_trials"\nformula = "log(tokens) ~ condition + (1 | words)"', 'no column "words"'),
        (f"{FIT}\ndrop_flags = ['is_refused']", 'no column "is_refused". Did you mean "is_refusal"?'),
        (
            f"{FIT}\nlevels = {{ condition = ['usual', 'incompatible'] }}",
            'the study has no "usual". There are: compatible',
        ),
        (f"{FIT}\nlevels = {{ condition = ['usual', 'incompatible'] }}", "compatible of the study is not among them"),
        (f"{FIT}\nlevels = {{ wording = [1, 2] }}", 'levels of wording: the study has no "2"'),
        (f'{BAYES}\nsettings = {{ priors = {{ b = "norml(0, 1)" }} }}', 'Did you mean "normal"?'),
        (f'{BAYES}\nsettings = {{ priors = {{ sd = "normal(0, -1)" }} }}', "its scale must be above 0"),
        (f'{FIT}\nengine = "lm4"', 'no engine for study.toml, [fits.lme4] "lm4". Did you mean "lme4"?'),
        ('view = "association_trials"\nformula = "tokens ~ 1"', "lme4 needs a random effect, as in (1 | item)"),
        ('view = "association_trials"\nformula = "tokens ~ 1"', "the engines are lm (an outcome that is a number)"),
        (f'{FIT}\nengine = "logistic"', "logistic takes no random effect, and the formula has one"),
        (
            'view = "association_trials"\nengine = "lm"\nformula = "tokens ~ condition * wording"',
            'condition is text and needs its levels, the reference first: levels = { condition = ["compatible", "inc',
        ),
        (f'{BAYES}\nsettings = {{ priors = {{ slope = "normal(0, 1)" }} }}', 'no prior of "slope"'),
    ],
)
def test_a_fit_that_can_t_be_made_is_told_before_anything_is_asked(tmp_path: Path, fit: str, said: str) -> None:
    old = 'view = "association_trials"\nformula = "tokens ~ (1 | wording)"'
    code, output = checked(write_tiny(tmp_path, study=(old, fit)))
    assert code == 2
    assert said in output
    assert "[fits.lme4]" in output


def test_models_in_a_formula_need_their_order(tmp_path: Path) -> None:
    write_new_study("flats", "factorial", tmp_path / "flats", start="vignette")
    file = tmp_path / "flats" / "study.toml"
    fit = '\n[fits.points]\nengine = "clm"\nview = "factorial_profiles"\nformula = "rating ~ gender + model"\n'
    file.write_text(file.read_text("utf-8") + fit, "utf-8")
    code, output = checked(file)
    assert code == 2
    assert 'model is text and needs its levels, the reference first: levels = { model = ["gpt-6-luna"' in output


def test_a_bayesian_fit_needs_no_random_effect(tmp_path: Path) -> None:
    plain = 'view = "association_trials"\nengine = "brms"\nformula = "tokens ~ condition"'
    old = 'view = "association_trials"\nformula = "tokens ~ (1 | wording)"'
    code, output = checked(write_tiny(tmp_path, study=(old, plain)))
    assert (code, "random effect" in output) == (0, False)


def test_all_that_is_wrong_is_told_at_once_also_in_specifications(tmp_path: Path) -> None:
    file = write_tiny(tmp_path, study=(FIT, FIT.replace("tokens", "tokns")))
    more = '\n[sensitivity.log]\nfit = "lme4"\ncontrast = "conditon"\nformula = "log1p(tokens) ~ (1 | wordin)"\n'
    file.write_text(file.read_text("utf-8") + more, "utf-8")
    _, output = checked(file)
    assert [name for name in ("tokns", "conditon", "wordin") if f'no column "{name}"' not in output] == []


def test_an_order_that_tells_the_condition_and_words_that_are_not_asked_are_told(tmp_path: Path) -> None:
    _, output = checked(write_tiny(tmp_path))
    assert "The order of the options tells the condition" in output
    assert "Not asked: the 2 words of the attributes" in output
    balanced = write_tiny(tmp_path, study=("[prompt]", '[prompt]\noption_order = "balanced"'))
    assert "The order of the options" not in checked(balanced)[1]


def test_the_attributes_words_are_asked_on_request_and_go_to_their_own_label(tmp_path: Path) -> None:
    study = load_study(write_tiny(tmp_path, study=("[prompt]", "ask_attributes = true\n[prompt]")))
    trials = [one.trials[0] for one in plan(study, study.models[0])]
    expected = {(t.item, t.condition): t.expected for t in trials}
    assert len(trials) == 12 == study.tests[0].planned
    assert {expected["rest", c] for c in study.data.conditions} == {"Calm"}
    assert {expected["work", c] for c in study.data.conditions} == {"Busy"}
    assert design_named("association").remarks(study)[0].startswith("The order")


def test_tests_without_numbers_are_numbered_by_their_order_and_one_frame_needs_no_name(tmp_path: Path) -> None:
    file = write_tiny(tmp_path, study=("test_no = 1, label = ", "label = "), names=("frame,test,", "test,"))
    file.write_text(file.read_text("utf-8").replace('frame = "plain"\n', ""), "utf-8")
    names = tmp_path / "names.csv"
    names.write_text(names.read_text("utf-8").replace("plain,tea", "tea"), "utf-8")
    study = load_study(file)
    assert [test.test_no for test in study.tests] == [1]
    assert {study.frame, study.models[0].frame, study.model("local/other").frame} == {"plain"}


def test_a_study_of_two_frames_says_which_one_its_models_have(tmp_path: Path) -> None:
    file = write_tiny(tmp_path)
    text = file.read_text("utf-8")
    template = text.split("[prompt.frames.plain]\n")[1].split("\n\n")[0]
    two = text.replace("[[models]]", f"[prompt.frames.other]\n{template}\n[[models]]", 1)
    file.write_text(two.replace('frame = "plain"\n', ""), "utf-8")
    with pytest.raises(StudyError, match='needs the key "frame"'):
        load_study(file)


def test_names_in_a_formula_are_told_from_functions_and_arguments() -> None:
    text = "log1p(tokens) ~ poly(position, 2, raw = TRUE) + I(wording^1e2) + (1 + condition || item:test)"
    assert _in_formula(text) == ["tokens", "position", "wording", "condition", "item", "test"]


@pytest.mark.parametrize("prior", ["normal(0, 1)", " student_t(3, -.5, 2.5e0)", "exponential(2)", "lkj(1)"])
def test_a_prior_that_r_takes_passes(prior: str) -> None:
    assert _wrong_prior(prior) == ""


def test_priors_and_functions_are_those_that_r_knows(root: Path) -> None:
    known = (root / "R" / "brms_parts.R").read_text("utf-8").split("prior_families <- function() {")[1].split("\n}")[0]
    families = re.findall(r"(\w+) = (c\([^)]*\)|TRUE)", known)
    assert {
        name: tuple(flag == "TRUE" for flag in re.findall("TRUE|FALSE", flags)) for name, flags in families
    } == PRIORS
    [functions] = re.findall(
        r"allowed_functions <- function\(\) c\((.*)\)", (root / "R" / "checked_formula.R").read_text()
    )
    assert re.findall(r'"(\w+)"', functions) == list(_FUNCTIONS)


def test_a_formula_that_r_can_not_read_is_a_mistake_of_the_study() -> None:
    unread = {
        "y ~ name +* job": '"*" follows "+"', "y ~ name job": '"job" follows "name"', "y ~": 'ends with "~"',
        "": "empty", "y ~ (1 | name": 'a ")" is missing', "y ~ name)": '")" follows "name"', "y ~ a; b": '";"',
    }  # fmt: skip
    said = {formula: formula_mistake(formula) or "" for formula in unread}
    assert not [formula for formula, mistake in unread.items() if mistake not in said[formula]], said
    read = ["log(y) ~ a * I(x^2) + (1 + a || g)", "y | trials(n) ~ s(x, k = 3) - 1", "~ `a b` %in% c", "y ~ f() + ."]
    assert [formula_mistake(formula) for formula in read] == [None] * len(read)


OWN = """
[sensitivity.own]
fit = "lme4"
contrast = "condition"
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A copy of rmiat to change."""
    shutil.copytree(studies_dir() / "rmiat", tmp_path / "rmiat")
    return Path(shutil.copy(studies_dir() / "rmiat.toml", tmp_path / "rmiat.toml"))


def with_more(study: Path, text: str) -> Path:
    study.write_text(study.read_text("utf-8") + text, "utf-8")
    return study


def test_specifications_keep_the_order_of_the_file_and_what_they_dont_name(mine: Path) -> None:
    found = load_study(with_more(mine, OWN)).sensitivity
    assert next(iter(found)) == "paper"
    own = found["own"]
    assert list(found)[-1] == "own"
    assert (own.label, own.formula, own.drop_flags, own.rotate) == ("own", None, ("is_refusal",), None)


def test_specifications_decide_neither_version_nor_ids(mine: Path) -> None:
    before = load_study(mine)
    after = load_study(with_more(mine, OWN))
    assert (before.version, after.version) == (load_study("rmiat").version,) * 2
    first, second = (next(iter(plan(study, study.model("o3-mini")))) for study in (before, after))
    assert first.conversation_id == second.conversation_id


def test_both_studies_have_those_that_the_issue_asks_for() -> None:
    asked_for = {
        "rmiat": "refusals_kept log_tokens item maximal trimmed medians without_truncated",
        "interference": "sum_coding reference priors_halved priors_doubled invalid_as_inconsistent random_slopes glmer",
    }
    for name, listed in asked_for.items():
        assert set(listed.split()) <= load_study(name).sensitivity.keys()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (OWN + 'fitt = "lme4"', 'no key "fitt"'),
        (OWN + "choices = { outcome = 3 }", '"choices" in'),
        (OWN + "missing_as = { tokens = [1] }", '"missing_as" in'),
        (OWN + 'rotate = "condition"', "can't name the contrast"),
        (OWN + 'drop_flags = ["a b"]', "can't be called"),
        (OWN + "settings = { seed = 2020-01-01 }", "what JSON can say"),
        (OWN.replace('"lme4"', '"lme5"'), 'Did you mean "lme4"'),
        (OWN.replace("contrast", "# contrast"), 'needs the key "contrast"'),
    ],
)
def test_a_wrong_key_or_value_is_one_sentence(mine: Path, text: str, sentence: str) -> None:
    with pytest.raises((StudyError, UnknownNameError), match=sentence):
        load_study(with_more(mine, text + "\n"))
